"""Fetch one model, a generator's or a backbone's, as a directory that loads offline."""

from scripts.cli import add_fetching, arguments, run
from seedbed.corpora.assets import Store
from seedbed.corpora.settings import Source
from seedbed.generators.fetch import fetch


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__, "output")
    add_fetching(parser)
    args = parser.parse_args(argv)

    fetch(Source.load(args.source), Store(args.downloads, args.lock), args.output)


if __name__ == "__main__":
    run(main)

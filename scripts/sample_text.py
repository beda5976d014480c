"""Draw the sentences of a corpus that languages are told apart by."""

from scripts.cli import arguments, run
from seedbed.corpora.subset import sentences
from seedbed.io import read_blocks, write_table


def main(argv: list[str] | None = None) -> None:
    args = arguments(__doc__, "corpus", "output").parse_args(argv)
    write_table(sentences(read_blocks(args.corpus, ["id", "text"])), args.output)


if __name__ == "__main__":
    run(main)

"""Embed texts of the pivot language, which encoders of other languages are aligned with, once."""

from scripts.cli import arguments, run
from seedbed.checkpoints import own_state
from seedbed.encoders.pivot import write_vectors
from seedbed.io import read_table
from seedbed.manifests import MANIFEST


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__, "encoder", "texts", "output", "state")
    parser.add_argument("--columns", nargs="+", required=True, help="of the texts that are in the pivot language")
    args = parser.parse_args(argv)

    texts = read_table(args.texts, ["id", *args.columns])
    with own_state(args.state, args.output / MANIFEST, argv) as state:
        write_vectors(args.encoder, texts[args.columns].to_numpy().ravel(), args.output, state)


if __name__ == "__main__":
    run(main)

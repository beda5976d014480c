"""Train one backbone by masked language modelling in one language; a killed training goes on."""

import json

from scripts.cli import add_checkpoints, arguments, resumable, run
from seedbed.encoders.adaptation import adapt
from seedbed.encoders.adaptation_settings import Masked
from seedbed.encoders.lines import Lines


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__, "weights", "texts", "output")
    parser.add_argument("--sentences", required=True, type=int, help="so many of the texts at most")
    parser.add_argument("--masked", default="{}", help="JSON: seedbed.encoders.adaptation_settings.Masked")
    parser.add_argument("--about", default={}, type=json.loads, help="JSON for the manifest")
    add_checkpoints(parser)
    args = parser.parse_args(argv)

    with resumable(args, argv) as options:
        adapt(
            args.weights,
            Lines(args.texts, args.sentences),
            Masked.load(args.masked),
            about=args.about,
            **options,
        )


if __name__ == "__main__":
    run(main)

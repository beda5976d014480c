"""Train adapters of the encoders of several languages together; a killed training goes on."""

import json
from pathlib import Path

from scripts.cli import add_checkpoints, arguments, pair, resumable, run
from seedbed.encoders import objectives
from seedbed.encoders.batches import Files
from seedbed.encoders.joint import align_together
from seedbed.encoders.settings import Training


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__, "output")
    several = {"nargs": "+", "required": True, "type": pair}
    parser.add_argument("--encoders", metavar="LANGUAGE=DIR", help="of each language, without adapters", **several)
    parser.add_argument("--each", metavar="LANGUAGE=TSV", help="of each language: id and columns of texts", **several)
    parser.add_argument("--rows", type=int, help="train on so many of the texts; see corpora.subset")
    parser.add_argument("--fixed", nargs="+", default=[], metavar="LANGUAGE", help="their encoders get no adapters")
    parser.add_argument("--objective", required=True, help="JSON: {name: settings}, see encoders.objectives")
    parser.add_argument("--training", default="{}", help="JSON: seedbed.encoders.settings.Training")
    parser.add_argument("--prefix", default="", help="put before every text")
    parser.add_argument("--seed", required=True, type=int)
    parser.add_argument("--about", default={}, type=json.loads, help="JSON for the manifest")
    add_checkpoints(parser)
    args = parser.parse_args(argv)

    with resumable(args, argv) as options:
        align_together(
            {code: Path(folder) for code, folder in args.encoders},
            Files({code: Path(file) for code, file in args.each}, args.rows),
            Training.load(args.training),
            objective=objectives.parsed(args.objective),
            fixed=args.fixed,
            prefix=args.prefix,
            seed=args.seed,
            about=args.about,
            **options,
        )


if __name__ == "__main__":
    run(main)

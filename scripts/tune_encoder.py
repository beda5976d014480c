"""Fine-tune one encoder on one training set, and answer every test set that shares it; the answers are what is kept."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from scripts.cli import run, tuning, tuning_parser
from seedbed.classifiers import learners
from seedbed.classifiers.manifest import write_answers
from seedbed.corpora.settings import COLUMNS
from seedbed.io import read_table


def main(argv: list[str] | None = None) -> None:
    texts = {"train": "TSV of this kind", "tests": "each such a TSV"}
    parser = tuning_parser(__doc__, base="the encoder", **texts)
    parser.add_argument("--kind", required=True, choices=list(learners.FILES), help="of all sets")
    parser.add_argument("--learning", default="{}", help="JSON: FineTuning or Reading of encoders.tuning_settings")
    args = parser.parse_args(argv)

    learner = learners.load(args.kind)
    rows, tests = read(learner.require_learnable, args.kind, args.train), {}
    for name, file in args.tests:  # all of them: a fault of the last costs the training
        tests[name] = read(learner.require, args.kind, Path(file))
    with tuning(args, argv) as options:
        learnt = learner.train(args.base, rows, learner.SETTINGS.load(args.learning), **options)
        write_answers(args.output, args.about, learnt, tests)


def read(require: Callable[[pd.DataFrame, str], object], kind: str, file: Path) -> pd.DataFrame:
    """A training or test set; raises as `read_table`, and as what it must pass, see `learners`."""
    table = read_table(file, ["id", *COLUMNS[kind]])
    require(table, str(file))
    return table


if __name__ == "__main__":
    run(main)

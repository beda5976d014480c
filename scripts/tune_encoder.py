"""Fine-tune one encoder on one training set, and answer every test set that shares it; only the answers are saved."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from scripts import cli
from seedbed.classifiers import learners
from seedbed.corpora.settings import COLUMNS, READ_AS, TEXT


class Job(cli.Tuning):
    kind: Literal[tuple(learners.FILES)]
    """kind of the training set and of all test sets"""
    learning: dict[str, Any] = {}
    """settings: FineTuning or Reading of encoders.tuning_settings, by the kind"""


def main(job: Job) -> None:
    from seedbed.classifiers.manifest import write_answers
    from seedbed.settings import validated

    learner = learners.load(job.kind)
    settings = validated(learner.SETTINGS, job.learning, "learning")
    rows = read(learner.require_learnable, job.kind, job.train)
    # All of them: a fault of the last costs the training.
    tests = {name: read(learner.require, job.kind, file) for name, file in job.tests.items()}
    with cli.tuning(job, read_as(job.kind)) as how:
        learnt = learner.train(job.base, rows, settings, how)
        write_answers(job.output, job.about, learnt, tests)


def read_as(kind: str) -> str:
    """The kind of prompt before the texts or questions of a corpus: query, document or text."""
    return READ_AS.get(COLUMNS[kind][0], TEXT)


def read(require: Callable[[pd.DataFrame, str], object], kind: str, file: Path) -> pd.DataFrame:
    """Read a training or test set and check it by `require`, a check of `learners`.

    Raises:
        UserError: as `read_table` and `require`.
    """
    from seedbed.io import read_table

    table = read_table(file, ["id", *COLUMNS[kind]])
    require(table, str(file))
    return table


if __name__ == "__main__":
    cli.run(Job, main)

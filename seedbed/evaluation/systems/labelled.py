"""Systems whose answers are already in a file: what `fine_tune` or `tune_encoder` wrote for all test sets of a training
set.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from seedbed.classifiers.answers import Answers
from seedbed.classifiers.manifest import ANSWERS
from seedbed.evaluation.scores import System, Trial
from seedbed.evaluation.systems import Opening
from seedbed.io import UserError, read_table

LIBRARIES = ("scikit-learn",)


def open(folder: Path, manifest: dict[str, Any], opening: Opening) -> System:
    """Read the answers to the one test set of the opening.

    Raises:
        UserError: the file of answers cannot be read.
    """
    (given,) = opening.sets
    test = f"{opening.language}/{given.task.set_of or given.name}"
    found = read_table(folder / ANSWERS, ["test", "id", "label"], unique=None)
    found = found[found["test"] == test]

    def answer(trial: Trial, labels: Sequence[str]) -> Answers:
        if list(found["id"]) != list(trial.test["id"]):
            raise UserError(f"{folder / ANSWERS}: not of the texts of {test}; delete {folder} and run Snakemake again")
        return Answers(list(found["label"]))

    return System(answer=answer, about={"classifier": manifest["about"]})

"""Chance baselines (MINERS, A.1): random labels, all equally likely, or the majority label."""

import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from seedbed.classifiers.answers import Answers
from seedbed.evaluation.scores import System, Trial
from seedbed.evaluation.systems import Opening

LIBRARIES = ("scikit-learn",)


def open(folder: Path, manifest: dict[str, Any], opening: Opening) -> System:
    """Open a baseline, which uses only the labels of the training set."""
    settings = manifest["system"]

    def answer(trial: Trial, labels: Sequence[str]) -> Answers:
        if settings["choice"] == "majority":
            return Answers(majority(trial.train, trial.test))
        return Answers(random_labels(labels, trial.test, settings["seed"]))

    made = {"seed": settings["seed"]} if settings["choice"] == "random" else {}
    return System(answer=answer, about={"classifier": manifest["about"] | made})


def majority(train: pd.DataFrame, test: pd.DataFrame) -> list[str]:
    """The most frequent training label for every text; of equally frequent ones, the first by name."""
    counts = Counter(train["label"])
    return [min(counts, key=lambda label: (-counts[label], label))] * len(test)


def random_labels(labels: Sequence[str], test: pd.DataFrame, seed: int) -> list[str]:
    """A random label for each text, all equally likely.

    It depends on the seed, the text and its id, not on other texts or their order; so test sets that are translations
    of each other get different labels.
    """
    texts = zip(test["id"], test["text"], strict=True)
    return [random.Random(f"{seed}\t{name}\t{text}").choice(labels) for name, text in texts]

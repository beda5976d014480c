"""Labels without a model (MINERS, A.1): `choice` is random, each label with the same probability, or majority."""

import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from seedbed.classifiers.answers import Answers
from seedbed.evaluation.scores import Trial
from seedbed.evaluation.systems import Opening, System

LIBRARIES = ("scikit-learn",)


def open(folder: Path, manifest: dict[str, Any], opening: Opening) -> System:
    """Answer from the training set alone."""
    settings = manifest["system"]

    def answer(trial: Trial, labels: Sequence[str]) -> Answers:
        if settings["choice"] == "majority":
            return Answers(majority(trial.train, trial.test))
        return Answers(drawn(labels, trial.test, settings["seed"]))

    made = {"seed": settings["seed"]} if settings["choice"] == "random" else {}
    return System({"classifier": manifest["about"] | made}, answer=answer)


def majority(train: pd.DataFrame, test: pd.DataFrame) -> list[str]:
    """The most frequent label of the training set for every text; among equally frequent ones the first by name."""
    counts = Counter(train["label"])
    return [min(counts, key=lambda label: (-counts[label], label))] * len(test)


def drawn(labels: Sequence[str], test: pd.DataFrame, seed: int) -> list[str]:
    """A label for each text (id and text), each with the same probability.

    The draw hangs on the seed, the id and the text: test sets with the same ids and gold labels, as those of
    translations are, have draws of their own, and neither order nor other texts matter.
    """
    texts = zip(test["id"], test["text"], strict=True)
    return [random.Random(f"{seed}\t{name}\t{text}").choice(labels) for name, text in texts]

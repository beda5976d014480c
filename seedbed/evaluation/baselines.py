"""Labels without a model: what a classifier must beat (MINERS, A.1)."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

import pandas as pd


def majority(train: pd.DataFrame, test: pd.DataFrame) -> list[str]:
    """The most frequent label of the training set for every text; among equally frequent ones the first by name."""
    counts = Counter(train["label"])
    return [min(counts, key=lambda label: (-counts[label], label))] * len(test)


def drawn(labels: Sequence[str], test: pd.DataFrame, seed: int) -> list[str]:
    """A label for each text, each with the same probability.

    The draw hangs on the seed, the id and the text: test sets with the same ids and gold labels, as those of
    translations are, have draws of their own, and neither order nor other texts matter.

    Args:
        labels: of the training set, sorted.
        test: id and text.
    """
    return [
        random.Random(f"{seed}\t{name}\t{text}").choice(labels)
        for name, text in zip(test["id"], test["text"], strict=True)
    ]

"""Labels: how right they are, which are known, and the vote of neighbours (MINERS, section 2.2)."""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import f1_score

from seedbed.evaluation.scores import Scores
from seedbed.io import UserError


def of_labels(test: pd.DataFrame, predicted: Sequence[str] | NDArray) -> Scores:
    """Accuracy (main) and macro F1 over the labels that are gold or predicted; by item both, and whether they agree.

    Raises:
        UserError: there are more or fewer predictions than rows of `test`.
    """
    if len(predicted) != len(test):
        raise UserError(f"classification: {len(predicted)} labels of {len(test)} items")
    items = pd.DataFrame({"id": test["id"], "gold": test["label"], "predicted": np.asarray(predicted, dtype=object)})
    items["correct"] = (items["gold"] == items["predicted"]).astype(int)
    accuracy = float(items["correct"].mean())
    macro_f1 = float(f1_score(items["gold"], items["predicted"], average="macro", zero_division=0))
    return Scores(accuracy, {"accuracy": accuracy, "macro_f1": macro_f1}, items)


def f1_by_class(items: pd.DataFrame, labels: Sequence[str]) -> dict[str, float]:
    """F1 of each class; 0 of one that is neither gold nor predicted.

    Args:
        items: of `of_labels`.
    """
    found = f1_score(items["gold"], items["predicted"], labels=[*labels], average=None, zero_division=0)
    return dict(zip(labels, map(float, found), strict=True))


def known_labels(protocol: str, test: pd.DataFrame, train: pd.DataFrame | None, also: Iterable[str] = ()) -> list[str]:
    """The labels of the training set and `also` others, sorted.

    Raises:
        UserError: no training set, or a test label that is none of them.
    """
    if train is None:
        raise UserError(f"{protocol}: no training set; give the task `train`, or `set_of` a task with one")
    known = sorted({*train["label"], *also})
    if unseen := sorted({*test["label"]} - {*known}):
        raise UserError(f"{protocol}: no training sentence has the label {unseen[0]!r}; they have {', '.join(known)}")
    return known


def vote(labels: ArrayLike) -> NDArray:
    """The most frequent label (n,) of each row; among equally frequent ones, that of the nearest neighbour.

    Args:
        labels: (n, k) labels of the k nearest neighbours, nearest first; of any type that compares.

    Raises:
        UserError: not two axes, or k = 0.
    """
    labels = np.asarray(labels)
    if labels.ndim != 2 or not labels.shape[1]:
        raise UserError(f"vote: labels of shape {labels.shape}; expected (n, k), k >= 1")
    counts = (labels[:, :, None] == labels[:, None, :]).sum(axis=2)
    winners = counts.argmax(axis=1)  # argmax takes the first of equals, which is the nearest
    return labels[np.arange(len(labels)), winners]

"""Scores of predicted labels, checks of label sets, and the vote of neighbours (MINERS, section 2.2)."""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import f1_score

from seedbed.corpora.shape.labels import require_one_spelling
from seedbed.evaluation.scores import Scores
from seedbed.io import UserError


def of_labels(test: pd.DataFrame, predicted: Sequence[str] | NDArray) -> Scores:
    """Score predicted labels of rows with `id` and `label`: accuracy (main), and macro F1 over all gold and predicted
    labels.

    An empty prediction is wrong, and is no class. Items: id, gold, predicted, correct (1 or 0).

    Raises:
        UserError: the number of predictions is not that of the rows.
    """
    if len(predicted) != len(test):
        raise UserError(f"classification: {len(predicted)} labels of {len(test)} items")
    items = pd.DataFrame({"id": test["id"], "gold": test["label"], "predicted": np.asarray(predicted, dtype=object)})
    items["correct"] = (items["gold"] == items["predicted"]).astype(int)
    accuracy = float(items["correct"].mean())
    classes = sorted({*items["gold"], *items["predicted"]} - {""})
    macro_f1 = float(f1_score(items["gold"], items["predicted"], labels=classes, average="macro", zero_division=0))
    return Scores(accuracy, {"accuracy": accuracy, "macro_f1": macro_f1}, items)


def f1_by_class(items: pd.DataFrame, labels: Sequence[str]) -> dict[str, float]:
    """F1 of each class, from the items of `of_labels`; 0 if it is neither gold nor predicted."""
    found = f1_score(items["gold"], items["predicted"], labels=[*labels], average=None, zero_division=0)
    return dict(zip(labels, map(float, found), strict=True))


def known_labels(protocol: str, test: pd.DataFrame, train: pd.DataFrame | None, also: Iterable[str] = ()) -> list[str]:
    """The labels of a training set and those in `also`, sorted.

    Args:
        protocol: name for errors.
        test: rows with `label`.
        train: rows with `label`; None is an error.

    Raises:
        UserError: no training set, a single label, two that differ in case alone, or a test label that is not among
            them.
    """
    if train is None:
        raise UserError(f"{protocol}: no training set; give the task `train`, or `set_of` a task with one")
    known = sorted({*train["label"], *also})
    if unseen := sorted({*test["label"]} - {*known}):
        raise UserError(
            f"{protocol}: no training sentence has the label {unseen[0]!r}; they have {', '.join(known)}; add one, or "
            "leave its test rows out with `where:`"
        )
    require_one_spelling(known, protocol)
    if len(known) == 1:  # which every system would give
        raise UserError(f"{protocol}: every training sentence has the label {known[0]!r}; at least two are needed")
    return known


def vote(labels: ArrayLike) -> NDArray:
    """Majority vote (n,) over each row of labels (n, k) of neighbours, nearest first; of equally frequent labels, that
    of the nearest neighbour wins.

    Example:
        >>> vote([["a", "b", "b"], ["a", "b", "c"]])
        array(['b', 'a'], dtype='<U1')
    """
    labels = np.asarray(labels)
    counts = (labels[:, :, None] == labels[:, None, :]).sum(axis=2)
    winners = counts.argmax(axis=1)  # argmax takes the first of equals, which is the nearest
    return labels[np.arange(len(labels)), winners]

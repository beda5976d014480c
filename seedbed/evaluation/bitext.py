"""Bitext retrieval metrics as MINERS computes them."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import f1_score

from seedbed.io import UserError


def f1_at_k(neighbours: ArrayLike, gold: ArrayLike, k: int) -> dict[str, float]:
    """Weighted F1 and accuracy of bitext retrieval at k, as MINERS computes them (section 2.2, and bitext.py of its
    code).

    If a query's translation is among its k nearest, it counts as the prediction; else the nearest sentence does. F1
    treats each sentence as a class and weights classes by support. It differs from accuracy: a wrong prediction also
    lowers the precision of the predicted sentence.

    Args:
        neighbours: indices (n, at least k) of the retrieved sentences, nearest first.
        gold: index (n,) of each query's translation.
        k: how many neighbours count.

    Returns:
        {"f1": ..., "accuracy": ...}, both within [0, 1].

    Raises:
        UserError: shapes that do not fit, no queries, or fewer than `k` neighbours.
    """
    neighbours, gold = np.asarray(neighbours), np.asarray(gold)
    if neighbours.ndim != 2 or gold.shape != neighbours.shape[:1] or not gold.size:
        found = f"neighbours {neighbours.shape} and gold {gold.shape}"
        raise UserError(f"f1_at_k: {found}; expected (n, k) and (n,), n >= 1")
    if not 1 <= k <= neighbours.shape[1]:
        raise UserError(f"f1_at_k: k is {k}; expected a number from 1 to the {neighbours.shape[1]} neighbours")
    predicted = predictions(neighbours, gold, k)
    f1 = f1_score(gold, predicted, average="weighted", zero_division=0)
    return {"f1": float(f1), "accuracy": float((predicted == gold).mean())}


def predictions(neighbours: NDArray[np.int64], gold: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """The predicted index (n,) of each query: its translation if that is among the k nearest, else the nearest
    sentence.
    """
    return np.where((neighbours[:, :k] == gold[:, None]).any(axis=1), gold, neighbours[:, 0])

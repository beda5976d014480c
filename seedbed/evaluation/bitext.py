"""Bitext retrieval: is the nearest sentence of the other language the translation?"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import f1_score

from seedbed.io import UserError


def f1_at_k(neighbours: ArrayLike, gold: ArrayLike, k: int) -> dict[str, float]:
    """Scores of a retrieval as MINERS computes them (section 2.2, and bitext.py of its public code).

    A query whose translation is among its k nearest counts as predicted right, any other as predicting its nearest.
    F1 takes each sentence for a class of its own and weights classes by support. It is not accuracy: a wrong
    prediction also costs the precision of the sentence that was predicted.

    Args:
        neighbours: indices (n, at least k) of the retrieved sentences, nearest first.
        gold: index (n,) of each query's translation.

    Returns:
        "f1" and "accuracy", within [0, 1].

    Raises:
        UserError: shapes that do not fit, no queries, or fewer than `k` neighbours.
    """
    neighbours, gold = np.asarray(neighbours), np.asarray(gold)
    if neighbours.ndim != 2 or gold.shape != neighbours.shape[:1] or not gold.size:
        raise UserError(
            f"f1_at_k: neighbours {neighbours.shape} and gold {gold.shape}; expected (n, k) and (n,), n >= 1"
        )
    if not 1 <= k <= neighbours.shape[1]:
        raise UserError(f"f1_at_k: k is {k}; it must lie between 1 and the {neighbours.shape[1]} neighbours given")
    found = (neighbours[:, :k] == gold[:, None]).any(axis=1)
    predicted = np.where(found, gold, neighbours[:, 0])
    f1 = f1_score(gold, predicted, average="weighted", zero_division=0)
    return {"f1": float(f1), "accuracy": float(found.mean())}

"""Bitext retrieval: is the nearest sentence of the other language the translation?"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import f1_score

from seedbed.evaluation.scores import Asked, Scores
from seedbed.io import UserError


def score(asked: Asked) -> Scores:
    """Translation retrieval, forward from `text` to `pivot` and backward; a row's translation stands in its place.

    Returns:
        f1 and accuracy of each direction at each k, and (main) the mean accuracy of both directions at the first k. By
        item its place, whether its translation was nearest, and what it predicts at each k (see `f1_at_k`).

    Raises:
        UserError: fewer pairs than k.
    """
    test, ks = asked.test, asked.task.k
    if max(ks) > len(test):
        raise UserError(f"bitext: k is {max(ks)}, but there are {len(test)} pairs; set `k:` of the task")
    text, pivot = asked.embed(test["text"], test["pivot"])
    gold = np.arange(len(test))
    metrics, items = {}, {"id": test["id"], "place": gold}
    for direction, (source, target) in {"forward": (text, pivot), "backward": (pivot, text)}.items():
        neighbours = asked.search(source, target, max(ks))
        items[direction] = (neighbours[:, 0] == gold).astype(int)
        for k in ks:
            found = f1_at_k(neighbours, gold, k)
            metrics |= {f"{direction}_{name}_at_{k}": value for name, value in found.items()}
            items[f"{direction}_{k}"] = predictions(neighbours, gold, k)
    metrics["accuracy"] = float(np.mean([metrics[f"{way}_accuracy_at_{ks[0]}"] for way in ("forward", "backward")]))
    return Scores(metrics["accuracy"], metrics, pd.DataFrame(items))


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
    predicted = predictions(neighbours, gold, k)
    f1 = f1_score(gold, predicted, average="weighted", zero_division=0)
    return {"f1": float(f1), "accuracy": float((predicted == gold).mean())}


def predictions(neighbours: NDArray[np.int64], gold: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """What each query predicts (n,): its translation if that is among the k nearest, else its nearest."""
    return np.where((neighbours[:, :k] == gold[:, None]).any(axis=1), gold, neighbours[:, 0])

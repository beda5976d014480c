"""Tuning the weights of fused encoders (DistFuse) on a development task."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from seedbed.choices import best
from seedbed.evaluation.scores import System
from seedbed.evaluation.scoring import score, texts
from seedbed.evaluation.settings import Task
from seedbed.vectors.fused import fuse as fuse  # a name that others build on
from seedbed.vectors.fused import search_by, side_by_side
from seedbed.vectors.store import encode_ahead
from seedbed.vectors.types import Encode


def tune_weights(
    task: Task,
    sets: Mapping[str, tuple[pd.DataFrame, pd.DataFrame | None]],
    encodes: Sequence[Encode],
    widths: Sequence[int],
    candidates: Sequence[Sequence[float]],
) -> tuple[list[float], list[dict[str, Any]]]:
    """The candidate weights with the best main score on development sets; of equals, the first.

    Args:
        task: a bitext or knn task.
        sets: language -> development set and, for knn, training set.
        encodes: each encoder's function from texts to vectors; each text is encoded once.
        widths: dimensions of each encoder's vectors.
        candidates: lists of weights, one weight for each encoder.

    Returns:
        The best weights, and a record of each candidate's scores.

    Raises:
        UserError: the task cannot be scored on a set.
    """
    by_language: list[dict[str, float]] = [{} for _ in candidates]
    for language, (dev, train) in sets.items():
        encode = encode_ahead(side_by_side(encodes), texts(task, dev, train))
        for weights, found in zip(candidates, by_language, strict=True):
            system = System(encode, search=search_by(widths, weights))
            found[language] = score(task, dev, system, train).main
    return best([list(weights) for weights in candidates], by_language, "weights")

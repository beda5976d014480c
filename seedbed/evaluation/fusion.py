"""DistFuse: weights of several encoders, given or chosen on a development task."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from seedbed.choices import best
from seedbed.evaluation.scoring import score, texts
from seedbed.evaluation.settings import Task
from seedbed.vectors.fused import fuse as fuse  # a name that others build on
from seedbed.vectors.fused import search_by, side_by_side
from seedbed.vectors.store import at_once
from seedbed.vectors.types import Encode


def choose(
    task: Task,
    sets: Mapping[str, tuple[pd.DataFrame, pd.DataFrame | None]],
    encodes: Sequence[Encode],
    widths: Sequence[int],
    candidates: Sequence[Sequence[float]],
) -> tuple[list[float], list[dict[str, Any]]]:
    """The weights with the best main score on development sets, the first of equals, and a record of each candidate.

    Args:
        task: bitext or knn.
        sets: language -> development set and, for knn, training set.
        encodes, widths: of each encoder, and the dimensions of its embeddings; each text is asked once of each.
        candidates: weights, one for each encoder.

    Raises:
        UserError: as `scoring.score`.
    """
    by_language: list[dict[str, float]] = [{} for _ in candidates]
    for language, (dev, train) in sets.items():
        encode = at_once(side_by_side(encodes), texts(task, dev, train))
        for weights, found in zip(candidates, by_language, strict=True):
            found[language] = score(task, dev, encode, train=train, search=search_by(widths, weights)).main
    return best([list(weights) for weights in candidates], by_language, "weights")

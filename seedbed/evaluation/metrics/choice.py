"""Multiple choice by cosine: which of several candidates is nearest to a passage."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seedbed.io import UserError
from seedbed.vectors.checked import to_unit_length

ROUNDING = 1e-12
"""Cosines that differ by no more than this count as equal."""


def nearest_candidates(candidates: ArrayLike, passages: ArrayLike) -> NDArray[np.int64]:
    """Index (n,) of the candidate with the highest cosine to each passage; of equals, the first.

    Args:
        candidates: vectors (n, options, d) of each passage's candidates.
        passages: vectors (n, d).

    Raises:
        UserError: other shapes, no option, a value that is not finite, or a zero vector.
    """
    candidates, passages = np.asarray(candidates, np.float64), np.asarray(passages, np.float64)
    if candidates.ndim != 3 or passages.shape != candidates.shape[::2] or not candidates.shape[1]:
        raise UserError(
            f"choice: candidates {candidates.shape} for passages {passages.shape}; expected (n, options, d) and (n, d)"
        )
    cosines = (_unit(candidates) * _unit(passages)[:, None]).sum(axis=-1)
    return (cosines >= cosines.max(axis=1, keepdims=True) - ROUNDING).argmax(axis=1)


def _unit(x: NDArray[np.float64]) -> NDArray[np.float64]:
    if not np.isfinite(x).all():
        raise UserError("choice: a vector that is not finite; the encoder's training diverged")
    return to_unit_length(x, "choice: a zero vector, which has no cosine; the encoder's training collapsed")

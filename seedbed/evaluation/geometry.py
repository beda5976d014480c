"""Alignment and uniformity of embeddings on the unit sphere (Wang and Isola 2020, arXiv 2005.10242, section 4.1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from scipy.special import logsumexp

from seedbed.io import UserError

_ROWS = 1024  # rows of the matrix of pairs that uniformity holds at once


def alignment(x: ArrayLike, y: ArrayLike, *, alpha: float = 2) -> float:
    """Mean distance of positive pairs, to the power `alpha`; lower is better.

    Args:
        x, y: embeddings (n, d) of any length; row i of `x` and row i of `y` are a pair.

    Returns:
        Mean of |x_i - y_i| ** alpha over unit vectors: 0 where all pairs coincide, at most 2 ** alpha.

    Raises:
        UserError: shapes differ, or as `unit_vectors`.
    """
    x, y = unit_vectors(x, "x"), unit_vectors(y, "y")
    if x.shape != y.shape:
        raise UserError(f"alignment: x is {x.shape} and y is {y.shape}; pairs need equal shapes")
    return float(np.mean(np.linalg.norm(x - y, axis=1) ** alpha))


def uniformity(x: ArrayLike, *, t: float = 2) -> float:
    """Logarithm of the mean Gaussian potential over all pairs of two different rows; lower is better.

    Args:
        x: embeddings (n, d) of any length.

    Returns:
        log mean exp(-t |x_i - x_j| ** 2) over i < j and unit vectors: 0 where all coincide, at least -4 t.

    Raises:
        UserError: fewer than two rows, or as `unit_vectors`.
    """
    x = unit_vectors(x, "x")
    n = len(x)
    if n < 2:
        raise UserError("uniformity: one row; pairs need at least two")
    # The log of each strip's sum, so that no potential underflows and n x n numbers are never held.
    strips = [logsumexp(-t * _squared_distances(x, start)) for start in range(0, n - 1, _ROWS)]
    return float(logsumexp(strips) - np.log(n * (n - 1) / 2))


def unit_vectors(x: ArrayLike, name: str) -> NDArray[np.float64]:
    """Rows of `x` (n, d) at length one, in float64.

    Raises:
        UserError: as `as_vectors`; a zero row, which has no direction. `name` is what the message calls `x`.
    """
    x = as_vectors(x, name)
    lengths = np.linalg.norm(x, axis=1, keepdims=True)
    if (zero := np.flatnonzero(lengths == 0)).size:
        raise UserError(f"{name}: row {zero[0]} is a zero vector; a point on the sphere needs a direction")
    return x / lengths


def as_vectors(x: ArrayLike, name: str, dtype: DTypeLike = np.float64) -> NDArray:
    """`x` as a C-ordered matrix (n, d) of `dtype`.

    Raises:
        UserError: not two axes, no rows or columns, or NaN or infinity; `name` is what the message calls `x`.
    """
    x = np.asarray(x, dtype=dtype, order="C")
    if x.ndim != 2 or 0 in x.shape:
        raise UserError(f"{name}: shape {x.shape}; embeddings are a matrix of n >= 1 rows and d >= 1 columns")
    with np.errstate(invalid="ignore"):  # inf - inf
        sums = x.sum(axis=1, dtype=np.float64)  # finite only if the whole row is, and no mask as large as `x`
    if (bad := np.flatnonzero(~np.isfinite(sums))).size:
        raise UserError(f"{name}: row {bad[0]} holds NaN or infinity; embeddings must be finite")
    return x


def _squared_distances(unit: NDArray[np.float64], start: int) -> NDArray[np.float64]:
    """Squared distances of rows start ... start + _ROWS - 1 to every row after each, flat."""
    rows, others = unit[start : start + _ROWS], unit[start:]
    later = ~np.tri(len(rows), len(others), dtype=bool)
    # Rounding can lift the cosine of equal rows above one.
    return 2 - 2 * np.minimum((rows @ others.T)[later], 1)

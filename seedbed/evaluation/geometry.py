"""Alignment and uniformity of embeddings on the unit sphere (Wang and Isola 2020, arXiv 2005.10242, section 4.1)."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from seedbed.io import UserError
from seedbed.vectors.checked import unit_vectors

_ROWS = 1024  # rows of the matrix of pairs that uniformity holds at once


def alignment(x: ArrayLike, y: ArrayLike, *, alpha: float = 2) -> float:
    """Mean of |x_i - y_i| ** alpha over unit vectors: 0 if all positive pairs coincide, at most 2 ** alpha.

    Args:
        x: embeddings (n, d) of any length.
        y: embeddings (n, d); row i forms a positive pair with row i of `x`.

    Raises:
        UserError: different shapes, or a row that is zero or not finite.
    """
    x, y = unit_vectors(x, "x"), unit_vectors(y, "y")
    if x.shape != y.shape:
        raise UserError(f"alignment: x is {x.shape} and y is {y.shape}; pairs need equal shapes")
    return float(np.mean(np.linalg.norm(x - y, axis=1) ** alpha))


def uniformity(x: ArrayLike, *, t: float = 2) -> float:
    """log mean exp(-t |x_i - x_j| ** 2) over i < j and unit vectors: 0 if all coincide, at least -4 t.

    Args:
        x: embeddings (n, d) of any length.

    Raises:
        UserError: fewer than two rows, or a row that is zero or not finite.
    """
    x = unit_vectors(x, "x")
    n = len(x)
    if n < 2:
        raise UserError("uniformity: one row; pairs need at least two")
    # The log of each strip's sum, so that no potential underflows and n x n numbers are never in memory.
    strips = [logsumexp(-t * _squared_distances(x, start)) for start in range(0, n - 1, _ROWS)]
    return float(logsumexp(strips) - np.log(n * (n - 1) / 2))


def _squared_distances(unit: NDArray[np.float64], start: int) -> NDArray[np.float64]:
    """Squared distances of rows start ... start + _ROWS - 1 to every row after each, flat."""
    rows, others = unit[start : start + _ROWS], unit[start:]
    later = ~np.tri(len(rows), len(others), dtype=bool)
    # Rounding can lift the cosine of equal rows above one.
    return 2 - 2 * np.minimum((rows @ others.T)[later], 1)

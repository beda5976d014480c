"""Checking matrices of vectors."""

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from seedbed.io import UserError


def unit_vectors(x: ArrayLike, name: str) -> NDArray[np.float64]:
    """Rows of `x` (n, d) scaled to unit length, in float64; messages begin with `name`.

    Raises:
        UserError: not a matrix of finite numbers, or a zero row.
    """
    zero = f"{name}: row {{row}} is a zero vector; a point on the sphere needs a direction"
    return to_unit_length(as_vectors(x, name), zero)


def to_unit_length(x: NDArray[np.float64], zero: str) -> NDArray[np.float64]:
    """Vectors (..., d) scaled to unit length.

    `zero` is the message where one is zero; `{row}` in it is the index of the first such vector.

    Raises:
        UserError: a zero vector.
    """
    lengths = np.linalg.norm(x, axis=-1, keepdims=True)
    if (rows := np.flatnonzero(lengths == 0)).size:
        raise UserError(zero.format(row=rows[0]))
    return x / lengths


def as_vectors(x: ArrayLike, name: str, dtype: DTypeLike = np.float64) -> NDArray:
    """`x` as a C-ordered matrix (n, d) of `dtype`; messages begin with `name`.

    Raises:
        UserError: not two axes, no rows or columns, or NaN, infinity or numbers too large for `dtype`.
    """
    with np.errstate(over="ignore"):  # told below
        x = np.asarray(x, dtype=dtype, order="C")
    if x.ndim != 2 or 0 in x.shape:
        raise UserError(f"{name}: shape {x.shape}; embeddings are a matrix of n >= 1 rows and d >= 1 columns")
    with np.errstate(invalid="ignore", over="ignore"):  # inf - inf
        sums = x.sum(axis=1, dtype=np.float64)  # finite only if the whole row is, and no mask as large as `x`
    if (bad := np.flatnonzero(~np.isfinite(sums))).size:
        what = "NaN" if np.isnan(x[bad[0]]).any() else f"infinity, or numbers too large for {x.dtype}"
        raise UserError(f"{name}: row {bad[0]} holds {what}; embeddings must be finite")
    return x

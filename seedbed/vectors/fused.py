"""DistFuse: nearest neighbours by the weighted distances of several encoders."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seedbed.io import UserError
from seedbed.vectors.checked import as_vectors
from seedbed.vectors.neighbours import distance_bounds, first_of_rows, scores_of_pairs
from seedbed.vectors.types import Encode, Search

_EPSILON = np.finfo(np.float32).eps
CELLS = 2**24
"""Query-corpus pairs that are computed together; about four float32 numbers are in memory for each."""


def fuse(distances: Sequence[ArrayLike], weights: Sequence[float]) -> NDArray[np.float64]:
    """Fused distances (n, m): a weighted sum of distance matrices (Winata et al. 2023; MINERS, section 2.5).

    Distances are not normalised, as in MINERS: an encoder with longer vectors has more influence than its weight says.
    Every weight counts; the distfuse 0.1.4 package ignores the first.

    Args:
        distances: one matrix (n, m) for each encoder; rows are queries, columns the corpus.
        weights: one for each matrix. MINERS has (1, 3) for LaBSE and E5-large, (1, 2, 3) with Cohere third.

    Raises:
        UserError: no matrix, matrices of different shapes or not of two axes, or another number of weights.

    Example:
        >>> fuse([[[1.0, 2.0]], [[3.0, 5.0]]], [1, 0.5])
        array([[2.5, 4.5]])
    """
    distances = [np.asarray(matrix) for matrix in distances]
    if not distances or len(distances) != len(weights):
        given = f"{len(distances)} distance matrices and {len(weights)} weights"
        raise UserError(f"fuse: {given}; give one weight for each")
    shapes = [matrix.shape for matrix in distances]
    if len(shapes[0]) != 2 or len(set(shapes)) > 1:
        raise UserError(f"fuse: distances of shapes {', '.join(map(str, shapes))}; all must be the same (n, m)")
    fused = np.zeros(shapes[0])
    for weight, matrix in zip(weights, distances, strict=True):
        fused += weight * matrix
    return fused


def nearest(
    queries: Sequence[ArrayLike], corpora: Sequence[ArrayLike], weights: Sequence[float], k: int
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """The `k` rows of a corpus nearest to each query by the weighted mean of several encoders' Euclidean distances.

    The weighted mean gives the same order as the sum, for weights of any scale. It is computed from each pair's exact
    distances and rounded to float32; ties go to the lower index.

    Args:
        queries: vectors (n, d) of each encoder, of the same texts in the same order; taken as float32.
        corpora: vectors (m, d) of each encoder, likewise.
        weights: one for each encoder, not negative, at least one positive.
        k: the number of neighbours.

    Returns:
        Distances (n, k), ascending, and indices (n, k) into the corpus.

    Raises:
        UserError: a negative weight, or none that is positive; `k` below 1 or above m; or vectors that are not finite.
    """
    queries = [as_vectors(x, "queries", np.float32) for x in queries]
    corpora = [as_vectors(x, "corpus", np.float32) for x in corpora]
    shares = _shares(weights)
    n, m = len(queries[0]), len(corpora[0])
    if not 1 <= k <= m:
        raise UserError(f"fusion: k is {k}; expected a number from 1 to the {m} rows of the corpus")
    bounds = [distance_bounds(*pair) for pair in zip(queries, corpora, strict=True)]
    coarse = np.array([share * unit for share, (_, unit) in zip(shares, bounds, strict=True)])
    coarse /= coarse.max()  # in a unit that float32 holds well
    scores, indices = np.empty((n, k), np.float32), np.empty((n, k), np.int64)
    step = max(1, CELLS // m)
    for start in range(0, n, step):
        block = slice(start, start + step)
        rows, columns = _candidates([of for of, _ in bounds], coarse.astype(np.float32), block, k)
        pairs = zip(queries, corpora, strict=True)
        exact = [scores_of_pairs(q[block], c, rows, columns, "euclidean")[None] for q, c in pairs]
        found = fuse(exact, shares)[0].astype(np.float32)
        best = first_of_rows(rows, columns, found, k)
        scores[block], indices[block] = found[best], columns[best]
    return scores, indices


def _shares(weights: Sequence[float]) -> NDArray[np.float64]:
    """Weights over their sum."""
    given = np.asarray(weights, dtype=np.float64)
    if not np.isfinite(given).all() or (given < 0).any() or given.sum() <= 0:
        shown = ", ".join(map(str, weights))
        raise UserError(f"fusion: weights {shown}; none may be negative, and one must be positive")
    return given / given.sum()


def _candidates(
    bounds: Sequence[Callable[[slice], tuple[NDArray, NDArray]]], coarse: NDArray[np.float32], block: slice, k: int
) -> tuple[NDArray, NDArray]:
    """Rows and columns, in row order, of the pairs of a block that may be among the k nearest of their row.

    A pair may be if its lower bound is not above the k-th least upper bound. The weighted sums of the bounds and the
    exact scores are rounded to float32, which moves each by a few of its last bits.
    """
    below = above = np.float32(0)
    for of, weight in zip(bounds, coarse, strict=True):
        low, high = of(block)
        low *= weight
        high *= weight
        below, above = low + below, high + above
    threshold = np.partition(above, k - 1, axis=1)[:, [k - 1]] * np.float32(1 + (len(bounds) + 16) * _EPSILON)
    return np.nonzero(below <= threshold)


def side_by_side(encodes: Sequence[Encode]) -> Encode:
    """Concatenate the vectors of several encoders: a function from n texts to (n, sum of d)."""
    return lambda texts: np.hstack([encode(texts) for encode in encodes])


def search_by(widths: Sequence[int], weights: Sequence[float]) -> Search:
    """A search function for vectors of `side_by_side`, which splits them by their widths and calls `nearest`."""
    cuts = np.cumsum(widths)[:-1]

    def search(queries: np.ndarray, corpus: np.ndarray, k: int) -> np.ndarray:
        return nearest(np.split(queries, cuts, axis=1), np.split(corpus, cuts, axis=1), weights, k)[1]

    return search

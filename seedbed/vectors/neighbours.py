"""Exact nearest-neighbour search. Bitext mining, kNN classification, retrieval and neighbour mining all use it."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seedbed.io import UserError
from seedbed.vectors.checked import as_vectors
from seedbed.vectors.types import Distance

_PAIRS = 4096  # pairs of vectors that are scored at once in float64
_EPSILON = np.finfo(np.float32).eps


def nearest(
    queries: ArrayLike, corpus: ArrayLike, k: int, *, metric: Distance, cells: int = 2**25
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """The `k` rows of `corpus` nearest to each row of `queries`, nearest first.

    The score of a pair is computed in float64 and rounded to float32; the order is by that score, then by the
    lower index. Equal rows therefore tie, and the result depends neither on `cells` nor on the BLAS library.

    Args:
        queries: (n, d); taken as float32, as is `corpus`.
        corpus: (m, d).
        metric: "cosine" and "dot" give similarities, "euclidean" distances. A zero vector's cosine is 0.
        cells: query-corpus scores held at once; bounds the memory, two copies of the input aside.

    Returns:
        Scores (n, k), descending similarities or ascending distances, and indices (n, k) into `corpus`.

    Raises:
        UserError: unknown metric, `k` below 1 or above m, unequal d, or as `geometry.as_vectors`.
    """
    queries, corpus = as_vectors(queries, "queries", np.float32), as_vectors(corpus, "corpus", np.float32)
    _check(queries, corpus, k, metric)
    left, right = _proxies(queries, corpus, metric)
    scores, indices = np.empty((len(queries), k), np.float32), np.empty((len(queries), k), np.int64)
    step = max(1, cells // len(corpus))
    for start in range(0, len(queries), step):
        block = slice(start, start + step)
        rows, columns = _candidates(left[block] @ right.T, k, dimension=right.shape[1])
        found = scores_of_pairs(queries[block], corpus, rows, columns, metric)
        best = first_of_rows(rows, columns, found if metric == "euclidean" else -found, k)
        scores[block], indices[block] = found[best], columns[best]
    return scores, indices


class Nearest:
    """The `k` nearest so far, of those blocks of a corpus that were added.

    Raises:
        UserError: unknown metric, `k` below 1, or as `geometry.as_vectors`.
    """

    def __init__(self, queries: ArrayLike, k: int, *, metric: Distance) -> None:
        self.queries, self.k, self.metric = as_vectors(queries, "queries", np.float32), k, metric
        _check(self.queries, self.queries, min(k, 1), metric)
        self.seen = 0
        self.scores = np.empty((len(self.queries), 0), np.float32)
        self.indices = np.empty((len(self.queries), 0), np.int64)

    def add(self, block: ArrayLike, *, cells: int = 2**25) -> None:
        """Look at more rows of the corpus (m, d), m >= 0."""
        block = np.asarray(block, np.float32)
        if not len(block):
            return
        scores, indices = nearest(self.queries, block, min(self.k, len(block)), metric=self.metric, cells=cells)
        scores = np.concatenate([self.scores, scores], axis=1)
        indices = np.concatenate([self.indices, indices + self.seen], axis=1)
        # A stable order: what came earlier has the lower index, and stands first among equals.
        best = np.argsort(scores if self.metric == "euclidean" else -scores, axis=1, kind="stable")[:, : self.k]
        self.scores, self.indices = (np.take_along_axis(x, best, axis=1) for x in (scores, indices))
        self.seen += len(block)

    def all(self) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Scores (n, k) and indices (n, k), nearest first.

        Raises:
            UserError: fewer rows than k were added.
        """
        if self.seen < self.k:
            raise UserError(f"nearest: k is {self.k}, but all blocks together have {self.seen} rows; add some")
        return self.scores, self.indices


def distance_bounds(
    queries: NDArray[np.float32], corpus: NDArray[np.float32]
) -> tuple[Callable[[slice], tuple[NDArray[np.float32], NDArray[np.float32]]], float]:
    """What surely lies below and above Euclidean distances, from one matrix product in float32.

    Args:
        queries: (n, d), finite.
        corpus: (m, d), finite.

    Returns:
        A function of a block of b queries to the bounds (b, m) of their distances, and the unit that these are in.
    """
    left, right, unit = _euclidean_proxies(queries, corpus)
    own = (_lengths(left[:, 1:]) ** 2).astype(np.float32)[:, None]
    # Twice a product's error, as in `_candidates`; and that of |q|^2 and of the sums, at most 16 unit roundoffs.
    margin = np.float32(_margin(right.shape[1] + 8))

    def bounds(block: slice) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        products = left[block] @ right.T
        products *= -2
        products += own[block]  # |q|^2 - 2 (q.c - |c|^2 / 2), the squared distance
        above = np.sqrt(np.maximum(products + margin, 0))
        products -= margin
        return np.sqrt(np.maximum(products, 0, out=products), out=products), above

    return bounds, unit


def _check(queries: NDArray, corpus: NDArray, k: int, metric: str) -> None:
    """Raise a UserError where `nearest` cannot answer."""
    if metric not in get_args(Distance):
        raise UserError(f"nearest: metric {metric!r}; known are {', '.join(get_args(Distance))}")
    if queries.shape[1] != corpus.shape[1]:
        raise UserError(
            f"nearest: queries have {queries.shape[1]} dimensions, the corpus {corpus.shape[1]}; they must agree"
        )
    if not 1 <= k <= len(corpus):
        raise UserError(f"nearest: k is {k}; it must lie between 1 and the {len(corpus)} rows of the corpus")


# A matrix product in float32 is fast but not exact: the last bits of a score depend on where its row lies in the
# block, so that equal rows need not tie and a different block size can give different neighbours. It only proposes:
# every row that its error bound allows among the k nearest is kept, ties at the edge included, and scored again by a
# sum over its own two vectors alone.


def _proxies(queries: NDArray, corpus: NDArray, metric: Distance) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Matrices whose products, all within [-1.5, 1.5], order the corpus for each query as the metric does."""
    if metric == "euclidean":
        return _euclidean_proxies(queries, corpus)[:2]
    lengths = _lengths(corpus)
    return _divided(queries, _lengths(queries)), _divided(corpus, lengths if metric == "cosine" else lengths.max())


def _euclidean_proxies(queries: NDArray, corpus: NDArray) -> tuple[NDArray[np.float32], NDArray[np.float32], float]:
    """With one more dimension, q.c - |c|^2 / 2 is a product; it falls as |q - c| grows. Third, the unit of lengths.

    Distances do not change when both sets move by the mean, but rounding errors shrink: embeddings of many
    encoders lie in a narrow cone far from the origin.
    """
    mean = corpus.mean(axis=0, dtype=np.float64).astype(np.float32)
    queries, corpus = queries - mean, corpus - mean
    lengths = _lengths(corpus)
    scale = max(_lengths(queries).max(), lengths.max()) or 1.0
    left = np.insert(_divided(queries, scale), 0, -0.5, axis=1)
    return left, np.insert(_divided(corpus, scale), 0, (lengths / scale) ** 2, axis=1), float(scale)


def _lengths(x: NDArray) -> NDArray[np.float64]:
    """Euclidean lengths (n,) of the rows of (n, d)."""
    return np.sqrt(np.einsum("ij,ij->i", x, x, dtype=np.float64))


def _divided(x: NDArray[np.float32], lengths: NDArray[np.float64] | float) -> NDArray[np.float32]:
    """Rows of `x` (n, d) over their lengths (n,), or over one length; zero stays zero."""
    lengths = np.atleast_1d(np.where(lengths == 0, 1, lengths))[:, None]
    # In float64, for lengths that float32 holds badly or not at all; rounded on the way out, without a large copy.
    return np.divide(x, lengths, out=np.empty_like(x), casting="same_kind")


def _candidates(products: NDArray[np.float32], k: int, *, dimension: int) -> tuple[NDArray, NDArray]:
    """Rows and columns, in row order, of the pairs (b, m) that may be among the k best of their row."""
    threshold = np.partition(products, -k, axis=1)[:, [-k]] - _margin(dimension)
    return np.nonzero(products >= threshold)


def _margin(dimension: int) -> float:
    """What the difference of two products of proxies is off by at most."""
    # A float32 product of two proxies is off by at most 1.5 (dimension + 12) unit roundoffs (half an epsilon), in
    # whatever order it is summed (Higham 2002, section 3.1; 12 for the rounded factors), and rounding the exact score
    # to float32 moves it by at most 4 more (unless a dot product is below 1e-38). Twice that, for the k-th best and its
    # rival, is below this margin.
    return 2 * (dimension + 12) * _EPSILON


def scores_of_pairs(
    queries: NDArray, corpus: NDArray, rows: NDArray, columns: NDArray, metric: Distance
) -> NDArray[np.float32]:
    """Exact scores (p,) of the pairs queries[rows], corpus[columns]."""
    scores = np.empty(len(rows), np.float32)
    for start in range(0, len(rows), _PAIRS):
        pairs = slice(start, start + _PAIRS)
        scores[pairs] = _score(
            queries[rows[pairs]].astype(np.float64), corpus[columns[pairs]].astype(np.float64), metric
        )
    return scores


def _score(q: NDArray[np.float64], c: NDArray[np.float64], metric: Distance) -> NDArray[np.float64]:
    """Score of each row of `q` with the same row of `c`, both (p, d)."""

    # numpy sums each row of a product alone and in one fixed order; BLAS, einsum and vecdot promise no such thing.
    def dot(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
        return (a * b).sum(axis=1)

    if metric == "euclidean":
        return np.sqrt(dot(q - c, q - c))
    if metric == "dot":
        return dot(q, c)
    lengths = np.sqrt(dot(q, q)) * np.sqrt(dot(c, c))
    return dot(q, c) / np.where(lengths == 0, 1, lengths)


def first_of_rows(rows: NDArray, columns: NDArray, costs: NDArray, k: int) -> NDArray[np.int64]:
    """Positions (b, k) of the k pairs of each row with the least cost, then the lowest column; `rows` ascend."""
    order = np.lexsort((columns, costs, rows))
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    return order[starts[:, None] + np.arange(k)]

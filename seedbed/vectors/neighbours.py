"""Exact nearest-neighbour search, used by bitext mining, kNN classification, retrieval and neighbour mining.

faiss's flat index finds candidates, in float32; these are scored and ordered in float64.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seedbed.io import UserError
from seedbed.vectors.checked import as_vectors
from seedbed.vectors.types import Distance

ROWS = 2**16
"""Rows of a corpus that are searched together: large enough for faiss, small enough to copy."""

_CELLS = 2**25  # products in memory at once, of queries with many rows within the margin
_PAIRS = 4096  # pairs of vectors that are scored at once in float64
_SPARE = 8  # rows that faiss finds beyond the k nearest, so that those within the margin are nearly always among them
_ON_GPU = 2048  # rows that faiss finds at most on a GPU
_MANY = 4  # candidates for each neighbour, beyond which equal ones are sorted out before they are scored
_EPSILON = np.finfo(np.float32).eps


def nearest(
    queries: ArrayLike, corpus: ArrayLike, k: int, *, metric: Distance, rows: int = ROWS
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """The `k` rows of `corpus` nearest to each row of `queries`, nearest first.

    A pair's score is computed in float64 and rounded to float32; pairs are ordered by that score, then by the lower
    index. So equal rows tie, and the result depends neither on `rows` nor on the BLAS library.

    Args:
        queries: (n, d); taken as float32.
        corpus: (m, d); taken as float32, of which a memory map is read in parts.
        k: the number of neighbours.
        metric: "cosine" and "dot" give similarities, "euclidean" distances. A zero vector's cosine is 0.
        rows: rows of the corpus that are searched together; about three copies of them are made.

    Returns:
        Scores (n, k), similarities in descending or distances in ascending order, and indices (n, k) into `corpus`.

    Raises:
        UserError: unknown metric, `k` below 1 or above m, different d, or vectors that are not finite.

    Example:
        >>> nearest([[1.0, 0.0]], [[0.0, 1.0], [2.0, 0.0]], 1, metric="cosine")
        (array([[1.]], dtype=float32), array([[1]]))
    """
    queries, corpus = as_vectors(queries, "queries", np.float32), as_vectors(corpus, "corpus", np.float32)
    _check(queries, corpus, k, metric)
    found = Nearest(queries, k, metric=metric)
    for start in range(0, len(corpus), rows):
        found._add(corpus[start : start + rows])
    return found.all()


class Nearest:
    """Nearest-neighbour search in a corpus that is added block by block; arguments as in `nearest`.

    Raises:
        UserError: unknown metric, `k` below 1, or vectors that are not finite.
    """

    def __init__(self, queries: ArrayLike, k: int, *, metric: Distance) -> None:
        self.queries, self.k, self.metric = as_vectors(queries, "queries", np.float32), k, metric
        _check(self.queries, self.queries, min(k, 1), metric)
        self.seen = 0
        self.scores = np.empty((len(self.queries), 0), np.float32)
        self.indices = np.empty((len(self.queries), 0), np.int64)

    def add(self, block: ArrayLike) -> None:
        """Search the next rows (m, d) of the corpus, m >= 0.

        Raises:
            UserError: another d than the queries have, or vectors that are not finite.
        """
        block = np.asarray(block, np.float32)
        if not len(block):
            return
        block = as_vectors(block, "corpus", np.float32)
        _check(self.queries, block, min(self.k, len(block)), self.metric)
        self._add(block)

    def _add(self, block: NDArray[np.float32]) -> None:
        """`add` of rows that are checked, one at least."""
        scores, indices = _nearest(self.queries, block, min(self.k, len(block)), self.metric)
        scores = np.concatenate([self.scores, scores], axis=1)
        indices = np.concatenate([self.indices, indices + self.seen], axis=1)
        # A stable order: earlier rows have the lower index, and come first among equals.
        best = np.argsort(scores if self.metric == "euclidean" else -scores, axis=1, kind="stable")[:, : self.k]
        self.scores, self.indices = (np.take_along_axis(x, best, axis=1) for x in (scores, indices))
        self.seen += len(block)

    def all(self) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Scores (n, k) and indices (n, k), nearest first.

        Raises:
            UserError: fewer than k rows were added.
        """
        if self.seen < self.k:
            raise UserError(f"nearest: k is {self.k}, but all blocks together have {self.seen} rows; add some")
        return self.scores, self.indices


def _nearest(
    queries: NDArray[np.float32], corpus: NDArray[np.float32], k: int, metric: Distance
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """`nearest` in one block."""
    proxies = _cosine_proxies(queries, corpus) if metric == "cosine" else _proxies(queries, corpus, metric)
    scores, indices = np.empty((len(queries), k), np.float32), np.empty((len(queries), k), np.int64)
    for block, rows, columns in _candidates(proxies, k):
        found = scores_of_pairs(queries[block], corpus, rows, columns, metric)
        best = first_of_rows(rows, columns, found if metric == "euclidean" else -found, k)
        scores[block], indices[block] = found[best], columns[best]
    return scores, indices


def distance_bounds(
    queries: NDArray[np.float32], corpus: NDArray[np.float32]
) -> tuple[Callable[[slice], tuple[NDArray[np.float32], NDArray[np.float32]]], float]:
    """Lower and upper bounds of Euclidean distances of queries (n, d) and a corpus (m, d), both finite, from one matrix
    product in float32.

    Returns:
        A function from a slice of b queries to their lower and upper bounds, (b, m) each, and the unit of these: times
        the unit they are bounds of the distances.
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
        raise UserError(f"nearest: k is {k}; expected a number from 1 to the {len(corpus)} rows of the corpus")


# faiss's products in float32 are fast but not exact: the last bits of a score depend on its row's position in a block,
# so that equal rows need not tie. They only propose candidates: every row that their error bound allows among the k
# nearest, ties at the edge included, is scored again by a sum over its own two vectors alone.


class _Proxies(NamedTuple):
    """Matrices whose products order the corpus for each query as the metric does.

    Where the products also say what the scores are, these are `offset` (n,) + `unit` times the product, give or take
    `error`.
    """

    left: NDArray[np.float32]
    right: NDArray[np.float32]
    margin: float
    """What two products must differ in, for their scores to be sure to."""
    unit: float = 1
    offset: NDArray[np.float64] | None = None
    error: float = 0


def _proxies(queries: NDArray, corpus: NDArray, metric: Distance) -> _Proxies:
    """Products within [-1.5, 1.5]."""
    if metric == "euclidean":
        left, right, _ = _euclidean_proxies(queries, corpus)
    else:
        left, right = _divided(queries, _lengths(queries)), _divided(corpus, _lengths(corpus).max())
    return _Proxies(left, right, _margin(right.shape[1]))


def _cosine_proxies(queries: NDArray, corpus: NDArray) -> _Proxies:
    """Products (u - m).(v - m) + m.(v - m) of rows of length one, which are u.v - u.m, for m near the mean of the v.

    So rounding errors are no greater than a narrow cone of vectors is wide; they are those of float32 around 0.
    """
    mean = sum(_units(corpus[block]).sum(axis=0) for block in _blocks(corpus)) / len(corpus)
    sides, along = zip(*(_moved(x, mean) for x in (queries, corpus)), strict=True)
    scale = max(1e-12, *(_lengths(x).max() for x in sides))
    added = (np.ones(len(queries)), (along[1] - mean @ mean) / scale**2)
    left, right = (np.insert(_divided(x, scale), 0, new, axis=1) for x, new in zip(sides, added, strict=True))
    # Products are within [-1.5, 1.5], or, where a row is zero, [-3, 3]. The exact score is rounded to float32.
    margin, unit, exact = _margin(right.shape[1]), scale**2, 1e-12
    return _Proxies(left, right, 2 * margin + (_EPSILON + exact) / unit, unit, along[0], unit * margin + exact)


def _moved(x: NDArray, mean: NDArray[np.float64]) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Rows of length one less `mean` (n, d), and their products with it (n,)."""
    moved, along = np.empty(x.shape, np.float32), np.empty(len(x))
    for block in _blocks(x):
        units = _units(x[block])
        moved[block], along[block] = units - mean, units @ mean
    return moved, along


def _units(x: NDArray) -> NDArray[np.float64]:
    """Rows of `x` (n, d) over their lengths; zero stays zero."""
    lengths = _lengths(x)
    return x / np.where(lengths == 0, 1, lengths)[:, None]


def _blocks(x: NDArray) -> Iterator[slice]:
    return (slice(start, start + _PAIRS) for start in range(0, len(x), _PAIRS))


def _euclidean_proxies(queries: NDArray, corpus: NDArray) -> tuple[NDArray[np.float32], NDArray[np.float32], float]:
    """With one more dimension, q.c - |c|^2 / 2 is a product; it falls as |q - c| grows. Third, the unit of lengths.

    Distances do not change when both sets move by the mean, but rounding errors shrink: embeddings of many
    encoders are in a narrow cone far from the origin.
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


def _candidates(proxies: _Proxies, k: int) -> Iterator[tuple[NDArray, NDArray, NDArray]]:
    """Places of some queries, and rows among these and columns, in row order, of pairs that may be of their k best.

    Every query comes once: most as faiss answers them, then those of which it may have left rows out.
    """
    left, right = proxies.left, proxies.right
    products, found = _search(left, right, min(k + _SPARE, len(right)))
    least = products[:, [k - 1]] - np.float32(proxies.margin)
    whole = (products[:, -1:] < least)[:, 0] | (found.shape[1] == len(right))
    if (block := np.flatnonzero(whole)).size:
        rows, places = np.nonzero(products[block] >= least[block])
        yield block, rows, found[block][rows, places]
    left_out, step = np.flatnonzero(~whole), max(1, _CELLS // len(right))
    for start in range(0, len(left_out), step):
        block = left_out[start : start + step]
        yield block, *_within(proxies, block, least[block], k)


def _search(left: NDArray[np.float32], right: NDArray[np.float32], k: int) -> tuple[NDArray, NDArray]:
    """The `k` largest products (n, k) of each row of `left`, in descending order, and their rows of `right`."""
    import faiss  # not when a study is planned

    if faiss.get_num_gpus() and k <= _ON_GPU:
        return faiss.knn_gpu(faiss.StandardGpuResources(), left, right, k, metric=faiss.METRIC_INNER_PRODUCT)
    # For few queries faiss 1.15 would leave BLAS out, and take ten times as long for a hundred.
    faiss.cvar.distance_compute_blas_threshold = 1
    return faiss.knn(left, right, k, metric=faiss.METRIC_INNER_PRODUCT)


def _within(proxies: _Proxies, block: NDArray[np.int64], least: NDArray, k: int) -> tuple[NDArray, NDArray]:
    """Rows and columns, in row order, of all pairs of a block whose product is not below the `least` (b, 1)."""
    products = proxies.left[block] @ proxies.right.T
    rows, columns = np.nonzero(products >= least)
    if proxies.offset is not None and len(rows) > _MANY * k * len(products):
        scores = proxies.offset[block][rows] + proxies.unit * products[rows, columns]
        starts = np.flatnonzero(np.diff(rows))
        first = np.concatenate([_first(each, proxies.error, k) for each in np.split(scores, starts + 1)])
        rows, columns = rows[first], columns[first]
    return rows, columns


def _first(scores: NDArray[np.float64], error: float, k: int) -> NDArray[np.bool_]:
    """Which of a row's candidates (c,) may be among its k first, if their scores are off by at most `error`.

    Of those whose float32 surely is that of the k-th, the k lowest are enough: equal scores are ordered by index.
    """
    low, high = (scores - error).astype(np.float32), (scores + error).astype(np.float32)
    last = np.partition(low, -k)[-k]
    tied = (low == last) & (high == last)
    return (high >= last) & (~tied | (np.cumsum(tied) <= k))


def _margin(dimension: int) -> float:
    """What the difference of two products of proxies is off by at most."""
    # A float32 product of two proxies is off by at most 1.5 (dimension + 12) unit roundoffs (half an epsilon), in
    # whatever order it is summed, with fused steps or without (Higham 2002, section 3.1; 12 for the rounded factors):
    # so by faiss's BLAS as by numpy's, and on a GPU, which faiss keeps to float32. Rounding the exact score to float32
    # moves it by at most 4 more (unless a dot product is below 1e-38). Twice that, for the k-th best and its rival, is
    # below this margin.
    return 2 * (dimension + 12) * _EPSILON


def scores_of_pairs(
    queries: NDArray, corpus: NDArray, rows: NDArray, columns: NDArray, metric: Distance
) -> NDArray[np.float32]:
    """Scores (p,) of the pairs queries[rows], corpus[columns], computed in float64 and rounded to float32."""
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
    """Positions (b, k), among p pairs, of each row's k pairs with the lowest costs; ties go to the lower column.

    Args:
        rows: the pairs' rows (p,), sorted; each of b rows has k pairs or more.
        columns: the pairs' columns (p,).
        costs: the pairs' costs (p,).
        k: the number of pairs of a row.
    """
    order = np.lexsort((columns, costs, rows))
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    return order[starts[:, None] + np.arange(k)]

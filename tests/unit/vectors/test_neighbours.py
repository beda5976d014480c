"""Exact search against brute force in float64 and faiss; ties, blocks and positions."""

from __future__ import annotations

import tracemalloc
import weakref
from collections.abc import Iterable, Iterator

import faiss
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import cdist

from seedbed.io import UserError
from seedbed.vectors import neighbours
from seedbed.vectors.neighbours import Nearest, nearest

METRICS = ["cosine", "euclidean", "dot"]
metrics = st.sampled_from(METRICS)


def brute_force(queries: np.ndarray, corpus: np.ndarray, k: int, metric: str) -> tuple[np.ndarray, np.ndarray]:
    """All scores in float64, rounded to float32 and sorted stably."""
    queries, corpus = np.asarray(queries, np.float64), np.asarray(corpus, np.float64)
    if metric == "euclidean":
        scores = cdist(queries, corpus)
    else:
        scores = np.array([[np.dot(q, c) for c in corpus] for q in queries])
    if metric == "cosine":
        lengths = np.linalg.norm(queries, axis=1)[:, None] * np.linalg.norm(corpus, axis=1)
        scores = scores / np.where(lengths == 0, 1, lengths)
    scores = scores.astype(np.float32)
    order = np.argsort(scores if metric == "euclidean" else -scores, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(scores, order, axis=1), order


def random(n: int, d: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32)


@st.composite
def searches(draw: st.DrawFn, elements: st.SearchStrategy) -> tuple[np.ndarray, np.ndarray, int]:
    n, m, d = draw(st.integers(1, 6)), draw(st.integers(1, 20)), draw(st.integers(1, 6))
    queries, corpus = (draw(arrays(np.float32, (rows, d), elements=elements)) for rows in (n, m))
    return queries, corpus, draw(st.integers(1, m))


few_values = st.integers(-2, 2).map(float)  # so that nearly everything ties
floats = st.floats(-1e3, 1e3, width=32)


@settings(max_examples=150, deadline=None)
@given(searches(few_values), metrics)
def test_ties_go_to_the_lower_index(search: tuple[np.ndarray, np.ndarray, int], metric: str) -> None:
    scores, indices = nearest(*search, metric=metric)
    expected_scores, expected_indices = brute_force(*search, metric)
    np.testing.assert_array_equal(indices, expected_indices)
    np.testing.assert_allclose(scores, expected_scores, rtol=1e-6)


@settings(max_examples=150, deadline=None)
@given(searches(floats), metrics)
def test_scores_are_ordered_and_exact(search: tuple[np.ndarray, np.ndarray, int], metric: str) -> None:
    queries, corpus, k = search
    scores, indices = nearest(queries, corpus, k, metric=metric)
    costs = scores if metric == "euclidean" else -scores
    steps = np.diff(costs, axis=1)
    assert (steps >= 0).all()
    assert (np.diff(indices, axis=1)[steps == 0] > 0).all()
    assert all(len(set(row)) == k for row in indices)
    np.testing.assert_allclose(scores, brute_force(queries, corpus, k, metric)[0], rtol=1e-6, atol=1e-30)


@settings(max_examples=60, deadline=None)
@given(searches(st.one_of(few_values, floats)), metrics, st.integers(1, 20))
def test_the_block_size_does_not_matter(search: tuple[np.ndarray, np.ndarray, int], metric: str, rows: int) -> None:
    whole, blocks = nearest(*search, metric=metric), nearest(*search, metric=metric, rows=rows)
    for expected, found in zip(whole, blocks, strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("metric", METRICS)
def test_copies_tie_wherever_they_stand(metric: str) -> None:
    """Duplicated sentences, odd sizes and a k that cuts through a group of copies."""
    distinct, copies = random(37, 65, 0), 11
    corpus = np.tile(distinct, (copies, 1))
    scores, indices = nearest(distinct + 0.1 * random(37, 65, 1), corpus, 17, metric=metric)
    first, second = indices[:, :copies], indices[:, copies:]
    assert (np.diff(first, axis=1) == 37).all()  # every copy of one sentence, in order
    assert (first[:, 0] < 37).all()
    assert (np.diff(second, axis=1) == 37).all()  # then the lowest copies of the next
    assert (second[:, 0] < 37).all()
    assert (scores[:, 0] == scores[:, copies - 1]).all()


@pytest.mark.parametrize("metric", METRICS)
def test_differences_below_float32_rounding_are_seen(metric: str) -> None:
    """Rows so alike, so far from the origin, that products in float32 order them at random."""
    rng = np.random.default_rng(0)
    centre = 10 + rng.normal(size=300)
    corpus = (centre + 1e-5 * rng.normal(size=(500, 300))).astype(np.float32)
    queries = (centre + 1e-5 * rng.normal(size=(20, 300))).astype(np.float32)
    scores, indices = nearest(queries, corpus, 9, metric=metric)
    expected_scores, expected_indices = brute_force(queries, corpus, 9, metric)
    np.testing.assert_array_equal(scores, expected_scores)
    np.testing.assert_array_equal(indices, expected_indices)


@pytest.mark.parametrize("spread", [0, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1])
def test_a_collapsed_encoder_costs_few_exact_cosines(spread: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nearly all of its cosines are equal in float32; the first of the equal ones are taken, of whatever length."""
    rng = np.random.default_rng(0)
    centre = 1 + rng.normal(size=64)
    queries, corpus = (
        (rng.uniform(0.5, 2, (n, 1)) * (centre + spread * rng.normal(size=(n, 64)))).astype(np.float32)
        for n in (20, 2000)
    )
    scored, exact = [], neighbours.scores_of_pairs
    monkeypatch.setattr(
        neighbours, "scores_of_pairs", lambda q, c, rows, *more: scored.append(len(rows)) or exact(q, c, rows, *more)
    )
    scores, indices = nearest(queries, corpus, 9, metric="cosine")
    assert sum(scored) <= 20 * 9 * 4, "of 40,000 pairs"
    expected_scores, expected_indices = brute_force(queries, corpus, 9, "cosine")
    np.testing.assert_array_equal(scores, expected_scores)
    np.testing.assert_array_equal(indices, expected_indices)


@pytest.mark.parametrize(
    ("metric", "length"),
    [(metric, length) for metric in METRICS for length in (1e-12, 1, 1e12)] + [("cosine", 1e-40), ("euclidean", 1e-40)],
)
def test_any_length(metric: str, length: float) -> None:
    queries, corpus = random(20, 33, 1) * np.float32(length), random(200, 33, 2) * np.float32(length)
    scores, indices = nearest(queries, corpus, 5, metric=metric)
    expected_scores, expected_indices = brute_force(queries, corpus, 5, metric)
    np.testing.assert_array_equal(indices, expected_indices)
    np.testing.assert_allclose(scores, expected_scores, rtol=1e-6)


def test_one_giant_row_does_not_hide_the_others() -> None:
    corpus = random(300, 16, 0)
    corpus[7] *= 1e8
    for metric in METRICS:
        found = nearest(random(10, 16, 1), corpus, 20, metric=metric)[1]
        np.testing.assert_array_equal(found, brute_force(random(10, 16, 1), corpus, 20, metric)[1])


@pytest.mark.parametrize("metric", METRICS)
def test_positions_do_not_matter(metric: str) -> None:
    queries, corpus = random(30, 48, 3), random(500, 48, 4)
    rng = np.random.default_rng(5)
    q, c = rng.permutation(30), rng.permutation(500)
    scores, indices = nearest(queries, corpus, 10, metric=metric)
    moved_scores, moved_indices = nearest(queries[q], corpus[c], 10, metric=metric)
    np.testing.assert_array_equal(moved_scores, scores[q])
    np.testing.assert_array_equal(c[moved_indices], indices[q])
    # Nor does the memory layout.
    np.testing.assert_array_equal(nearest(queries, np.asfortranarray(corpus), 10, metric=metric)[0], scores)


@pytest.mark.parametrize("metric", METRICS)
def test_agrees_with_faiss(metric: str) -> None:
    queries, corpus = random(100, 64, 6), random(3000, 64, 7)
    if metric == "cosine":
        queries, corpus = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (queries, corpus))
    index = faiss.IndexFlatL2(64) if metric == "euclidean" else faiss.IndexFlatIP(64)
    index.add(corpus)
    expected_scores, expected_indices = index.search(queries, 10)
    scores, indices = nearest(queries, corpus, 10, metric=metric)
    np.testing.assert_array_equal(indices, expected_indices)
    np.testing.assert_allclose(scores**2 if metric == "euclidean" else scores, expected_scores, rtol=1e-5)


def test_types_and_shapes() -> None:
    scores, indices = nearest(random(3, 4, 0).astype(np.float64), random(9, 4, 1).tolist(), 9, metric="dot")
    assert scores.shape == indices.shape == (3, 9)
    assert scores.dtype == np.float32
    assert indices.dtype == np.int64


def test_a_row_is_nearest_to_itself() -> None:
    x = random(50, 20, 8)
    scores, indices = nearest(x, x, 1, metric="cosine")
    assert (scores == 1).all()
    assert (indices[:, 0] == np.arange(50)).all()
    assert (nearest(x, x, 1, metric="euclidean")[0] == 0).all()


def test_the_cosine_of_a_zero_vector_is_zero() -> None:
    scores, indices = nearest([[0.0, 0], [1, 0]], [[-1.0, 0], [0, 0], [1, 0]], 3, metric="cosine")
    np.testing.assert_array_equal(scores, [[0, 0, 0], [1, 0, -1]])
    np.testing.assert_array_equal(indices, [[0, 1, 2], [2, 1, 0]])
    assert nearest([[0.0]], [[0.0], [0.0]], 2, metric="euclidean")[1].tolist() == [[0, 1]]


@pytest.mark.parametrize(
    ("queries", "corpus", "k", "metric", "message"),
    [
        (random(2, 3, 0), random(4, 3, 0), 5, "dot", "k is 5.* 4 rows"),
        (random(2, 3, 0), random(4, 3, 0), 0, "dot", "k is 0"),
        (random(2, 3, 0), random(4, 2, 0), 1, "dot", "3 dimensions, the corpus 2"),
        (random(2, 3, 0), random(4, 3, 0), 1, "l2", r"metric 'l2'.*cosine, euclidean"),
        (random(2, 3, 0), np.full((4, 3), np.nan), 1, "dot", "corpus: row 0 holds NaN"),
        (
            random(2, 3, 0),
            np.full((4, 3), 1e39),
            1,
            "dot",
            "corpus: row 0 holds infinity, or numbers too large for float32",
        ),
        (random(2, 3, 0)[0], random(4, 3, 0), 1, "dot", "queries: shape"),
    ],
)
def test_bad_searches_are_named(queries: np.ndarray, corpus: np.ndarray, k: int, metric: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        nearest(queries, corpus, k, metric=metric)


@st.composite
def cuts(draw: st.DrawFn) -> tuple[tuple[np.ndarray, np.ndarray, int], list[np.ndarray]]:
    """A search, and its corpus cut anywhere, at some places twice."""
    search = draw(searches(st.one_of(few_values, floats)))
    places = sorted(draw(st.lists(st.integers(0, len(search[1])), max_size=6)))
    return search, np.split(search[1], places)


def nearest_of_blocks(
    queries: np.ndarray, blocks: Iterable[np.ndarray], k: int, *, metric: str
) -> tuple[np.ndarray, np.ndarray]:
    """What `Nearest` finds in blocks, each of which is gone before the next is made."""
    found = Nearest(queries, k, metric=metric)
    for block in blocks:
        found.add(block)
        del block
    return found.all()


@settings(max_examples=150, deadline=None)
@given(cuts(), metrics)
def test_a_corpus_in_blocks_is_a_corpus(
    cut: tuple[tuple[np.ndarray, np.ndarray, int], list[np.ndarray]], metric: str
) -> None:
    (queries, corpus, k), blocks = cut
    expected = nearest(queries, corpus, k, metric=metric)
    for found, whole in zip(nearest_of_blocks(queries, iter(blocks), k, metric=metric), expected, strict=True):
        assert found.dtype == whole.dtype
        np.testing.assert_array_equal(found, whole)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("size", [1, 7, 100, 407])
def test_copies_in_several_blocks_stand_in_their_order(metric: str, size: int) -> None:
    distinct = random(37, 65, 0)
    corpus, queries = np.tile(distinct, (11, 1)), distinct + 0.1 * random(37, 65, 1)
    blocks = [corpus[start : start + size] for start in range(0, len(corpus), size)]
    for found, whole in zip(
        nearest_of_blocks(queries, blocks, 17, metric=metric), nearest(queries, corpus, 17, metric=metric), strict=True
    ):
        np.testing.assert_array_equal(found, whole)


def test_a_search_of_any_size_holds_few_scores_at_once() -> None:
    """A hundred million scores take 400 MB: they are made in parts, and a part and what is made of it take less."""
    queries, corpus = random(96, 1, 0), random(2**20, 1, 1)
    tracemalloc.start()
    try:
        nearest(queries, corpus, 3, metric="dot")
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 350e6


def test_one_block_is_held_at_a_time() -> None:
    """Memory: each block is gone before the next is made."""
    alive: list[weakref.ref] = []

    def blocks() -> Iterator[np.ndarray]:
        for seed in range(5):
            block = random(30, 8, seed)
            assert not [held for held in alive if held() is not None]
            alive.append(weakref.ref(block))
            yield block
            del block

    found = nearest_of_blocks(random(4, 8, 9), blocks(), 3, metric="cosine")
    assert len(alive) == 5 and found[1].shape == (4, 3)


def test_blocks_that_cannot_be_searched() -> None:
    for blocks in ([], [random(2, 3, 0), random(2, 3, 1)]):
        rows = 2 * len(blocks)
        with pytest.raises(UserError, match=f"^nearest: k is 5.*{rows} rows; add some$"):
            nearest_of_blocks(random(2, 3, 0), blocks, 5, metric="dot")
    with pytest.raises(UserError, match="k is 0"):
        nearest_of_blocks(random(2, 3, 0), [], 0, metric="dot")
    with pytest.raises(UserError, match="metric 'l2'"):
        nearest_of_blocks(random(2, 3, 0), [], 1, metric="l2")
    with pytest.raises(UserError, match="3 dimensions, the corpus 2"):
        nearest_of_blocks(random(2, 3, 0), [random(3, 2, 0)], 1, metric="dot")

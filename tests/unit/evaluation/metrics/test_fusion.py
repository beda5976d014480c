"""DistFuse against sums by hand, and its neighbours against brute force."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from seedbed.evaluation.classification import vote
from seedbed.evaluation.fusion import tune_weights
from seedbed.evaluation.scores import System
from seedbed.evaluation.scoring import score
from seedbed.evaluation.settings import Task
from seedbed.io import UserError
from seedbed.vectors import fused, neighbours
from seedbed.vectors.fused import fuse, nearest, search_by, side_by_side

RNG = np.random.default_rng(0)
Members = list[np.ndarray]


def test_every_weight_counts() -> None:
    a, b = np.array([[1.0, 2], [3, 4]]), np.array([[10.0, 20], [30, 40]])
    np.testing.assert_array_equal(fuse([a, b], [2, 3]), [[32, 64], [96, 128]])
    np.testing.assert_array_equal(fuse([a, b], [0, 1]), b)
    np.testing.assert_array_equal(fuse([a], [0.25]), a / 4)


def test_is_linear_and_leaves_its_input_alone() -> None:
    matrices, weights = RNG.uniform(size=(3, 4, 5)).astype(np.float32), np.array([1.0, 2, 3])
    before = matrices.copy()
    fused = fuse(matrices, weights)
    np.testing.assert_allclose(fused, np.einsum("e,enm->nm", weights, matrices.astype(np.float64)))
    np.testing.assert_allclose(fuse(matrices, 10 * weights), 10 * fused)
    np.testing.assert_array_equal(matrices, before)
    assert fused.dtype == np.float64


@pytest.mark.parametrize(
    ("distances", "weights", "message"),
    [
        ([np.ones((2, 3))], [1, 2], "1 distance matrices and 2 weights"),
        ([], [], "0 distance matrices"),
        ([np.ones((2, 3)), np.ones((3, 2))], [1, 2], r"\(2, 3\), \(3, 2\)"),
        ([np.ones(3)], [1], r"\(3,\)"),
    ],
)
def test_what_does_not_fit_is_named(distances: list[np.ndarray], weights: list[float], message: str) -> None:
    with pytest.raises(UserError, match=message):
        fuse(distances, weights)


# ------------------------------------------------------------------------------------------------- nearest neighbours


def brute_force(queries: Members, corpora: Members, weights: Sequence[float], k: int) -> np.ndarray:
    """Every pair's sum in float64, sorted stably once rounding is gone."""
    distances = [
        np.array([[math.sqrt(math.fsum((a - b) ** 2)) for b in c.astype(np.float64)] for a in q.astype(np.float64)])
        for q, c in zip(queries, corpora, strict=True)
    ]
    fused = np.array([weight / sum(weights) * matrix for weight, matrix in zip(weights, distances, strict=True)]).sum(0)
    return np.argsort(fused.astype(np.float32), axis=1, kind="stable")[:, :k]


def random(n: int, widths: Sequence[int], seed: int) -> Members:
    """Embeddings of encoders of very different lengths."""
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(n, d)).astype(np.float32) * np.float32(10.0**place) for place, d in enumerate(widths)]


def planted(n: int, m: int, seed: int, widths: Sequence[int] = (7, 12, 5)) -> tuple[Members, Members]:
    """Queries and a corpus in which some rows are copies of others, and some queries stand in the corpus."""
    rng = np.random.default_rng(seed)
    corpora, queries = random(m, widths, seed), random(n, widths, seed + 1)
    copies, originals, found = rng.integers(m, size=m // 2), rng.integers(m, size=m // 2), rng.integers(m, size=n // 2)
    for q, c in zip(queries, corpora, strict=True):
        c[copies] = c[originals]
        q[: n // 2] = c[found]
    return queries, corpora


@pytest.mark.parametrize("weights", [(1, 1, 1), (1, 2, 3), (0.25, 0, 0.75), (1000, 1, 0.001)])
@pytest.mark.parametrize("seed", range(3))
def test_neighbours_are_those_of_brute_force_with_planted_ties(seed: int, weights: tuple[float, ...]) -> None:
    queries, corpora = planted(20, 61, seed)
    for k in (1, 10, 61):
        scores, indices = nearest(queries, corpora, weights, k)
        np.testing.assert_array_equal(indices, brute_force(queries, corpora, weights, k))
        assert (np.diff(scores, axis=1) >= 0).all()


@settings(max_examples=100, deadline=None)
@given(st.data(), st.integers(1, 5), st.integers(1, 15), st.integers(1, 80))
def test_nearly_everything_ties_and_the_block_size_does_not_matter(data, n: int, m: int, cells: int) -> None:
    few = st.integers(-1, 1).map(float)
    queries, corpora = ([data.draw(arrays(np.float32, (rows, d), elements=few)) for d in (2, 3)] for rows in (n, m))
    weights, k = data.draw(st.sampled_from([(1, 1), (1, 3), (2, 0)])), data.draw(st.integers(1, m))
    whole = nearest(queries, corpora, weights, k)
    np.testing.assert_array_equal(whole[1], brute_force(queries, corpora, weights, k))
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(fused, "CELLS", cells)
        for expected, found in zip(whole, nearest(queries, corpora, weights, k), strict=True):
            np.testing.assert_array_equal(found, expected)


def test_blocks_on_real_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    queries, corpora = planted(130, 400, 0, widths=(96, 64))
    whole = nearest(queries, corpora, (1, 3), 10)
    for cells in (1, 4001, 10**9):
        monkeypatch.setattr(fused, "CELLS", cells)
        for expected, found in zip(whole, nearest(queries, corpora, (1, 3), 10), strict=True):
            np.testing.assert_array_equal(found, expected)


def test_weights_of_another_scale_order_alike() -> None:
    queries, corpora = planted(30, 90, 5)
    _, expected = nearest(queries, corpora, (1, 2, 3), 20)
    for scale in (0.5, 7, 1e6):
        np.testing.assert_array_equal(nearest(queries, corpora, [scale * w for w in (1, 2, 3)], 20)[1], expected)


def test_one_encoder_fused_has_its_own_neighbours() -> None:
    queries, corpora = planted(30, 90, 9)
    for q, c in zip(queries, corpora, strict=True):
        for expected, found in zip(
            neighbours.nearest(q, c, 20, metric="euclidean"), nearest([q], [c], [5], 20), strict=True
        ):
            np.testing.assert_array_equal(found, expected)
    alone = nearest(queries, corpora, (0, 4, 0), 20)[1]
    np.testing.assert_array_equal(alone, neighbours.nearest(queries[1], corpora[1], 20, metric="euclidean")[1])


def test_rows_that_differ_below_float32_rounding_of_products() -> None:
    rng = np.random.default_rng(0)
    centres = [10 + rng.normal(size=d) for d in (200, 120)]
    queries, corpora = (
        [(centre + 1e-5 * rng.normal(size=(rows, len(centre)))).astype(np.float32) for centre in centres]
        for rows in (10, 150)
    )
    np.testing.assert_array_equal(nearest(queries, corpora, (1, 3), 9)[1], brute_force(queries, corpora, (1, 3), 9))


def test_side_by_side_the_same_neighbours_are_found() -> None:
    queries, corpora = planted(30, 90, 2)
    encodes = [lambda texts, x=x: x[: len(texts)] for x in corpora]
    corpus = side_by_side(encodes)(["a text"] * 90)
    assert corpus.shape == (90, 24) and corpus.dtype == np.float32
    found = search_by([7, 12, 5], (1, 2, 3))(np.hstack(queries), corpus, 4)
    np.testing.assert_array_equal(found, nearest(queries, corpora, (1, 2, 3), 4)[1])


X, Y = np.ones((2, 3)), np.ones((4, 3))


@pytest.mark.parametrize(
    ("queries", "corpora", "weights", "k", "message"),
    [
        ([X, X], [Y, Y], [1, -1], 1, r"weights 1, -1.*negative"),
        ([X, X], [Y, Y], [0, 0], 1, "one must be positive"),
        ([X], [Y], [1], 5, "k is 5"),
        ([X], [Y * np.nan], [1], 1, "corpus: row 0 holds NaN"),
    ],
)
def test_what_cannot_be_searched_is_named(queries, corpora, weights, k, message: str) -> None:
    with pytest.raises(UserError, match=message):
        nearest(queries, corpora, weights, k)


# ------------------------------------------------------------------------------------------------------------ choice


def encoder(seed: int, d: int) -> Callable[[Sequence[str]], np.ndarray]:
    """A vector for each text, from the text alone; notes what it was asked."""
    asked: list[str] = []

    def encode(texts: Sequence[str]) -> np.ndarray:
        asked.extend(texts)
        return np.array([np.random.default_rng([seed, *text.encode()]).normal(size=d) for text in texts], np.float32)

    encode.asked = asked
    return encode


def test_the_best_weights_on_development_sets_are_chosen_and_each_text_is_asked_once() -> None:
    """One encoder knows the answers, the other does not: alone, the first must win."""
    knows = {f"{side} {n}": n for side in ("text", "pivot") for n in range(20)}
    good = lambda texts: np.array([[np.cos(knows[t]), np.sin(knows[t])] for t in texts], np.float32)  # noqa: E731
    bad = encoder(0, 5)
    dev = pd.DataFrame({"id": map(str, range(20))}).assign(
        text=[f"text {n}" for n in range(20)], pivot=[f"pivot {n}" for n in range(20)]
    )
    sets = {"hau": (dev, None), "swh": (dev[::-1].reset_index(drop=True), None)}
    candidates = [[1, 3], [1, 0], [5, 0], [1, 1]]
    weights, records = tune_weights(Task(protocol="bitext"), sets, [good, bad], [2, 5], candidates)
    assert weights == [1, 0]  # as good as [5, 0], and before it
    assert [record["weights"] for record in records] == candidates
    assert records[1]["score"] == records[2]["score"] == 1 > records[0]["score"]
    assert records[1]["by_language"] == {"hau": 1, "swh": 1}
    assert sorted(bad.asked) == sorted([*dev["text"], *dev["pivot"]] * 2)  # once in each language


def test_bitext_and_knn_are_scored_by_fused_distances_and_nothing_else_is() -> None:
    encodes, widths, weights = [encoder(1, 4), encoder(2, 6)], [4, 6], (1, 3)
    train = pd.DataFrame({"id": map(str, range(30)), "text": [f"train {n}" for n in range(30)]})
    train["label"] = [f"label {n % 3}" for n in range(30)]
    test = train.iloc[:12].assign(text=[f"test {n}" for n in range(12)])
    search, fused = search_by(widths, weights), side_by_side(encodes)
    found = score(Task(protocol="knn", k=[1, 5]), test, System(fused, search=search), train=train)
    queries, corpora = ([encode(list(table["text"])) for encode in encodes] for table in (test, train))
    expected = vote(train["label"].to_numpy()[brute_force(queries, corpora, weights, 5)])
    assert found.items["predicted_5"].tolist() == expected.tolist()
    graded = pd.DataFrame({"id": ["1"], "sentence1": ["a"], "sentence2": ["b"], "score": ["1"]})
    with pytest.raises(UserError, match=r"sts.*vectors.*distances alone"):
        score(Task(protocol="sts"), graded, System(fused, search=search))

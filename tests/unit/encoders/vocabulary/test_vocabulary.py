"""Rows of a new vocabulary: against loops in float64 and closed forms, and what each token's row is made of."""

from __future__ import annotations

import itertools
import logging
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import brentq

from seedbed.encoders.vocabulary import focus as focusing
from seedbed.encoders.vocabulary.focus import SORTED, focus, initialise, sparsemax
from seedbed.io import UserError
from tests.refusals import tells

SCORES = arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(1, 7)), elements=st.floats(-4, 4, width=32))


def draws(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def nearest(row: list[float]) -> list[float]:
    """The nearest point of the simplex by brute force: of all supports, the one whose point is a point of it."""
    best = (math.inf, row)
    for size in range(1, len(row) + 1):
        for support in itertools.combinations(range(len(row)), size):
            shift = (sum(row[place] for place in support) - 1) / size
            point = [row[place] - shift if place in support else 0.0 for place in range(len(row))]
            if min(point) >= 0:
                best = min(best, (sum((a - b) ** 2 for a, b in zip(row, point, strict=True)), point))
    return best[1]


def cosine(x: np.ndarray, y: np.ndarray) -> float:
    return (
        sum(a * b for a, b in zip(x, y, strict=True))
        / math.sqrt(sum(a * a for a in x))
        / math.sqrt(sum(b * b for b in y))
    )


@settings(max_examples=60, deadline=None)
@given(SCORES)
def test_sparsemax_is_the_nearest_point_of_the_simplex(scores):
    found = sparsemax(scores)
    assert found.dtype == np.float64 and found.shape == scores.shape
    assert (found >= 0).all() and found.sum(axis=1) == pytest.approx(1)
    for row, weights in zip(scores.tolist(), found, strict=True):
        assert list(weights) == pytest.approx(nearest(row), abs=1e-6)


@pytest.mark.parametrize(("spread", "many"), [(1e-5, True), (0.05, False), (3.0, False)])
def test_sparsemax_of_more_columns_than_are_sorted_first(spread, many):
    scores = np.random.default_rng(0).normal(scale=spread, size=(3, 3 * SORTED))
    weights = sparsemax(scores)
    for row, found in zip(scores, weights, strict=True):
        least, most = row.max() - 1, row.max()
        threshold = brentq(lambda t, row=row: np.maximum(row - t, 0).sum() - 1, least, most, xtol=1e-15)
        assert np.allclose(found, np.maximum(row - threshold, 0), rtol=0, atol=1e-12)
    assert ((weights > 0).sum(axis=1).min() > SORTED) == many


def test_sparsemax_by_hand():
    assert sparsemax(np.array([[0.0, 0, 0, 0], [0.3, 0.1, -5, 0], [9, 1, 2, 3]])).tolist() == [
        pytest.approx([0.25] * 4), pytest.approx([0.5, 0.3, 0, 0.2]), [1, 0, 0, 0],
    ]  # fmt: skip
    assert sparsemax(np.array([[1e15, 1e15 - 1]])).tolist() == [[1, 0]]


def test_a_row_is_the_sum_of_anchors_weighted_by_sparsemax_of_cosines(monkeypatch: pytest.MonkeyPatch):
    source, anchors, new = draws(6, 3), draws(6, 4, seed=1), draws(5, 4, seed=2)
    expected, counts = [], []
    for vector in new:
        weights = nearest([cosine(vector, anchor) for anchor in anchors])
        counts.append(sum(weight > 0 for weight in weights))
        expected.append([sum(w * row[axis] for w, row in zip(weights, source, strict=True)) for axis in range(3)])
    found, behind = focus(source, anchors, new)
    assert found == pytest.approx(np.array(expected), abs=1e-12) and behind.tolist() == counts
    for block in (1, 2, 5, 100):
        monkeypatch.setattr(focusing, "BLOCK", block)
        assert focus(source, anchors, new)[0] == pytest.approx(found, abs=1e-14)
    assert focus(source, 3 * anchors, 7 * new)[0] == pytest.approx(found, abs=1e-12)  # by angles alone
    assert focus(source, anchors, new[:0])[0].shape == (0, 3)


def test_a_new_token_with_one_anchor_near_it_has_its_row():
    """A cosine of 1 against others of 0 leaves them no weight: 1 - 0 >= 1."""
    assert focus(draws(3, 2), np.eye(3), 2 * np.eye(3))[0] == pytest.approx(draws(3, 2))


OLD = {"a": 0, "b": 1, "c": 2, "d": 4}
NEW = {"n": 0, "b": 1, "a": 2, "x": 3, "c": 4, "y": 5, "d": 6, "z": 7}
AUXILIARY = {
    "a": [1.0, 0],
    "b": [0.0, 1],
    "c": [0.0, 0],
    "n": [1.0, 1],
    "x": [0.0, 3],
    "y": [0.0, 0],
    "other": [9.0, 9],
}


def made(**options):
    source = draws(5, 3).astype(np.float32)
    auxiliary = {token: np.array(vector) for token, vector in AUXILIARY.items()}
    return source, *initialise(source, OLD, NEW, auxiliary, **{"seed": 3} | options)


def test_each_row_is_made_in_its_way():
    source, rows, counts = made()
    assert rows.dtype == np.float32
    for token in "abcd":  # to the bit, whatever its vector
        assert rows[NEW[token]].tobytes() == source[OLD[token]].tobytes()
    # Anchors are a and b: c's vector is zero, d has none. x points as b does; n lies between both.
    assert rows[NEW["x"]] == pytest.approx(source[1]) and rows[NEW["n"]] == pytest.approx(source[:2].mean(axis=0))
    drawn = np.random.default_rng(3).normal(source.mean(axis=0), source.std(axis=0), (2, 3))
    assert rows[[NEW["y"], NEW["z"]]] == pytest.approx(drawn)  # in the order of ids
    assert counts == {"copied": 4, "focus": 2, "pieces": 0, "random": 2, "anchors": 2, "median_anchors": 1.5}
    assert made()[1].tobytes() == rows.tobytes() != made(seed=4)[1].tobytes()


def test_a_token_without_a_vector_is_the_mean_of_its_pieces():
    source, rows, counts = made(pieces={"z": [0, 1, 4], "y": [], "n": [2], "a": [3]})
    assert rows[NEW["z"]] == pytest.approx(source[[0, 1, 4]].mean(axis=0)) and rows[NEW["a"]] == pytest.approx(
        source[0]
    )
    assert rows[NEW["n"]] == pytest.approx(source[:2].mean(axis=0))
    assert counts["pieces"] == 1 and counts["random"] == 1
    _, _, alone = made(pieces={"z": [0], "n": [2], "x": [2]}, seed=1)
    assert alone["focus"] == 2


def test_pieces_alone_need_no_vectors():
    source = draws(5, 3)
    rows, counts = initialise(source, OLD, NEW, {}, seed=0, pieces={token: [3] for token in NEW})
    assert counts == {"copied": 4, "focus": 0, "pieces": 4, "random": 0, "anchors": 0, "median_anchors": None}
    assert (rows[[0, 3, 5, 7]] == source[3]).all()


def test_rows_that_are_means_of_most_anchors_are_told(caplog):
    tokens = [f"t{place}" for place in range(20)]
    old, new = dict(zip(tokens[:10], range(10), strict=True)), dict(zip(tokens, range(20), strict=True))
    alike = {token: 100 + draws(8, seed=place) for place, token in enumerate(tokens)}  # all point one way
    with caplog.at_level(logging.WARNING, logger="seedbed.encoders.vocabulary.focus"):
        _, counts = initialise(draws(10, 4), old, new, alike, seed=0)
    assert counts["median_anchors"] == 10 and "a mean of 10 of 10 anchors (median)" in caplog.text
    caplog.clear()
    apart = {token: np.eye(10)[place % 10] for place, token in enumerate(tokens)}
    _, counts = initialise(draws(10, 4), old, new, apart, seed=0)
    assert counts["median_anchors"] == 1 and not caplog.text


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: initialise(draws(2, 2), {}, {"a": 1}, {}, seed=0), "ids of `new` ... 0 to 0"),
        (lambda: initialise(draws(2, 2), {}, {"a": 0, "b": 0}, {}, seed=0), "ids of `new` ... 0 to 1"),
        (lambda: initialise(draws(2, 2), {"a": 2}, {"a": 0}, {}, seed=0), "old has id 2 ... 2 rows"),
        (lambda: initialise(draws(2, 2), {}, {"a": 0}, {}, seed=0, pieces={"a": [-1]}), "pieces has id -1"),
        (lambda: initialise(draws(2), {}, {"a": 0}, {}, seed=0), "source of shape (2,)"),
        (lambda: initialise(draws(2, 2), {}, {"a": 0}, {"a": draws(2)}, seed=0), "no anchor for 1 new tokens"),
        (lambda: initialise(draws(2, 2), {}, {"a": 0, "b": 1}, {"a": draws(2), "b": draws(3)}, seed=0), "shapes (2,), (3,)"),
        (lambda: initialise(draws(2, 2), {}, {"a": 0}, {"a": np.array([np.nan])}, seed=0), "of 'a' is not finite"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line(call, message):
    with pytest.raises(UserError) as fault:
        call()
    assert tells(str(fault.value), message) and "\n" not in str(fault.value)

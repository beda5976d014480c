"""Alignment and uniformity against closed forms and scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from seedbed.evaluation import geometry
from seedbed.evaluation.geometry import alignment, uniformity
from seedbed.io import UserError


def embeddings(n: int = 40, d: int = 5, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d))


def unit(x: np.ndarray) -> np.ndarray:
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def test_alignment_of_equal_orthogonal_and_opposite_pairs() -> None:
    x = np.array([[1.0, 0], [1, 0], [1, 0]])
    y = np.array([[1.0, 0], [0, 1], [-1, 0]])
    assert alignment(x, y) == pytest.approx((0 + 2 + 4) / 3)
    assert alignment(x, y, alpha=1) == pytest.approx((0 + np.sqrt(2) + 2) / 3)


def test_alignment_is_two_minus_two_cosines() -> None:
    x, y = embeddings(seed=1), embeddings(seed=2)
    assert alignment(x, y) == pytest.approx(np.mean(2 - 2 * (unit(x) * unit(y)).sum(axis=1)))


@pytest.mark.parametrize("d", [2, 3, 8])
def test_uniformity_of_an_orthonormal_basis(d: int) -> None:
    assert uniformity(np.eye(d)) == pytest.approx(-2 * 2)  # every squared distance is 2


def test_uniformity_of_opposite_points_and_of_one_point() -> None:
    assert uniformity([[1, 0], [-1, 0]]) == pytest.approx(-2 * 4)
    assert uniformity(np.full((5, 3), 7.0)) == pytest.approx(0, abs=1e-12)


def test_uniformity_of_the_sphere() -> None:
    # On the sphere in three dimensions the cosine of two random points is uniform on [-1, 1].
    expected = np.log(np.exp(-4) * np.sinh(4) / 4)
    assert uniformity(embeddings(3000, 3)) == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("rows", [1, 7, 39, 40, 1024])
def test_uniformity_is_scipys_whatever_the_strip(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(geometry, "_ROWS", rows)
    x = embeddings()
    expected = np.log(np.mean(np.exp(-3 * pdist(unit(x), "sqeuclidean"))))
    assert uniformity(x, t=3) == pytest.approx(expected, rel=1e-12)


def test_uniformity_does_not_underflow() -> None:
    assert uniformity(np.eye(3), t=1e4) == pytest.approx(-2e4)


def test_lengths_do_not_matter() -> None:
    x, y = embeddings(seed=1), embeddings(seed=2)
    lengths = np.random.default_rng(3).uniform(0.1, 10, size=(len(x), 1))
    assert alignment(x * lengths, y) == pytest.approx(alignment(x, y))
    assert uniformity(x * lengths) == pytest.approx(uniformity(x))


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ([[1.0, 0], [0, 0]], "row 1 is a zero vector"),
        ([[1.0, 0], [np.nan, 0]], "row 1 holds NaN; "),
        ([[np.inf, -np.inf], [1, 0]], "row 0 holds infinity, or numbers too large for float64"),
        ([[1e308, 1e308], [1, 0]], "row 0 holds infinity, or numbers too large for float64"),
        ([1.0, 0], "shape"),
        (np.empty((0, 3)), "shape"),
        ([[1.0, 0]], "at least two"),
    ],
)
def test_bad_embeddings_are_named(x: np.ndarray, message: str) -> None:
    with pytest.raises(UserError, match=message):
        uniformity(x)


def test_pairs_need_equal_shapes() -> None:
    with pytest.raises(UserError, match="equal shapes"):
        alignment(embeddings(3), embeddings(4))

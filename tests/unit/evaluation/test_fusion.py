"""DistFuse against sums by hand."""

from __future__ import annotations

import numpy as np
import pytest

from seedbed.evaluation.fusion import fuse
from seedbed.io import UserError

RNG = np.random.default_rng(0)


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

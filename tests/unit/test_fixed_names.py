"""Names that code outside this project builds on: where they are, what they take, and a value of each."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
import torch

VECTORS = np.eye(3, dtype=np.float32)
ROWS = torch.eye(3)
STATE = {f"layer.lora_{side}.weight": torch.ones(2, 2) for side in "AB"}


@pytest.mark.parametrize(
    ("place", "given", "named", "value"),
    [
        ("encoders.losses.simcse", (ROWS, ROWS), {"temperature": 1.0}, np.log(1 + 2 / np.e)),
        ("encoders.losses.simcse", (ROWS, ROWS, ROWS), {"temperature": 1.0}, np.log(2 + 4 / np.e)),
        ("triplets.overlap.dice", ("The rain came", "the RAIN fell"), {}, 2 / 3),
        ("evaluation.geometry.alignment", (VECTORS, VECTORS[::-1]), {}, 4 / 3),
        ("evaluation.geometry.uniformity", (VECTORS,), {}, -4),
        ("evaluation.significance.williams", (0.5, 0.5, 0.2, 50), {}, (0, 1)),
        ("evaluation.significance.benjamini_hochberg", ([0.01, 0.04, 0.03],), {}, [0.03, 0.04, 0.04]),
        ("evaluation.bitext.f1_at_k", ([[0, 1], [0, 1]], [0, 1], 1), {}, {"f1": 1 / 3, "accuracy": 0.5}),
        ("evaluation.classification.vote", ([["a", "b", "b"], ["a", "b", "c"]],), {}, ["b", "a"]),
        ("evaluation.fusion.fuse", ([[[1.0, 2.0]], [[3.0, 5.0]]], [1, 0.5]), {}, [[2.5, 4.5]]),
        ("vectors.neighbours.nearest", (VECTORS[:1], VECTORS, 2), {"metric": "cosine"}, ([[1, 0]], [[0, 1]])),
        ("vectors.neighbours.nearest", (VECTORS[:1], VECTORS, 2), {"metric": "euclidean"}, ([[0, 2**0.5]], [[0, 1]])),
        ("vectors.neighbours.nearest", (VECTORS[:1], 2 * VECTORS, 1), {"metric": "dot"}, ([[2]], [[0]])),
    ],
)
def test_a_fixed_name_takes_and_gives_what_it_did(
    place: str, given: tuple[Any, ...], named: dict[str, Any], value: Any
) -> None:
    module, _, name = f"seedbed.{place}".rpartition(".")
    found = getattr(importlib.import_module(module), name)(*given, **named)
    if isinstance(value, dict):
        assert found == pytest.approx(value)
    elif isinstance(value, tuple):
        for one, other in zip(found, value, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6)
    elif isinstance(value, list) and isinstance(value[0], str):
        assert [*found] == value
    else:
        np.testing.assert_allclose(found, value, rtol=1e-6)


@pytest.mark.parametrize("space", ["factors", "product"])
def test_adapters_are_composed(space: str) -> None:
    compose = importlib.import_module("seedbed.generators.composition").compose
    found = compose(STATE, {name: 2 * x for name, x in STATE.items()}, STATE, scale=1.0, space=space)
    a, b = (found[f"layer.lora_{side}.weight"] for side in "AB")
    expected = {"factors": (2 * torch.ones(2, 2)) @ (2 * torch.ones(2, 2)), "product": 8 * torch.ones(2, 2)}
    torch.testing.assert_close(b @ a, expected[space])


def test_the_mean_of_first_and_last_layer_is_a_module() -> None:
    from sentence_transformers.base.modules import Module

    assert issubclass(importlib.import_module("seedbed.encoders.pooling").FirstLastAverage, Module)

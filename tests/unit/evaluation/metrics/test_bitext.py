"""Bitext F1@k against counts by hand and a plain loop."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seedbed.evaluation.bitext import f1_at_k
from seedbed.evaluation.scores import System
from seedbed.evaluation.scoring import score
from seedbed.evaluation.settings import Task
from seedbed.io import UserError
from seedbed.vectors.types import Encode


def weighted_f1(gold: list[int], predicted: list[int]) -> float:
    """Weighted F1 as it is defined, class by class."""
    total = 0.0
    for label in set(gold):
        support, claims = gold.count(label), predicted.count(label)
        right = sum(g == p == label for g, p in zip(gold, predicted, strict=True))
        total += support * 2 * right / (support + claims)
    return total / len(gold)


def test_f1_is_not_accuracy() -> None:
    # Queries 3 and 4 both predict sentence 0: its precision is 1/3 and its F1 1/2; classes 1 and 2 have F1 1.
    neighbours = [[0, 3], [1, 0], [2, 0], [0, 3], [0, 1]]
    assert f1_at_k(neighbours, range(5), 1) == pytest.approx({"f1": 2.5 / 5, "accuracy": 3 / 5})
    # Within two neighbours query 3 is right as well: classes 0 (precision 1/2), 1, 2 and 3.
    assert f1_at_k(neighbours, range(5), 2) == pytest.approx({"f1": (2 / 3 + 3) / 5, "accuracy": 4 / 5})


def test_perfect_and_hopeless() -> None:
    assert f1_at_k([[0], [1], [2]], [0, 1, 2], 1) == {"f1": 1.0, "accuracy": 1.0}
    assert f1_at_k([[1], [2], [0]], [0, 1, 2], 1) == {"f1": 0.0, "accuracy": 0.0}


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 30), st.integers(1, 30), st.integers(0, 10**6), st.data())
def test_agrees_with_a_loop(n: int, m: int, seed: int, data: st.DataObject) -> None:
    """Also where two queries share a translation, and where a sentence is nobody's."""
    rng = np.random.default_rng(seed)
    neighbours, gold = rng.permuted(np.tile(np.arange(m), (n, 1)), axis=1), rng.integers(m, size=n).tolist()
    k = data.draw(st.integers(1, m))
    predicted = [g if g in row[:k] else row[0] for g, row in zip(gold, neighbours.tolist(), strict=True)]
    found = f1_at_k(neighbours, gold, k)
    assert found["f1"] == pytest.approx(weighted_f1(gold, predicted))
    assert found["accuracy"] == pytest.approx(np.mean(np.array(predicted) == gold))
    assert f1_at_k(neighbours, gold, m) == pytest.approx({"f1": 1, "accuracy": 1})


@pytest.mark.parametrize(
    ("neighbours", "gold", "k", "message"),
    [
        ([[0, 1]], [0], 3, "k is 3.* 2 neighbours"),
        ([[0, 1]], [0], 0, "k is 0"),
        ([[0, 1]], [0, 1], 1, "expected"),
        ([0, 1], [0, 1], 1, "expected"),
        (np.empty((0, 2)), [], 1, "expected"),
    ],
)
def test_what_does_not_fit_is_named(neighbours: list, gold: list, k: int, message: str) -> None:
    with pytest.raises(UserError, match=message):
        f1_at_k(neighbours, gold, k)


def planted(seed: int, n: int = 40) -> tuple[pd.DataFrame, Encode]:
    """Translations on a grid of few points, so that many are equally near, and some sentences that stand twice."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"id": [str(i) for i in range(n)]})
    table["text"] = [f"teks {i % (n - 3)}" for i in range(n)]
    table["pivot"] = [f"text {i}" for i in range(n)]
    places = {text: rng.integers(0, 3, size=3).astype(np.float32) for text in [*table["text"], *table["pivot"]]}
    return table, lambda texts: np.stack([places[text] for text in texts])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("distance", ["euclidean", "dot"])
def test_scores_are_those_of_a_plain_loop(seed: int, distance: str) -> None:
    test, encode = planted(seed)
    found = score(Task(protocol="bitext", distance=distance, k=[1, 5, 10]), test, System(encode))
    sides = {"forward": (test["text"], test["pivot"]), "backward": (test["pivot"], test["text"])}
    for way, (source, target) in sides.items():
        ranked = []
        for query in encode(list(source)).astype(float):
            cost = [
                np.linalg.norm(query - other) if distance == "euclidean" else -float(query @ other)
                for other in encode(list(target)).astype(float)
            ]
            ranked.append(sorted(range(len(test)), key=lambda place, cost=cost: (cost[place], place)))
        for k in (1, 5, 10):
            predicted = [place if place in order[:k] else order[0] for place, order in enumerate(ranked)]
            assert found.items[f"{way}_{k}"].tolist() == predicted
            assert found.metrics[f"{way}_f1_at_{k}"] == pytest.approx(weighted_f1(list(range(len(test))), predicted))
            hits = np.mean([place == guess for place, guess in enumerate(predicted)])
            assert found.metrics[f"{way}_accuracy_at_{k}"] == pytest.approx(hits)
    assert found.main == np.mean([found.metrics["forward_accuracy_at_1"], found.metrics["backward_accuracy_at_1"]])


def test_more_neighbours_than_pairs() -> None:
    test, encode = planted(0)
    with pytest.raises(UserError, match=r"bitext: k is 10, and more pairs .* the 8; set `k:`"):
        score(Task(protocol="bitext", k=[1, 10]), test[:8], System(encode))

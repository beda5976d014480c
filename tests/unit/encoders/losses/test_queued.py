"""The objectives `correlation` and `listwise`: their losses against loops, their queues, and what is told of bad data."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from torch import Tensor, nn

from seedbed.encoders import objectives
from seedbed.encoders.losses.lasr import CorrelationLoss, ListwiseLoss
from seedbed.encoders.settings import Training
from seedbed.encoders.training import batches, train
from seedbed.io import UserError
from tests import trainings
from tests.unit.encoders.losses.test_ranking import correlation_by_numpy, ndcg_by_loops, sigmoid

SETTINGS = Training(epochs=2, batch_size=3, learning_rate=1e-3, max_length=16, precision="float32", pooling="mean")
WIDTH = 6


class Given(nn.Module):
    """An encoder whose texts are vectors already."""

    def forward(self, features: dict[str, Tensor]) -> dict[str, Tensor]:
        return {"sentence_embedding": features["vectors"]}

    def get_embedding_dimension(self) -> int:
        return WIDTH


def made(kind: type, name: str, *data: Any, **settings: Any) -> Any:
    return kind(Given(), *data, **objectives.load(name, settings).model_dump()).double()


def drawn(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, WIDTH, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def columns(*vectors: Tensor) -> list[dict[str, Tensor]]:
    return [{"vectors": each} for each in vectors]


def cosine(x: Any, y: Any) -> float:
    x, y = np.asarray(x), np.asarray(y)
    return float(x @ y / np.linalg.norm(x) / np.linalg.norm(y))


def test_correlation_looks_at_the_batch_and_at_the_queue() -> None:
    scores = torch.tensor([0.0, 3, 1, 2, 5, 5, 4, 1, 2], dtype=torch.float64)
    loss = made(CorrelationLoss, "correlation", scores, queue_size=5, warm_up=4)
    kept: list[tuple[float, float]] = []
    for step in range(3):
        rows = torch.tensor([3 * step, 3 * step + 2, 3 * step + 1])
        one, two = drawn(step, 3).requires_grad_(), drawn(9 + step, 3)
        found = loss(columns(one, two), rows)
        new = [(cosine(a, b), scores[row].item()) for a, b, row in zip(one.detach(), two, rows, strict=True)]
        found.backward()
        if step:
            predicted, gold = zip(*kept, *new, strict=True)
            expected = correlation_by_numpy(predicted, gold, 0.5, 0.1)
            assert found.item() == pytest.approx(expected, rel=1e-9) and one.grad.any()
        else:
            assert found.item() == 0 and not one.grad.any(), "three pairs are fewer than the warm-up"
        loss.after_step()
        kept = [*kept, *new][-5:]
        np.testing.assert_allclose(loss.queue.vectors, kept)


def listwise_by_loops(lists: list[list[float]], gate: str) -> float:
    """Equation 42 with the defaults, but for k = 2 and gate; the own document's cosine comes first in each list."""
    total = 0.0
    for scores in lists:
        weights = [1.0] + [sigmoid((scores[0] - 0.2 - s) / 0.03) for s in scores[1:]]
        if gate == "none":
            weights = [1.0] * len(scores)
        relevance = [1] + [0] * (len(scores) - 1)
        gain = ndcg_by_loops(scores, relevance, weights, "discounts" if gate == "discounts" else "ranks", 2, 0.1, 0.5)
        negatives = [s for s, w in zip(scores, weights, strict=True) if gate != "ranks" or w >= 0.5][1:]
        hinge = max(0, 0.05 + max(negatives) - scores[0]) if negatives else 0
        moments = np.mean(scores) ** 2 + abs(np.var(scores) - 0.15)
        total += (1 - gain + 0.1 * hinge + 0.1 * moments) / len(lists)
    return total


QUERIES = [0, 1, 2, 0, 3, 4, 5, 6]
DOCUMENTS = [0, 1, 0, 2, 3, 1, 4, 5]
RELEVANT = [True, True, True, True, True, True, False, True]
"""Rows 0 and 2 share a document, rows 0 and 3 a query; row 6 is a document alone."""


@pytest.mark.parametrize("gate", ["ranks", "discounts", "none"])
@pytest.mark.parametrize("size", [0, 3, 20])
def test_listwise_is_the_papers_equations_on_the_nearest_others(gate: str, size: int) -> None:
    data = [torch.tensor(each) for each in (QUERIES, DOCUMENTS, RELEVANT)]
    loss = made(ListwiseLoss, "listwise", *data, queue_size=size, negatives=2, k=2, gate=gate)
    known = {(q, d) for q, d, yes in zip(QUERIES, DOCUMENTS, RELEVANT, strict=True) if yes}
    kept: list[tuple[int, Any]] = []
    for step, rows in enumerate([[0, 1, 2], [6, 3, 4], [5, 7, 0], [2, 6, 1]]):
        queries, documents = drawn(step, 3), drawn(9 + step, 3)
        new = [(DOCUMENTS[row], vector) for row, vector in zip(rows, documents, strict=True)]
        newest = dict([*kept, *new])
        lists = []
        for place, row in enumerate(rows):
            near = [cosine(queries[place], v) for d, v in newest.items() if (QUERIES[row], d) not in known]
            if RELEVANT[row] and near:
                lists.append([cosine(queries[place], documents[place]), *sorted(near, reverse=True)[:2]])
        found = loss(columns(queries, documents), torch.tensor(rows))
        assert found.item() == pytest.approx(listwise_by_loops(lists, gate), rel=1e-9)
        loss.after_step()
        kept = [*kept, *new][-size:] if size else []


def test_negatives_are_in_the_language_of_the_own_document() -> None:
    """In the batch and in the queue."""
    spoken = [0, 1, 0, 1, 1, 0, 1, 0]
    data = [torch.tensor(each) for each in (QUERIES, [0, 1, 6, 2, 3, 7, 4, 5], [True] * 8, spoken)]
    loss = made(ListwiseLoss, "listwise", *data, queue_size=5, negatives=3, k=2, gate="none")
    kept: list[tuple[int, int, Any]] = []
    for step, rows in enumerate([[0, 1, 2], [6, 3, 4], [5, 7, 0], [2, 6, 1]]):
        queries, documents = drawn(step, 3), drawn(9 + step, 3)
        new = [(data[1][row].item(), spoken[row], vector) for row, vector in zip(rows, documents, strict=True)]
        lists = []
        for place, row in enumerate(rows):
            known = {d.item() for q, d in zip(QUERIES, data[1], strict=True) if q == QUERIES[row]}
            newest = {d: v for d, language, v in [*kept, *new] if language == spoken[row] and d not in known}
            near = sorted((cosine(queries[place], v) for v in newest.values()), reverse=True)[:3]
            if near:
                lists.append([cosine(queries[place], documents[place]), *near])
        assert loss(columns(queries, documents), torch.tensor(rows)).item() == pytest.approx(
            listwise_by_loops(lists, "none"), rel=1e-9
        )
        loss.after_step()
        kept = [*kept, *new][-5:]


def test_data_of_several_languages_has_negatives_of_one() -> None:
    """What is in the queue of another language changes nothing; what is there of the own one does."""
    each = {
        code: pd.DataFrame({"id": list("abcdefgh")} | {name: [f"{code} {name} {row}" for row in "abcdefgh"] for name in ("query", "document")})
        for code in "xy"
    }  # fmt: skip
    table, _ = batches.lay_out(each, ["query", "document"], SETTINGS.updated({"epochs": 9}), 1)
    steps = {code: np.flatnonzero(table["query"].str.startswith(code)).reshape(-1, 3) for code in "xy"}
    objective = objectives.load("listwise", {"queue_size": 100})
    loss, fresh = (objective.loss(Given(), table, SETTINGS, {}).double() for _ in range(2))

    def step(of: ListwiseLoss, code: str, number: int) -> float:
        vectors = columns(drawn(number, 3), drawn(9 + number, 3))
        found = of(vectors, torch.from_numpy(steps[code][number])).item()
        of.after_step()
        return found

    step(loss, "x", 0), step(loss, "x", 1)
    assert step(loss, "y", 2) == step(fresh, "y", 2) and len(loss.queue.ids) == 9
    assert step(loss, "y", 3) == step(fresh, "y", 3)
    assert step(loss, "x", 4) != step(fresh, "x", 4)


def test_a_copy_of_the_own_document_in_the_queue_is_no_negative() -> None:
    """Nor is a copy of another document that is relevant to the query."""
    data = [torch.tensor(each) for each in ([0, 0, 1], [0, 1, 2], [True] * 3)]
    queries, documents = drawn(0, 3), drawn(1, 3)
    with_queue, without = (made(ListwiseLoss, "listwise", *data, queue_size=size) for size in (9, 0))
    with_queue.batch = nn.functional.normalize(documents[:2], dim=1), torch.tensor([0, 1])
    with_queue.after_step()
    rows = torch.tensor([0, 2])
    given = columns(queries[rows], documents[rows])
    seen: list[list[int]] = []
    for loss in (with_queue, without):
        of_lists = loss._of_lists
        loss._of_lists = lambda scores, of_lists=of_lists: seen.append(count(scores)) or of_lists(scores)
        loss(given, rows)
    assert seen == [[2, 3], [2, 2]], "the own document and others; to the other query each that is queued, once"


def count(scores: Tensor) -> list[int]:
    return (scores > -math.inf).sum(dim=1).tolist()


@pytest.mark.parametrize("name", ["correlation", "listwise"])
def test_under_autocast_cosines_are_not_rounded(name: str) -> None:
    rows = torch.arange(8)
    data = [rows.float()] if name == "correlation" else [rows, rows, rows >= 0]
    loss = made(CorrelationLoss if name == "correlation" else ListwiseLoss, name, *data).float()
    given = [x.float() for x in (drawn(0, 8), drawn(1, 8))]
    plain = loss(columns(*given), rows)
    with torch.autocast("cpu", torch.bfloat16):
        assert loss(columns(*given), rows).item() == pytest.approx(plain.item(), rel=1e-6)


def test_a_batch_without_any_negative_teaches_nothing() -> None:
    data = [torch.tensor(each) for each in ([0, 1, 2], [0, 0, 1], [True] * 3)]
    loss = made(ListwiseLoss, "listwise", *data)
    queries = drawn(0, 2).requires_grad_()
    found = loss(columns(queries, drawn(1, 2)), torch.tensor([0, 1]))
    found.backward()
    assert found.item() == 0 and not queries.grad.any()


def test_a_gated_negative_is_in_no_hinge() -> None:
    data = [torch.tensor(each) for each in ([0, 1], [0, 1], [True] * 2)]
    scores = torch.tensor([[0.5, 0.9, 0.1]], dtype=torch.float64)
    ours, printed = (
        made(ListwiseLoss, "listwise", *data, gate=gate, hinge_weight=1.0, moments_weight=0.0)._of_lists(scores)
        - made(ListwiseLoss, "listwise", *data, gate=gate, hinge_weight=0.0, moments_weight=0.0)._of_lists(scores)
        for gate in ("ranks", "discounts")
    )
    assert ours.item() == 0 and printed.item() == pytest.approx(0.05 + 0.9 - 0.5)


@pytest.fixture
def run(weights: Path, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    def run(name: str, table: pd.DataFrame, settings: dict[str, Any], **changes: Any) -> dict[str, Any]:
        places = {"output": tmp_path / "encoder", "state": tmp_path / "state", "minutes": 60, "prefix": "", "seed": 1}
        objective = objectives.load(name, settings)
        return trainings.train(weights, table, SETTINGS.updated(changes), objective=objective, **places)

    return run


@pytest.fixture
def pairs(sentences: list[str]) -> pd.DataFrame:
    scores = [str(number % 3) for number in range(8)]
    turned = sentences[1:] + sentences[:1]
    return pd.DataFrame({"id": list("abcdefgh"), "sentence1": sentences, "sentence2": turned, "score": scores})


@pytest.fixture
def queries(sentences: list[str]) -> pd.DataFrame:
    return pd.DataFrame({"id": list("abcdefgh"), "query": sentences[::-1], "document": sentences})


def test_both_learn_what_they_are_told(
    run: Callable[..., dict[str, Any]], pairs: pd.DataFrame, queries: pd.DataFrame
) -> None:
    long = {"epochs": 20, "batch_size": 2, "max_length": 64}
    for name, table in (("correlation", pairs), ("listwise", queries)):
        loss = run(name, table, {}, **long)["loss"]
        quarter = len(loss) // 4  # a mean, since a batch of two queries alone says little
        assert np.mean(loss[-quarter:]) < min(0.6 * np.mean(loss[:quarter]), 0.3), name


def test_one_row_at_a_time_learns_with_a_queue(run: Callable[..., dict[str, Any]], pairs: pd.DataFrame) -> None:
    loss = run("correlation", pairs, {"warm_up": 4}, batch_size=1)["loss"]
    assert loss[:3] == [0, 0, 0] and all(loss[3:])


@pytest.mark.parametrize(
    ("change", "settings", "batch", "told"),
    [
        ({"score": "2"}, {}, 3, "correlation: all 8 rows have the score 2; nothing correlates with it"),
        ({"score": "high"}, {}, 3, "correlation: score 'high' of row a is no number"),
        ({}, {"warm_up": 9}, 3, "correlation: 8 rows, fewer than the warm-up of 9; give more rows, or lower"),
        ({}, {"warm_up": 8, "queue_size": 2}, 3, "correlation.warm_up: 8, but batch and queue have 5 pairs at most"),
        ({}, {"queue_size": 0}, 1, "training.batch_size: 1 rows are too few for correlation; give 2"),
    ],
)
def test_scores_that_correlate_with_nothing(
    run: Callable[..., dict[str, Any]], pairs: pd.DataFrame, tmp_path: Path, change: Any, settings: Any, batch: int, told: str
) -> None:  # fmt: skip
    with pytest.raises(UserError) as error:
        run("correlation", pairs.assign(**change), settings, batch_size=batch)
    assert str(error.value).startswith(told) and "\n" not in str(error.value)
    assert not (tmp_path / "encoder").exists()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            {"document": "one"},
            "listwise: each query's documents are all that there are in their language, so that the queue",
        ),
        ({"query": ""}, "listwise: none of 8 rows has a query with a relevant document"),
        ({"relevance": "0"}, "listwise: none of 8 rows has a query with a relevant document"),
        ({"relevance": "yes"}, "listwise: relevance 'yes' of row a is no number"),
    ],
)
def test_queries_without_anything_to_learn(
    run: Callable[..., dict[str, Any]], queries: pd.DataFrame, tmp_path: Path, change: dict[str, str], told: str
) -> None:
    with pytest.raises(UserError) as error:
        run("listwise", queries.assign(**change), {})
    assert str(error.value).startswith(told) and "\n" not in str(error.value)
    assert not (tmp_path / "encoder").exists()


def test_another_relevance_is_another_training(queries: pd.DataFrame, tmp_path: Path) -> None:
    """Checkpoints of a training on other judgements are not gone on from."""
    listwise = objectives.load("listwise")
    tables = [queries, queries.assign(relevance="1"), queries.assign(relevance=["0", *"1111111"])]
    assert len({train.key_of(listwise, table, SETTINGS, "", 1, {}) for table in tables}) == 3

"""NeighXLM's objective: its parts, what it masks, its copy and queue, and that a killed training goes on from them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from sentence_transformers import SentenceTransformer
from torch import Tensor, nn

from seedbed.encoders import objectives
from seedbed.encoders.losses import neighbours
from seedbed.encoders.losses.contrastive import additive_margin, neighbour_contrast, queue_contrast
from seedbed.encoders.losses.neighbours import NeighbourLoss, same_texts
from seedbed.encoders.models import loading
from seedbed.encoders.settings import Training
from seedbed.encoders.training import train
from seedbed.io import UserError, read_json, sha256
from seedbed.trainers import STATE
from tests import trainings

SMALL = {"queue_size": 7, "projection": [8, 4], "momentum": 0.5}
SETTINGS = Training(
    epochs=2, batch_size=3, learning_rate=1e-3, max_length=16, precision="float32",
    pooling="last_weighted_train", layers=2,
)  # fmt: skip
"""Eight pairs: batches of 3, 3 and 2 in each of two epochs."""


@pytest.fixture
def rows(sentences: list[str]) -> pd.DataFrame:
    """Eight pairs with two neighbours each; the last pair shares its positive with the first."""
    turned = [text.upper() for text in sentences[1:] + sentences[:1]]
    table = pd.DataFrame({"id": list("abcdefgh"), "anchor": sentences, "positive": turned})
    near = {"neighbour_1": ["one", "one", *turned[:6]], "neighbour_2": turned[::-1]}
    table.loc[7, "positive"] = turned[0]
    return table.assign(**near)


@pytest.fixture
def encoder(weights: Path) -> SentenceTransformer:
    return loading.load(weights, pooling="last_weighted_train", layers=2)


@pytest.fixture
def make(encoder: SentenceTransformer, rows: pd.DataFrame) -> Callable[..., NeighbourLoss]:
    """The loss with some settings, its encoder without dropout."""

    def make(**settings: Any) -> NeighbourLoss:
        torch.manual_seed(0)
        loss = objectives.load("neighbours", SMALL | settings).loss(encoder, rows, SETTINGS, {})
        encoder.eval()
        return loss

    return make


def features(loss: NeighbourLoss, table: pd.DataFrame) -> list[dict[str, Any]]:
    names = (
        "anchor",
        "positive",
        *(f"neighbour_{rank + 1}" for rank in range(loss.ranks.shape[1] if loss.ranks.numel() else 0)),
    )
    return [loss.model.preprocess(table[name].tolist()) for name in names]


def projected(loss: NeighbourLoss, texts: pd.Series) -> Tensor:
    return loss.head(loss.model(loss.model.preprocess(texts.tolist()))["sentence_embedding"])


BATCH = [7, 2, 0]
QUEUE_IDS = [0, 2, 5, 1]
"""Of the queue in the tests of the parts: pairs 0 and 2 are in the batch, and pair 7 shares a text with 0."""


@torch.no_grad()
def test_hard_negatives_are_those_of_the_triplets(make: Callable[..., NeighbourLoss], rows: pd.DataFrame) -> None:
    rows["negative"] = rows["positive"].to_numpy()[::-1]
    loss, batch = make(neighbours=0, queue="none", negatives=True), rows.iloc[[2, 4]]
    names = ("anchor", "positive", "negative")
    vectors = [projected(loss, batch[name]) for name in names]
    expected = additive_margin(*vectors[:2], temperature=0.05, margin=0.3, negatives=vectors[2])
    found = loss([loss.model.preprocess(batch[name].tolist()) for name in names], torch.tensor([2, 4]))
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("k", [0, 1, 2])
@pytest.mark.parametrize("queue", ["anchors", "all", "none"])
@pytest.mark.parametrize(
    "more", [{}, {"mask_own": False, "queue_temperature": 1}, {"normalise": True, "temperature": 0.5, "margin": 0.1}]
)
@torch.no_grad()
def test_is_the_sum_of_its_parts(
    make: Callable[..., NeighbourLoss], rows: pd.DataFrame, k: int, queue: str, more: dict[str, Any]
) -> None:
    loss, batch = make(neighbours=k, queue=queue, **more), rows.iloc[BATCH]
    held = torch.randn(4, 4)
    if queue != "none":
        loss.queue.add(held, torch.tensor(QUEUE_IDS))
    t, mask = more.get("temperature", 0.05), more.get("mask_own", True)
    anchor, positive, *near = (
        projected(loss, batch[name]) for name in ("anchor", "positive", "neighbour_1", "neighbour_2")
    )
    near = near[:k]
    share = 1 / sum(1 / r for r in range(1, k + 1)) if more.get("normalise") and k else 1
    apart = torch.tensor([[True, True, False], [True, True, True], [False, True, True]])
    expected = additive_margin(
        anchor, positive, temperature=t, margin=more.get("margin", 0.3), keep=apart if mask else None
    )
    if k:
        ids = torch.tensor([[1, 8], [2, 9], [3, 10]])[:, :k]
        expected = expected + share * neighbour_contrast(
            anchor, torch.stack(near, 1), temperature=t, ids=ids, keep=apart if mask else None
        )
    keep = torch.tensor([[False, True, True, True], [True, False, True, True], [False, True, True, True]])
    options = {"temperature": more.get("queue_temperature", t), "keep": keep if mask else None}
    if queue != "none":
        expected = expected + queue_contrast(anchor, positive, held, **options)
    if queue == "all":
        expected = expected + queue_contrast(positive, anchor, held, **options)
        for rank, column in enumerate(near, start=1):
            expected = expected + share / rank * queue_contrast(column, anchor, held, **options)
    torch.testing.assert_close(loss(features(loss, batch), torch.tensor(BATCH)), expected, rtol=1e-5, atol=1e-5)


@torch.no_grad()
def test_equal_neighbours_of_a_rank_are_no_negatives(make: Callable[..., NeighbourLoss], rows: pd.DataFrame) -> None:
    loss, batch = make(neighbours=1, queue="none"), rows.iloc[:3]
    near = projected(loss, batch["neighbour_1"])
    anchor, positive = projected(loss, batch["anchor"]), projected(loss, batch["positive"])
    ids = torch.tensor([[0], [0], [1]])
    expected = additive_margin(anchor, positive, temperature=0.05, margin=0.3)
    expected = expected + neighbour_contrast(anchor, near[:, None], temperature=0.05, ids=ids)
    torch.testing.assert_close(loss(features(loss, batch), torch.arange(3)), expected, rtol=1e-5, atol=1e-5)


@torch.no_grad()
def test_pairs_of_a_batch_that_share_an_anchor_have_no_negatives_in_each_other(
    make: Callable[..., NeighbourLoss], rows: pd.DataFrame
) -> None:
    """A sentence with two translations: the neighbours of either are near it."""
    rows.loc[3, "anchor"], chosen = rows["anchor"][2], [2, 3, 5]
    loss, batch = make(neighbours=2, queue="none"), rows.iloc[[2, 3, 5]]
    names = ("anchor", "positive", "neighbour_1", "neighbour_2")
    anchor, *others = (torch.nn.functional.normalize(projected(loss, batch[name])).numpy() for name in names)
    expected = 0.0
    for column, margin, weight in zip(others, (0.3, 0, 0), (1, 1, 1 / 2), strict=True):
        scores = np.exp((anchor @ column.T - margin * np.eye(3)) / 0.05)
        for i in range(3):
            rivals = [j for j in range(3) if j == i or {i, j} != {0, 1}]
            expected -= weight * np.log(scores[i, i] / scores[i, rivals].sum()) / 3
            expected -= weight * np.log(scores[i, i] / scores[rivals, i].sum()) / 3
    found = loss(features(loss, batch), torch.tensor(chosen))
    assert found.item() == pytest.approx(expected, rel=1e-4)


@torch.no_grad()
def test_an_empty_queue_adds_nothing(make: Callable[..., NeighbourLoss], rows: pd.DataFrame) -> None:
    """Nor does it with all against it, whatever the temperature."""
    without = make(queue="none")
    given = features(without, rows), torch.arange(8)
    expected = without([dict(column) for column in given[0]], given[1])
    for settings in ({}, {"queue": "all"}, {"queue_temperature": 1}):
        torch.testing.assert_close(make(**settings)([dict(column) for column in given[0]], given[1]), expected)


def test_a_step_moves_the_copy_then_enqueues_what_it_makes(
    make: Callable[..., NeighbourLoss], rows: pd.DataFrame
) -> None:
    loss, batch = make(neighbours=1, momentum=0.75), rows.iloc[BATCH]
    start = {name: weight.clone() for name, weight in loss.slow.copy.named_parameters()}
    loss.train()
    loss(features(loss, batch), torch.tensor(BATCH)).backward()
    torch.optim.SGD([weight for weight in loss.parameters() if weight.requires_grad], lr=0.1).step()
    now = dict(nn.ModuleList([loss.model, loss.head]).named_parameters())
    loss.after_step()
    for name, weight in loss.slow.copy.named_parameters():
        torch.testing.assert_close(weight, 0.75 * start[name] + 0.25 * now[name])
        assert not weight.requires_grad and weight.dtype == torch.float32
    assert any((now[name] != start[name]).any() for name in start)
    encoder, head = loss.slow.copy
    assert not any(module.training for module in loss.slow.modules()) and loss.model.training
    with torch.no_grad():
        expected = [
            head(encoder(loss.model.preprocess(batch[name].tolist()))["sentence_embedding"])
            for name in ("anchor", "positive")
        ]
    torch.testing.assert_close(loss.queue.vectors, torch.cat(expected), rtol=1e-5, atol=1e-6)
    assert loss.queue.ids.tolist() == BATCH * 2


@torch.no_grad()
def test_pairs_with_a_text_in_common_are_no_negatives_whichever_side_it_is_on(
    encoder: SentenceTransformer, sentences: list[str]
) -> None:
    """Of consecutive sentences each is the positive of one pair and the anchor of the next, and no more is masked."""
    table = pd.DataFrame({"id": list("abcd"), "anchor": sentences[:4], "positive": sentences[1:5]})
    table["neighbour_1"] = sentences[4:8]
    torch.manual_seed(0)
    loss = objectives.load("neighbours", SMALL | {"neighbours": 1}).loss(encoder.eval(), table, SETTINGS, {})
    held, queued = torch.randn(3, 4), torch.tensor([3, 0, 1])
    loss.queue.add(held, queued)
    anchor, positive, near = (projected(loss, table[name]) for name in ("anchor", "positive", "neighbour_1"))
    keep = (torch.arange(4)[:, None] - torch.arange(4)).abs() > 1
    expected = additive_margin(anchor, positive, temperature=0.05, margin=0.3, keep=keep)
    expected += neighbour_contrast(anchor, near[:, None], temperature=0.05, ids=torch.arange(4)[:, None], keep=keep)
    expected += queue_contrast(anchor, positive, held, temperature=0.05, keep=keep[:, queued])
    torch.testing.assert_close(loss(features(loss, table), torch.arange(4)), expected, rtol=1e-5, atol=1e-5)


def test_equal_texts_have_equal_numbers() -> None:
    assert same_texts([["a", "b"], ["b", "c"]]).tolist() == [[0, 1], [1, 2]]
    assert same_texts([]).shape == (0,)


@pytest.fixture
def run(weights: Path, rows: pd.DataFrame, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Train into `tmp_path / name`; a checkpoint after each step."""

    def run(name: str, table: pd.DataFrame = rows, **settings: Any) -> dict[str, Any]:
        objective = objectives.load("neighbours", SMALL | {"neighbours": 2} | settings)
        return trainings.train(
            weights, table, SETTINGS, objective=objective, prefix="query: ", seed=1, minutes=0,
            output=tmp_path / name, state=tmp_path / "state",
        )  # fmt: skip

    return run


@pytest.mark.parametrize("queue_size", [6, 12, 100])
def test_masked_entries_of_two_epochs_are_counted_by_hand(
    run: Callable[..., dict[str, Any]], rows: pd.DataFrame, monkeypatch: pytest.MonkeyPatch, queue_size: int
) -> None:
    """Each step: rows of the batch times vectors in the queue of a pair with a text in common, from the order of rows."""
    masked, batches = [], []

    def counting(*args: Tensor, keep: Tensor, **options: Any) -> Tensor:
        masked.append(int((~keep).sum()))
        return queue_contrast(*args, keep=keep, **options)

    def noting(loss: NeighbourLoss, given: Any, numbers: Tensor) -> Tensor:
        batches.append(numbers.tolist())
        return forward(loss, given, numbers)

    forward = NeighbourLoss.forward
    monkeypatch.setattr(neighbours, "queue_contrast", counting)
    monkeypatch.setattr(NeighbourLoss, "forward", noting)
    run(f"counted-{queue_size}", queue_size=queue_size)

    assert [len(batch) for batch in batches] == [3, 3, 2, 3, 3, 2]
    assert all(sorted(chain(*epoch)) == [*range(8)] for epoch in (batches[:3], batches[3:]))
    queue: list[int] = []
    expected = []
    for batch in batches:
        alike = [one == other or {one, other} == {0, 7} for one in batch for other in queue]
        expected.append(sum(alike))
        queue = [*queue, *batch, *batch][-queue_size:]
    assert masked == expected and sum(expected) > (0 if queue_size == 6 else 8)
    if queue_size == 100:
        # In the second epoch each pair meets both of its vectors, and rows 0 and 7 those of the other as well.
        in_first = [batch for batch in batches[:3] if {0, 7} <= {*batch}]
        in_second = [batch for batch in batches[3:] if {0, 7} <= {*batch}]
        twins = (0 if in_first else 2) + 4 + (0 if in_second else 2)
        assert sum(masked) == 8 * 2 + twins


def test_killed_between_checkpoints_it_ends_with_the_same_bytes(
    run: Callable[..., dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Encoder, loss curve, and in the last checkpoint head, layer weights, copy and queue; killed two steps after it."""

    def save(trainer: Any, *args: Any) -> None:
        step = trainer.state.global_step
        if step != 5 and kill is not None and step > kill[0]:
            return
        saving(trainer, *args)
        if step == 5:
            folder = Path(trainer.args.output_dir, "checkpoint-5")
            states.append({str(path.relative_to(folder)): sha256(path) for path in folder.rglob("*.safetensors")})

    def forward(loss: NeighbourLoss, given: Any, numbers: Tensor) -> Tensor:
        steps.append(1)
        if kill is not None and len(steps) == kill[1]:
            raise KeyboardInterrupt
        return stepping(loss, given, numbers)

    states: list[dict[str, str]] = []
    steps: list[int] = []
    kill: tuple[int, int] | None = None
    saving, stepping = train._Trainer._save_checkpoint, NeighbourLoss.forward
    monkeypatch.setattr(train._Trainer, "_save_checkpoint", save)
    monkeypatch.setattr(NeighbourLoss, "forward", forward)
    unbroken = run("unbroken")
    steps.clear()
    kill = (2, 5)  # the last checkpoint is of the second step, and the fifth never ends
    with pytest.raises(KeyboardInterrupt):
        run("resumed")
    kill = None
    assert run("resumed") == unbroken
    assert len(steps) == 5 + 4, "it began anew"
    assert sha256(tmp_path / "resumed") == sha256(tmp_path / "unbroken")
    first, second = states
    assert first == second and STATE in first


def test_the_saved_encoder_pools_the_last_layers_and_has_no_head(
    run: Callable[..., dict[str, Any]], tmp_path: Path, sentences: list[str]
) -> None:
    result = run("saved")
    assert sum(result["layer_weights"]) == pytest.approx(1) and result["layer_weights"] != [0.5, 0.5]
    kinds = [module["type"].rpartition(".")[2] for module in read_json(tmp_path / "saved" / "modules.json")]
    assert kinds == ["Transformer", "WeightedLayerPooling", "Pooling"]
    encoder = loading.open_encoder(tmp_path / "saved")
    plain = loading.load(tmp_path / "saved", pooling="last_two_average", prefix="query: ")
    np.testing.assert_allclose(encoder.encode(sentences), plain.encode(sentences), atol=1e-6)


def test_anchors_come_near_positives_and_neighbours(weights: Path, sentences: list[str], tmp_path: Path) -> None:
    near = [f"{sentence} Leo." for sentence in sentences[4:]]
    table = pd.DataFrame({"id": list("abcd"), "anchor": sentences[:4], "positive": sentences[4:], "neighbour_1": near})
    settings = SETTINGS.updated({"epochs": 40, "batch_size": 4, "learning_rate": 3e-3})
    objective = objectives.load("neighbours", {"neighbours": 1, "queue_size": 8, "projection": [32, 16]})
    trainings.train(
        weights, table, settings, objective=objective, prefix="", seed=1, minutes=60,
        output=tmp_path / "learnt", state=tmp_path / "state",
    )  # fmt: skip
    learnt, before = loading.open_encoder(tmp_path / "learnt"), loading.load(weights, pooling="last_two_average")
    for column in ("positive", "neighbour_1"):
        gaps = []
        for encoder in (before, learnt):
            one, two = (encoder.encode(table[name].tolist(), normalize_embeddings=True) for name in ("anchor", column))
            own = (one * two).sum(1)
            gaps.append((own - ((one @ two.T).sum(1) - own) / 3).mean())
        assert gaps[1] > gaps[0] + 0.1, (column, gaps)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"margin": -0.1}, "objective.neighbours.margin: Input should be greater than or equal to 0"),
        ({"margin": 2}, "objective.neighbours.margin: Input should be less than 2"),
        ({"momentum": 1}, "objective.neighbours.momentum: Input should be less than 1"),
        ({"projection": [512, 0]}, "objective.neighbours.projection.1: Input should be greater than 0"),
        ({"projection": [512]}, "objective.neighbours.projection.1: Field required"),
        ({"queue": "some"}, "objective.neighbours.queue: Input should be 'anchors', 'all' or 'none'"),
        ({"neighbors": 2}, "objective.neighbours.neighbors: unknown key; did you mean 'neighbours'?"),
    ],
)
def test_settings_out_of_range(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(UserError) as error:
        objectives.load("neighbours", settings)
    assert str(error.value).startswith(told) and "\n" not in str(error.value)


def test_a_queue_smaller_than_a_batch_is_no_fit_before_anything_is_trained() -> None:
    for settings, fits in (
        ({"queue_size": 5}, False),
        ({"queue_size": 6}, True),
        ({"queue_size": 5, "queue": "none"}, True),
    ):
        assert (not objectives.load("neighbours", settings).misfit(SETTINGS)) is fits, settings


def test_data_that_does_not_fit(run: Callable[..., dict[str, Any]], rows: pd.DataFrame, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^neighbours:.*neighbour_3.*id, anchor"):
        run("more", neighbours=3)
    with pytest.raises(UserError, match="^neighbours: both sides of row b"):
        run("same", rows.assign(positive=rows["positive"].where(rows["id"] != "b", rows["anchor"])))
    with pytest.raises(UserError, match=r"^training.batch_size: .*6 .* 5; give 2 or fewer, or `queue_size: 6`"):
        run("small", queue_size=5)
    assert not {"more", "same", "small"} & {path.name for path in tmp_path.iterdir()}

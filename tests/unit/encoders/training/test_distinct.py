"""Batches without equal texts: which rows they have, how many there are, and what a training says that it read."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
import torch
from datasets import Dataset

from seedbed.encoders import objectives
from seedbed.encoders.training.distinct import DistinctBatches
from seedbed.io import UserError
from tests import tiny
from tests.steps import STEPS
from tests.trainings import train


def rows(count: int, equal: int) -> dict[str, list[str]]:
    """Pairs, of which the first `equal` have one positive."""
    return {
        "anchor": [f"anchor {row}" for row in range(count)],
        "positive": ["the same" if row < equal else f"positive {row}" for row in range(count)],
    }


def batches(count: int, equal: int, size: int, least: int = 2) -> DistinctBatches:
    generator = torch.Generator()
    return DistinctBatches(
        Dataset.from_dict(rows(count, equal)),
        batch_size=size,
        drop_last=False,
        least=least,
        generator=generator,
        seed=1,
    )


@pytest.mark.parametrize(("count", "equal", "size"), [(300, 3, 64), (300, 30, 64), (300, 60, 64), (20, 12, 4)])
def test_no_batch_is_too_small_and_none_is_announced_that_does_not_come(count: int, equal: int, size: int) -> None:
    sampler = batches(count, equal, size, least=2)
    found = [*sampler]
    assert len(found) == len(sampler)
    assert all(2 <= len(batch) <= size and sum(row < equal for row in batch) <= 1 for batch in found)
    read = [row for batch in found for row in batch]
    assert len({*read}) == len(read), "no row twice in an epoch"
    assert {*range(equal, count)} <= {*read}, "only rows with the text of others are left out"


def test_where_texts_can_be_spread_every_row_is_read_once() -> None:
    assert sorted(row for batch in batches(300, 3, 64) for row in batch) == [*range(300)]


def test_each_epoch_has_another_order_and_as_many_batches_as_the_first() -> None:
    sampler, epochs = batches(60, 9, 8), []
    for epoch in range(6):
        sampler.set_epoch(epoch)
        epochs.append([*sampler])
    assert {len(one) for one in epochs} == {len(sampler)}
    assert epochs[0] != epochs[1]


@pytest.mark.parametrize("steps", [1, 3, 11])
def test_the_rows_read_are_those_of_the_steps(steps: int) -> None:
    sampler, order = batches(20, 12, 4), []
    for epoch in range(4):
        sampler.set_epoch(epoch)
        order += [*sampler]
    assert batches(20, 12, 4).rows_read(steps) == {row for batch in order[:steps] for row in batch}


def test_no_batch_at_all_is_refused() -> None:
    with pytest.raises(UserError, match=r"^training.distinct: no 2 rows without a text in common"):
        batches(8, 8, 4)


def test_a_training_says_how_many_rows_it_read(weights: Path, tmp_path: Path) -> None:
    texts = tiny.sentences("hau", 20)
    table = pd.DataFrame({"id": map(str, range(20)), "anchor": texts, "positive": texts[:1] * 12 + texts[12:]})
    options = {"prefix": "", "seed": 1, "output": tmp_path / "out", "state": tmp_path / "state", "minutes": 60}
    settings = STEPS.updated({"steps": None, "epochs": 1, "batch_size": 4, "distinct": True})
    said = train(weights, table, settings, objective=objectives.load("ranking"), **options)
    assert said["examples"] == 20 and 8 <= said["examples_read"] < 20
    assert min(said["loss"]) > 0, "a batch of one row has nothing to tell it from"

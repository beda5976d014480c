"""A batch that cannot fit is refused with one that fits, and nothing that runs is."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch

from seedbed.encoders import objectives
from seedbed.encoders.models import loading, memory
from seedbed.encoders.settings import Training
from seedbed.io import UserError
from tests.trainings import train

TEXTS = {name: ["Kasuwa ta cika da mutane yau."] * 600 for name in ("anchor", "positive")}


@pytest.fixture
def encoder(weights: Path) -> Any:
    return loading.load(weights, pooling="mean", prefix="", seed=1)


def has(monkeypatch: pytest.MonkeyPatch, megabytes: float) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(memory, "machine_bytes", lambda: int(megabytes * 2**20))


@pytest.mark.parametrize("architecture", ["bert", "xlm-roberta", "modernbert"])
def test_the_estimate_is_below_what_training_keeps(make_weights: Callable[..., Path], architecture: str) -> None:
    """Counted: the distinct tensors that one forward pass saves for backpropagation, but for the weights."""
    encoder = loading.load(make_weights(architecture), pooling="mean", prefix="", seed=1).train()
    own = {weight.untyped_storage().data_ptr() for weight in encoder.parameters()}
    kept: dict[int, torch.UntypedStorage] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.untyped_storage().data_ptr() not in own:
            kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage()
        return tensor

    batch = encoder.tokenize(["Kasuwa ta cika da mutane yau da safe."] * 64)
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        encoder(batch)
    _, token = memory.least_bytes(encoder, half=False)
    counted = sum(storage.nbytes() for storage in kept.values()) / batch["input_ids"].numel()
    assert 0.3 * counted < token < counted


def test_a_batch_that_cannot_fit_is_refused_and_the_one_that_is_offered_is_not(
    encoder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    has(monkeypatch, 12)
    with pytest.raises(UserError, match=r"^training.batch_size: 512 rows.*no GPU; set") as error:
        memory.require_fit(encoder, TEXTS, Training(), "")
    offered = int(re.search(r"batch_size to (\d+)$", str(error.value))[1])
    assert 2 <= offered < 512
    memory.require_fit(encoder, TEXTS, Training(batch_size=offered), "")
    memory.require_fit(encoder, {name: texts[:offered] for name, texts in TEXTS.items()}, Training(), "")


def test_a_training_that_needs_whole_batches_asks_before_its_first_step(
    make_weights: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    has(monkeypatch, 12)
    texts = [f"{text} {row}" for row, text in enumerate(TEXTS["anchor"])]
    table = pd.DataFrame({"id": map(str, range(600)), "text": texts})
    places = {"output": tmp_path / "encoder", "state": tmp_path / "state", "minutes": 60}
    settings = Training(pooling="mean", precision="float32", mlm_weight=0.1)
    weights = make_weights("bert", head=True)
    with pytest.raises(UserError, match=r"^training.batch_size: 512 rows"):
        train(weights, table, settings, objective=objectives.load("contrast"), prefix="", seed=1, **places)
    assert not (tmp_path / "encoder").exists()


def test_as_many_texts_at_once_as_fit(encoder: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert memory.texts_at_once(encoder, TEXTS, Training(), "") == 0, "all of them"
    assert memory.texts_at_once(encoder, TEXTS, Training(mini_batch=7), "") == 7, "whatever there is"
    has(monkeypatch, 12)
    found = memory.texts_at_once(encoder, TEXTS, Training(), "")
    assert 2 <= found < 512 and found & (found - 1) == 0
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: ((12 * 2**20), 2**40))
    assert 0 < memory.texts_at_once(encoder, TEXTS, Training(), "") < found, "a GPU does not swap"
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (2**40, 2**40))
    assert memory.texts_at_once(encoder, TEXTS, Training(), "") == 0


def test_weights_that_do_not_fit_are_no_matter_of_the_batch(encoder: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    has(monkeypatch, 0.1)
    with pytest.raises(UserError, match=r"freeze_word_embeddings.*max_length.*backbone"):
        memory.require_fit(encoder, TEXTS, Training(batch_size=2), "")


def test_frozen_weights_and_half_precision_take_less(encoder: Any) -> None:
    weights, token = memory.least_bytes(encoder, half=False)
    encoder[0].auto_model.get_input_embeddings().requires_grad_(False)
    assert memory.least_bytes(encoder, half=True) == (pytest.approx(weights, rel=0.5), token / 2)
    assert memory.least_bytes(encoder, half=True)[0] < weights


def test_a_gpu_and_this_machine_are_not_refused(encoder: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.require_fit(encoder, TEXTS, Training(), "")
    has(monkeypatch, 0.1)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    memory.require_fit(encoder, TEXTS, Training(), "")


def test_a_container_has_what_it_is_given(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    whole = memory.machine_bytes()
    monkeypatch.setattr(memory, "CGROUP", tmp_path / "memory.max")
    for text, expected in (("max\n", whole), (f"{10**15}", whole), ("0", whole - memory.psutil.virtual_memory().total)):
        (tmp_path / "memory.max").write_text(text)
        assert memory.machine_bytes() == expected

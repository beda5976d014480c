"""A batch that is encoded in parts: the loss and the weights of the whole batch, and less memory."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch
from safetensors.torch import load_file

from seedbed.encoders import objectives
from seedbed.encoders.models import loading, memory
from seedbed.encoders.settings import Training
from seedbed.encoders.training.chunks import in_chunks
from seedbed.io import UserError
from tests import tiny
from tests.steps import STEPS
from tests.trainings import train

ROWS = 24


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.backbone(tmp_path_factory.mktemp("weights"))


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    columns = {"anchor": 0, "positive": 1, "negative": 2, "sentence1": 3, "sentence2": 4}
    texts = {name: tiny.sentences("hau", ROWS, seed) for name, seed in columns.items()}
    return pd.DataFrame({"id": map(str, range(ROWS)), **texts, "score": [str(row % 5) for row in range(ROWS)]})


def made(weights: Path, table: pd.DataFrame, place: Path, name: str, **changes: Any) -> tuple[dict, dict]:
    """What training said, and the weights."""
    reads = {"graded": ["sentence1", "sentence2", "score"]}.get(name, ["anchor", "positive", "negative"])
    options = {"prefix": "", "seed": 1, "output": place, "state": place.with_name("state"), "minutes": 60}
    objective = objectives.load(name)
    said = train(weights, table[["id", *reads]], STEPS.updated(changes), objective=objective, **options)
    return said, load_file(place / "model.safetensors")


@pytest.mark.parametrize("name", ["contrast", "ranking", "graded"])
def test_ten_steps_are_those_of_the_whole_batch(name, weights, table, tmp_path) -> None:
    said, whole = made(weights, table, tmp_path / "whole", name)
    again, parts = made(weights, table, tmp_path / "parts", name, mini_batch=5)
    assert again["loss"] == pytest.approx(said["loss"], rel=1e-6) and len(said["loss"]) == 10
    for key, weight in whole.items():
        torch.testing.assert_close(parts[key], weight, atol=1e-6, rtol=1e-5)


def test_a_part_is_encoded_twice_and_no_more_than_it_at_once(weights) -> None:
    encoder, seen = loading.load(weights, pooling="mean", dropout=0.1).train(), []
    encoder[0].register_forward_hook(lambda module, given, found: seen.append(len(given[0]["input_ids"])))
    features = encoder.tokenize(tiny.sentences("hau", ROWS))
    torch.manual_seed(3)
    with in_chunks(encoder, 10):
        vectors = encoder(features)["sentence_embedding"]
        assert seen == [10, 10, 4] and "forward" in encoder.__dict__
        vectors.square().sum().backward()
    assert sorted(seen) == [4, 4, 10, 10, 10, 10] and "forward" not in encoder.__dict__
    first = encoder[0].auto_model.get_input_embeddings().weight.grad.clone()
    encoder.zero_grad()
    torch.manual_seed(3)
    tensors = {name: value for name, value in features.items() if isinstance(value, torch.Tensor)}
    parts = [{name: value[start : start + 10] for name, value in tensors.items()} for start in (0, 10, 20)]
    torch.cat([encoder(part)["sentence_embedding"] for part in parts]).square().sum().backward()
    torch.testing.assert_close(first, encoder[0].auto_model.get_input_embeddings().weight.grad)


def test_what_is_kept_for_the_gradient_grows_with_a_part_alone(weights) -> None:
    def kept(texts: int, at_once: int) -> int:
        encoder, found = loading.load(weights, pooling="mean").train(), {}
        own = {weight.untyped_storage().data_ptr() for weight in encoder.parameters()}

        def keep(tensor: torch.Tensor) -> torch.Tensor:
            storage = tensor.untyped_storage()
            if storage.data_ptr() not in own:
                found[storage.data_ptr()] = storage
            return tensor

        features = encoder.tokenize(tiny.sentences("hau", texts))
        with in_chunks(encoder, at_once), torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
            vectors = encoder(features)["sentence_embedding"]
        return sum(storage.nbytes() for storage in found.values()) + vectors.nbytes

    assert kept(256, 16) < kept(256, 0) / 20


def test_activations_that_are_computed_again_change_nothing(weights, table, tmp_path) -> None:
    said, whole = made(weights, table, tmp_path / "whole", "contrast", dropout=0.1)
    again, less = made(weights, table, tmp_path / "less", "contrast", dropout=0.1, gradient_checkpointing=True)
    assert again["loss"] == pytest.approx(said["loss"], rel=1e-6)
    for key, weight in whole.items():
        torch.testing.assert_close(less[key], weight, atol=1e-6, rtol=1e-5)


def test_a_batch_that_does_not_fit_is_encoded_in_parts_that_do(weights, table, tmp_path, monkeypatch) -> None:
    """Never another batch: the loss is the same."""
    said, _ = made(weights, table, tmp_path / "whole", "contrast")
    encoder = loading.load(weights, pooling="mean", dropout=0.0)
    fixed, row = memory.least_bytes(encoder, half=False)
    few = int((fixed + 100 * row) / memory.GENEROUS)  # for a hundred tokens
    monkeypatch.setattr(memory, "machine_bytes", lambda: few)
    again, _ = made(weights, table, tmp_path / "parts", "contrast")
    assert 1 <= again["texts encoded at once"] < 36 and "texts encoded at once" not in said
    assert again["loss"] == pytest.approx(said["loss"], rel=1e-6)


def test_no_text_is_twice_in_a_batch(weights, table, tmp_path, monkeypatch) -> None:
    same = table.assign(positive=[f"Yara {row % 12} suna gida." for row in range(ROWS)])
    seen = []
    from seedbed.encoders.losses.contrastive import SimCSELoss

    forward = SimCSELoss.forward
    monkeypatch.setattr(
        SimCSELoss, "forward", lambda loss, features, rows: seen.append(rows.tolist()) or forward(loss, features, rows)
    )
    made(weights, same, tmp_path / "distinct", "contrast", distinct=True, steps=4)
    assert len(seen) == 4 and all(len({row % 12 for row in batch}) == len(batch) for batch in seen)
    seen.clear()
    made(weights, same, tmp_path / "any", "contrast", steps=4)
    assert any(len({row % 12 for row in batch}) < len(batch) for batch in seen)


def test_rows_without_a_negative_are_not_equal_for_that(weights, table, tmp_path, monkeypatch) -> None:
    few = table.assign(negative=[text if row < 3 else "" for row, text in enumerate(table["negative"])])
    seen = []
    from seedbed.encoders.losses.contrastive import SimCSELoss

    forward = SimCSELoss.forward
    monkeypatch.setattr(
        SimCSELoss, "forward", lambda loss, features, rows: seen.append(len(rows)) or forward(loss, features, rows)
    )
    said, _ = made(weights, few, tmp_path / "distinct", "ranking", distinct=True, steps=4)
    assert seen == [STEPS.batch_size] * 4 and min(said["loss"]) > 0


def test_rows_that_are_laid_out_by_language_cannot_be_distinct(weights, table, tmp_path) -> None:
    rows = table[["id", "anchor", "positive", "negative"]]
    options = {"prefix": "", "seed": 1, "output": tmp_path / "out", "state": tmp_path / "state", "minutes": 60}
    objective, settings = objectives.load("contrast"), STEPS.updated({"distinct": True})
    with pytest.raises(UserError, match=r"^training.distinct:.*set it to false$"):
        train(weights, {"hau": rows, "swh": rows}, settings, objective=objective, **options)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mini_batch": 4, "mlm_weight": 0.1}, "mini_batch: masked words"),
        ({"distinct": True, "batches": "sets"}, "distinct: .*batches: mixed"),
    ],
)
def test_what_does_not_fit_together_is_one_line(changes, message) -> None:
    with pytest.raises((UserError, ValueError), match=message):
        Training(**changes)

"""Input embeddings of an encoder whose other weights are not read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from sentence_transformers.sentence_transformer.modules import Normalize

from seedbed.encoders.models import loading, lookup
from seedbed.encoders.translations.policy import pooled_inputs
from seedbed.io import UserError, read_json, write_json
from tests import tiny

MODELS = {"bert": tiny.backbone, "mt5": tiny.encoder_decoder, "gemma": tiny.generator}
TEXTS = [*tiny.sentences("hau", 3), *(" ".join(tiny.sentences("eng", 40, seed)) for seed in (1, 2)), "Yara"]
"""Some are longer than the models read."""


def emptied(folder: Path) -> None:
    """Leave the table of input embeddings in a model's file, and nothing else."""
    for file in folder.rglob("*.safetensors"):
        kept = {name: one for name, one in load_file(file).items() if "embeddings.word" in name or "shared" in name}
        save_file(kept, file, {"format": "pt"})


@pytest.mark.parametrize("form", ["transformer", "encoder"])
@pytest.mark.parametrize("name", MODELS)
def test_they_are_those_of_the_whole_encoder(tmp_path: Path, name: str, form: str) -> None:
    folder = MODELS[name](tmp_path / "model")
    if form == "encoder":
        encoder = loading.load(folder, pooling="mean", prefix="query: ")
        encoder.max_seq_length = 17
        encoder.append(Normalize())
        encoder.save_pretrained(str(tmp_path / "encoder"))
        folder = tmp_path / "encoder"
    whole = pooled_inputs(loading.load(folder, pooling="own"), TEXTS, 3)
    found = lookup.lookup(folder)
    assert torch.equal(pooled_inputs(found, TEXTS, 3), whole)
    assert isinstance(found[0].auto_model, lookup.Table) == (name != "gemma"), "whose embeddings are scaled"


@pytest.mark.parametrize("name", ["bert", "mt5"])
def test_no_other_weight_is_read(tmp_path: Path, name: str) -> None:
    folder = MODELS[name](tmp_path / "model")
    whole = pooled_inputs(loading.load(folder, pooling="own"), TEXTS, 2)
    emptied(folder)
    with pytest.raises(UserError, match="lack"):
        loading.load(folder, pooling="own")
    found = lookup.lookup(folder)
    assert torch.equal(pooled_inputs(found, TEXTS, 2), whole)
    assert len([*found.parameters()]) == 1


def test_shards_are_looked_through(tmp_path: Path) -> None:
    folder = tiny.backbone(tmp_path / "model")
    whole = pooled_inputs(loading.load(folder, pooling="own"), TEXTS, 2)
    weights = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    names, index = sorted(weights), {}
    for place, part in enumerate((names[:9], names[9:]), start=1):
        file = f"model-0000{place}-of-00002.safetensors"
        save_file({name: weights[name] for name in part}, folder / file, {"format": "pt"})
        index |= dict.fromkeys(part, file)
    write_json({"metadata": {}, "weight_map": index}, folder / "model.safetensors.index.json")
    assert torch.equal(pooled_inputs(lookup.lookup(folder), TEXTS, 2), whole)


def test_a_table_of_another_name_or_shape_is_left_to_transformers(tmp_path: Path) -> None:
    folder = tiny.backbone(tmp_path / "model")
    write_json(read_json(folder / "config.json") | {"vocab_size": 77}, folder / "config.json")
    with pytest.raises(UserError, match="has the shape"):
        lookup.lookup(folder)
    with pytest.raises(UserError, match="no such directory"):
        lookup.lookup(tmp_path / "nowhere")


def test_the_make_of_weights_of_other_families(make_weights: Callable[..., Path]) -> None:
    for name in ("xlm-roberta", "modernbert"):
        folder = make_weights(name)
        whole = pooled_inputs(loading.load(folder, pooling="own"), TEXTS, 2)
        assert torch.equal(pooled_inputs(lookup.lookup(folder), TEXTS, 2), whole)

"""The first blocks of a model are a model of their own, whose output is the whole one's after as many blocks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from transformers import AutoModel, BertConfig, BertModel, DistilBertConfig, DistilBertModel, T5Config, T5EncoderModel

from seedbed.generators.weights.first_layers import keep_first_layers
from seedbed.io import UserError

SHAPE = {"vocab_size": 50, "hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 32}
TOKENS = torch.arange(24).reshape(3, 8)


@pytest.fixture
def whole(tmp_path: Path) -> BertModel:
    """Four blocks, saved in `tmp_path` as several files and the index that says where each weight is."""
    torch.manual_seed(0)
    model = BertModel(BertConfig(num_hidden_layers=4, **SHAPE)).eval()
    model.save_pretrained(tmp_path, max_shard_size="5KB")
    return model


@pytest.mark.parametrize("layers", [3, 4])
def test_its_output_is_the_whole_models_after_as_many_blocks(whole: BertModel, tmp_path: Path, layers: int) -> None:
    keep_first_layers(tmp_path, layers)
    model, found = AutoModel.from_pretrained(tmp_path, output_loading_info=True)
    assert model.config.num_hidden_layers == layers and not any(found.values()), "no weight is missing, none is left"
    with torch.no_grad():
        expected = whole(TOKENS, output_hidden_states=True).hidden_states[layers]
        torch.testing.assert_close(model.eval()(TOKENS).last_hidden_state, expected)


def test_the_index_names_the_weights_that_are_there_in_their_files(whole: BertModel, tmp_path: Path) -> None:
    keep_first_layers(tmp_path, 1)
    there = {}
    for file in tmp_path.glob("*.safetensors"):
        with safe_open(file, "pt") as weights:
            there |= dict.fromkeys(weights.keys(), file.name)
    assert len({*there.values()}) > 1
    assert json.loads((tmp_path / "model.safetensors.index.json").read_text())["weight_map"] == there


def test_more_blocks_than_there_are_are_refused(whole: BertModel, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="layers: 5"):
        keep_first_layers(tmp_path, 5)


def test_other_architectures_count_their_blocks_by_other_names(tmp_path: Path) -> None:
    torch.manual_seed(0)
    small = {"vocab_size": 50, "d_model": 16, "d_kv": 8, "d_ff": 32, "num_heads": 2}
    for name, model in {
        "n_layers": DistilBertModel(DistilBertConfig(vocab_size=50, dim=16, hidden_dim=32, n_heads=2, n_layers=3)),
        "num_layers": T5EncoderModel(T5Config(num_layers=3, **small)),
    }.items():
        model.eval().save_pretrained(tmp_path / name)
        keep_first_layers(tmp_path / name, 2)
        cut, found = type(model).from_pretrained(tmp_path / name, output_loading_info=True)
        assert getattr(cut.config, name) == 2 and not any(found.values())
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(UserError, match=r"layers:.*num_hidden_layers.*leave it out"):
        keep_first_layers(tmp_path, 2)

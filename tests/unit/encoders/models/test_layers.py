"""Token means of layers: against each block's own output, from one pass a text, and with the blocks above cut off."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer
from transformers import AutoModel, AutoTokenizer

from seedbed.encoders.export.save import save
from seedbed.encoders.models import loading
from seedbed.encoders.models.layers import first_layers, layer_means
from seedbed.io import UserError

ARCHITECTURES = ("bert", "xlm-roberta", "modernbert")


@pytest.fixture(params=ARCHITECTURES)
def directory(request: pytest.FixtureRequest, make_weights: Callable[..., Path]) -> Path:
    return make_weights(request.param)


@torch.no_grad()
def direct(directory: Path, texts: list[str]) -> np.ndarray:
    """One text at a time without padding, from what goes into the first block and comes out of each: (4, n, width)."""
    model, tokenizer = AutoModel.from_pretrained(directory).eval(), AutoTokenizer.from_pretrained(directory)
    given: list[torch.Tensor] = []
    blocks = model.encoder.layer if hasattr(model, "encoder") else model.layers
    blocks[0].register_forward_pre_hook(lambda module, args: given.append(args[0]))
    for block in blocks:
        block.register_forward_hook(lambda *args: given.append(args[-1] if torch.is_tensor(args[-1]) else args[-1][0]))
    rows = []
    for text in texts:
        given.clear()
        last = model(**tokenizer(text, return_tensors="pt")).last_hidden_state
        rows.append([states[0].mean(0).numpy() for states in (*given[:-1], last)])
    return np.array(rows).swapaxes(0, 1)


@pytest.mark.parametrize("batch_size", [1, 3, 32])
@pytest.mark.parametrize("prefix", ["", "a: "])
def test_each_layer_is_its_blocks_mean(directory: Path, sentences: list[str], batch_size: int, prefix: str) -> None:
    encoder = loading.load(directory, pooling="cls", prefix=prefix)
    found = layer_means(encoder, sentences, batch_size=batch_size)
    assert found.shape == (4, 8, 32) and found.dtype == np.float32
    np.testing.assert_allclose(found, direct(directory, [prefix + text for text in sentences]), atol=1e-6)


def test_layers_are_those_of_an_encoding_of_their_own(directory: Path, sentences: list[str]) -> None:
    found = layer_means(loading.load(directory, pooling="mean"), sentences)
    for layer in (1, 2, 3):
        alone = first_layers(loading.load(directory, pooling="mean", prefix=""), layer)
        np.testing.assert_allclose(alone.encode(sentences, batch_size=2), found[layer], atol=1e-6)


def test_one_pass_a_text_whatever_the_number_of_layers(weights: Path, sentences: list[str]) -> None:
    encoder, passes = loading.load(weights, pooling="mean"), []
    encoder[0].register_forward_pre_hook(lambda *args: passes.append(1))
    layer_means(encoder, sentences, batch_size=3)
    assert len(passes) == 3
    layer_means(encoder, sentences)
    assert len(passes) == 4


def test_blocks_above_a_layer_are_not_computed(directory: Path, sentences: list[str]) -> None:
    encoder = loading.load(directory, pooling="mean")
    model = encoder[0].auto_model
    blocks, ran = [*(model.encoder.layer if hasattr(model, "encoder") else model.layers)], []
    for place, block in enumerate(blocks, start=1):
        block.register_forward_hook(lambda *args, place=place: ran.append(place))
    first_layers(encoder, 2).encode(sentences, batch_size=8)
    assert ran == [1, 2]


@pytest.mark.parametrize("pooling", ["first_last_average", "last_two_average", "mean"])
def test_an_encoder_of_any_pooling_is_left_as_it_was(
    weights: Path, sentences: list[str], tmp_path: Path, pooling: Any
) -> None:
    save(loading.load(weights, pooling=pooling, prefix="query: "), tmp_path / "encoder", {}, {})
    encoder = loading.open_encoder(tmp_path / "encoder")
    before = encoder.encode(sentences)
    np.testing.assert_allclose(
        layer_means(encoder, sentences), direct(weights, [f"query: {text}" for text in sentences]), atol=1e-6
    )
    np.testing.assert_array_equal(encoder.encode(sentences), before)
    assert layer_means(encoder, []).shape == (4, 0, 32)


@pytest.mark.parametrize("layer", [-1, 0, 4])
def test_a_layer_that_the_backbone_lacks(weights: Path, layer: int) -> None:
    with pytest.raises(UserError, match=f"^layer {layer}: .*blocks 1 to 3"):
        first_layers(loading.load(weights, pooling="mean"), layer)


def test_a_backbone_without_hidden_states_is_told(weights: Path, sentences: list[str]) -> None:
    encoder = loading.load(weights, pooling="mean")
    forward = encoder[0].forward
    encoder[0].forward = lambda *args, **kwargs: {
        name: x for name, x in forward(*args, **kwargs).items() if name != "all_layer_embeddings"
    }
    with pytest.raises(UserError, match=r"^layers:.*backbone.*take another"):
        layer_means(SentenceTransformer(modules=[*encoder]), sentences)
    assert not encoder[0].auto_model.config.output_hidden_states

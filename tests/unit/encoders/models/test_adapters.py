"""Parallel adapters against a plain recomputation; what they change, what they leave, and where they can be opened."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformer
from torch import Tensor
from torch.nn.functional import layer_norm, softmax
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

from seedbed.encoders.models import loading
from seedbed.encoders.models.parallel_adapters import ADAPTERS, CODE, AdaptedTransformer, ParallelAdapter, add_adapters
from seedbed.io import UserError, sha256
from tests import warm
from tests.golden import parallel_adapters


@pytest.fixture
def base(weights: Path) -> SentenceTransformer:
    return loading.load(weights, pooling="mean", dropout=0.0)


def moved(encoder: SentenceTransformer, seed: int = 0, **options: Any) -> SentenceTransformer:
    """The encoder with adapters that are not fresh."""
    add_adapters(encoder, **{"reduction": 2, "scaling": 4.0, "seed": 0} | options)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in encoder[0].adapters.parameters():
            weight.copy_(torch.randn(weight.shape, generator=generator) * 0.05)
    return encoder


def plain(body: Any, adapters: Any, states: Tensor, scaling: float) -> Tensor:
    """A BERT's layers with ParBnConfig's adapters, from their matrices alone; states (batch, tokens, width)."""

    def linear(layer: Any, x: Tensor) -> Tensor:
        return x @ layer.weight.T + layer.bias

    def norm(layer: Any, x: Tensor) -> Tensor:
        return layer_norm(x, x.shape[-1:], layer.weight, layer.bias, layer.eps)

    for layer, adapter in zip(body.encoder.layer, adapters, strict=True):
        own, heads = layer.attention.self, body.config.num_attention_heads
        query, key, value = (
            linear(matrix, states).unflatten(-1, (heads, -1)).transpose(1, 2)
            for matrix in (own.query, own.key, own.value)
        )
        weights = softmax(query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5, dim=-1)
        context = (weights @ value).transpose(1, 2).flatten(-2)
        x = norm(layer.attention.output.LayerNorm, linear(layer.attention.output.dense, context) + states)
        inner = linear(layer.intermediate.dense, x)
        inner = inner * (1 + torch.erf(inner / 2**0.5)) / 2
        parallel = linear(adapter.up, linear(adapter.down, x).clamp(min=0)) * scaling
        states = norm(layer.output.LayerNorm, linear(layer.output.dense, inner) + parallel + x)
    return states


@pytest.mark.parametrize("architecture", ["bert", "xlm-roberta"])
@pytest.mark.parametrize(("reduction", "scaling"), [(2, 4.0), (5, 0.5)])
def test_outputs_and_gradients_are_those_of_the_equation(
    make_weights: Callable[..., Path], architecture: str, reduction: int, scaling: float
) -> None:
    encoder = moved(
        loading.load(make_weights(architecture), pooling="mean", dropout=0.0), reduction=reduction, scaling=scaling
    )
    encoder = encoder.double().train()
    body, adapters = encoder[0].auto_model, encoder[0].adapters
    ids = torch.randint(5, 50, (3, 7), generator=torch.Generator().manual_seed(1))
    given = encoder[0]({"input_ids": ids, "attention_mask": torch.ones_like(ids)})["token_embeddings"]
    expected = plain(body, adapters, body.embeddings(ids), scaling)
    assert torch.allclose(given, expected, rtol=0, atol=1e-12)
    weights = [*adapters.parameters(), body.embeddings.word_embeddings.weight]
    along = torch.randn(given.shape, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    ours, theirs = (torch.autograd.grad((states * along).sum(), weights) for states in (given, expected))
    assert all(gradient.abs().max() > 0.01 for gradient in ours)
    assert all(torch.allclose(a, b, rtol=0, atol=1e-10) for a, b in zip(ours, theirs, strict=True))


def test_outputs_and_gradients_are_those_of_the_library_adapters(
    tokenizer: PreTrainedTokenizerFast, tmp_path: Path
) -> None:
    golden = load_file(Path(parallel_adapters.__file__).with_suffix(".safetensors"))
    parts = {part: {} for part in ("model", "adapters", "gradients")}
    for name, tensor in golden.items():
        part, _, rest = name.partition(".")
        parts.get(part, {})[rest] = tensor
    model = BertModel(BertConfig(**parallel_adapters.CONFIG), add_pooling_layer=False)
    model.load_state_dict(parts["model"])
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    encoder = loading.load(tmp_path, pooling="mean", dropout=0.0)
    add_adapters(encoder)
    encoder[0].adapters.load_state_dict(parts["adapters"])
    ids = golden["ids"]
    given = encoder[0]({"input_ids": ids, "attention_mask": torch.ones_like(ids)})["token_embeddings"]
    assert torch.allclose(given, golden["output"], rtol=0, atol=1e-6)
    (given * torch.linspace(-1, 1, given.numel()).view_as(given)).sum().backward()
    for name, weight in encoder[0].adapters.named_parameters():
        assert torch.allclose(weight.grad, parts["gradients"][name], rtol=0, atol=1e-5), name


def test_a_fresh_adapter_is_drawn_as_the_library_draws_it() -> None:
    adapter = ParallelAdapter(768, seed=4)
    assert adapter.down.weight.shape == (384, 768) and adapter.up.weight.shape == (768, 384)
    assert sum(weight.numel() for weight in adapter.parameters()) == 590_976  # ParBnConfig at 768
    bound = 768**-0.5  # kaiming_uniform of slope a: sqrt(6 / ((1 + a^2) fan_in)), a = sqrt(5)
    assert 0.999 * bound < adapter.down.weight.abs().max() <= bound
    assert adapter.down.weight.std().item() == pytest.approx(bound / 3**0.5, rel=0.01)
    assert not any(zero.any() for zero in (adapter.down.bias, adapter.up.weight, adapter.up.bias))
    same, other = ParallelAdapter(768, seed=4), ParallelAdapter(768, seed=5)
    assert torch.equal(same.down.weight, adapter.down.weight) and not torch.equal(
        other.down.weight, adapter.down.weight
    )


def test_fresh_adapters_change_nothing_and_moved_ones_can_be_left_out(
    base: SentenceTransformer, sentences: list[str]
) -> None:
    before, names = base.encode(sentences), [name for name, _ in base[0].auto_model.named_parameters()]
    add_adapters(base, reduction=2, scaling=4.0, seed=0)
    assert np.array_equal(base.encode(sentences), before)
    first, second, _ = base[0].adapters
    assert not torch.equal(first.down.weight, second.down.weight)
    with torch.no_grad():
        second.up.weight.normal_(generator=torch.Generator().manual_seed(0))
    after = base.encode(sentences)
    assert np.abs(after - before).max() > 0.01
    assert np.array_equal(base.encode(sentences, aligned=False), before)
    assert np.array_equal(base.encode(sentences), after), "what was left out is there again"
    inputs = {
        name: value for name, value in base.preprocess(sentences).items() if name in ("input_ids", "attention_mask")
    }
    with torch.no_grad():
        expected = base[0](dict(inputs))["token_embeddings"]
        base.encode(sentences, aligned=False)
        alone = base[0].auto_model(**inputs).last_hidden_state
    assert torch.equal(alone, expected), "for who asks the transformer itself too"
    assert [name for name, _ in base[0].auto_model.named_parameters()] == names


def test_a_copy_has_adapters_of_its_own(base: SentenceTransformer, sentences: list[str]) -> None:
    before, other = moved(base).encode(sentences), copy.deepcopy(base)
    with torch.no_grad():
        other[0].adapters[0].up.weight.zero_()
    assert np.array_equal(base.encode(sentences), before)
    assert not np.array_equal(other.encode(sentences), before)


@pytest.fixture
def saved(base: SentenceTransformer, tmp_path: Path) -> Path:
    """Beside it the encoder before it had adapters."""
    base.save_pretrained(str(tmp_path / "base"), create_model_card=False)
    moved(base).save_pretrained(str(tmp_path / "aligned"), create_model_card=False)
    return tmp_path / "aligned"


def test_the_weights_stay_the_same_file_and_adapters_are_one_beside_it(saved: Path, sentences: list[str]) -> None:
    for name in ("model.safetensors", "config.json", "tokenizer.json"):
        assert sha256(saved / name) == sha256(saved.parent / "base" / name)
    assert sorted(path.name for path in saved.glob("*.safetensors")) == [ADAPTERS, "model.safetensors"]
    with safe_open(saved / ADAPTERS, "pt") as file:
        assert file.metadata() == {"scaling": "4.0"}
    opened, base = loading.open_encoder(saved), loading.open_encoder(saved.parent / "base")
    opened.save_pretrained(str(saved.parent / "again"), create_model_card=False)
    for name in ("model.safetensors", ADAPTERS, CODE, "modules.json"):
        assert sha256(saved.parent / "again" / name) == sha256(saved / name)
    assert isinstance(opened[0], AdaptedTransformer)
    assert np.array_equal(opened.encode(sentences, aligned=False), base.encode(sentences))
    assert not np.array_equal(opened.encode(sentences), base.encode(sentences))


WITHOUT_SEEDBED = """
import json
from transformers import dynamic_module_utils
dynamic_module_utils.HF_MODULES_CACHE = sys.argv[4]
from sentence_transformers import SentenceTransformer
encoder = SentenceTransformer(sys.argv[1], trust_remote_code=True, local_files_only=True)
encoder.save_pretrained(sys.argv[2], create_model_card=False)
encoder = SentenceTransformer(sys.argv[2], trust_remote_code=True, local_files_only=True)
texts = json.loads(sys.argv[3])
print(json.dumps([encoder.encode(texts, aligned=aligned).tolist() for aligned in (True, False)]))
"""


def test_it_opens_where_seedbed_is_not_installed(saved: Path, sentences: list[str], tmp_path: Path) -> None:
    words = [str(saved), str(tmp_path / "copy"), json.dumps(sentences), str(tmp_path / "cache")]
    printed = warm.abroad(WITHOUT_SEEDBED, *words, folder=tmp_path)
    assert [*(tmp_path / "cache").rglob(CODE)], "the code of the folder ran"
    aligned, without = json.loads(printed.splitlines()[-1])
    encoder = loading.open_encoder(saved)
    assert np.array_equal(np.float32(aligned), encoder.encode(sentences))
    assert np.array_equal(np.float32(without), encoder.encode(sentences, aligned=False))


def test_no_code_of_a_folder_runs_here(saved: Path, sentences: list[str]) -> None:
    """A foreign encoder may bring a file of this name with anything in it."""
    before = loading.open_encoder(saved).encode(sentences)
    (saved / CODE).write_text(f"open({str(saved / 'ran')!r}, 'w')\n")
    for encoder in (loading.open_encoder(saved), loading.load(saved, pooling="own")):
        assert np.array_equal(encoder.encode(sentences), before)
    assert not (saved / "ran").exists()
    modules = json.loads((saved / "modules.json").read_text())
    modules[0]["type"] = "parallel_adapters.Other"
    (saved / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(UserError, match="parallel_adapters.Other is foreign code"):
        loading.open_encoder(saved)


def test_what_has_no_known_feed_forward_layer_is_refused(make_weights: Callable[..., Path]) -> None:
    encoder = loading.load(make_weights("modernbert"), pooling="mean")
    with pytest.raises(UserError, match=r"modernbert.*take one of bert"):
        add_adapters(encoder, reduction=2, scaling=4.0, seed=0)
    assert not isinstance(encoder[0], AdaptedTransformer)


def test_bad_input(base: SentenceTransformer, saved: Path) -> None:
    with pytest.raises(UserError, match=r"parallel adapters already.*align"):
        add_adapters(base)
    with pytest.raises(UserError, match=r"^reduction: 64.*32; give 1.*32"):
        add_adapters(loading.open_encoder(saved.parent / "base"), reduction=64)
    with pytest.raises(UserError, match=r"adapters.*lost; take pooling own"):
        loading.load(saved, pooling="mean")
    state = load_file(saved / ADAPTERS)
    fewer = {name: weight for name, weight in state.items() if not name.startswith("2.")}
    for broken, metadata, said in (
        (fewer, {"scaling": "4.0"}, "2 adapters for 3 layers"),
        (state, {"scaling": "much"}, "no parallel adapters"),
        (state, None, "no parallel adapters"),
        ({name: weight for name, weight in state.items() if name != "1.up.bias"}, {"scaling": "4.0"}, "no parallel"),
    ):
        save_file(broken, saved / ADAPTERS, metadata=metadata)
        with pytest.raises(UserError, match=said):
            loading.open_encoder(saved)
    (saved / ADAPTERS).unlink()
    with pytest.raises(UserError, match=f"no {ADAPTERS}"):
        loading.open_encoder(saved)

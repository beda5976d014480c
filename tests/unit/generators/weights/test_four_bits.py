"""nf4 by bitsandbytes itself, on the CPU: what is learnt and written in 4 bits is that of the rounded weights in float32.

A study is refused without a GPU: on a CPU, bitsandbytes 0.50 reads matrices wrongly whose rows are no multiple of 64
wide, and where it has AVX-512's bfloat16, what is trained after a first reading without gradients has wrong ones.
Neither raises an error. On a GPU `make check-gpu` trains in 4 bits.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import nn
from transformers import PreTrainedModel

from seedbed.generators.lora import training
from seedbed.generators.lora.data import Example
from seedbed.generators.settings import Generator, Lora
from seedbed.generators.weights import models
from seedbed.generators.weights.models import open_language_model
from seedbed.generators.writing.backends import Request, hf
from tests import tiny, trainings

bitsandbytes = pytest.importorskip("bitsandbytes")

LORA = Lora(rank=4, alpha=8, dropout=0, epochs=4, batch_size=8, micro_batch_size=4, learning_rate=0.01)
LENGTHS = [(3, 2), (9, 5), (1, 8), (6, 1), (4, 4), (12, 3), (2, 2), (5, 6)]
EXAMPLES = [
    Example([2, *range(10 + row, 10 + row + prompt)], [*range(60 + row, 60 + row + completion), 1])
    for row, (prompt, completion) in enumerate(LENGTHS)
]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose matrices are multiples of a block of nf4 wide, as those of real ones are."""
    sizes = {"hidden_size": 64, "intermediate_size": 128, "num_attention_heads": 2, "head_dim": 32}
    return tiny.generator(tmp_path_factory.mktemp("four_bits") / "base", **sizes)


@pytest.fixture(autouse=True)
def on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """What refuses a machine without a GPU is told of one; weights lie here, in the layout that has gradients."""

    def in_four_bits(setting: str, dtype: torch.dtype) -> dict[str, Any]:
        with monkeypatch.context() as patch:
            patch.setattr(torch.cuda, "is_available", lambda: True)
            return models.in_four_bits(setting, dtype)

    def opened(folder: Path, kind: Any, **options: Any) -> PreTrainedModel:
        return open_language_model(folder, kind, **options | {"device_map": "cpu"})

    monkeypatch.setattr(training, "in_four_bits", in_four_bits)
    monkeypatch.setattr(hf, "in_four_bits", in_four_bits)
    monkeypatch.setattr(hf, "open_language_model", opened)
    monkeypatch.setattr(bitsandbytes.nn.modules, "has_avx512bf16", lambda: False)


def in_four_bits(base: Path) -> PreTrainedModel:
    return training._load(base, LORA.updated({"quantization": "nf4"}), "float32")


def rounded(model: PreTrainedModel) -> dict[str, torch.Tensor]:
    """The weights in 4 bits, by name, as numbers again."""
    found = {name: module.weight for name, module in model.named_modules() if isinstance(module, nn.Linear)}
    return {
        name: bitsandbytes.functional.dequantize_4bit(weight.data, weight.quant_state)
        for name, weight in found.items()
        if isinstance(weight, bitsandbytes.nn.Params4bit)
    }


@pytest.fixture
def rounded_base(base: Path, tmp_path: Path) -> Path:
    """The model in float32 with weights as 4 bits hold them."""
    tiny.generator(tmp_path / "rounded", hidden_size=64, intermediate_size=128, num_attention_heads=2, head_dim=32)
    model = open_language_model(base, dtype=torch.float32)
    for name, weight in rounded(in_four_bits(base)).items():
        model.get_submodule(name).weight.data.copy_(weight)
    model.save_pretrained(tmp_path / "rounded")
    return tmp_path / "rounded"


def test_matrices_of_the_body_are_in_nf4_with_double_quantisation_and_all_else_as_it_was(base: Path) -> None:
    plain, four = open_language_model(base, dtype=torch.float32), in_four_bits(base)
    found = rounded(four)
    assert {*found} == {
        name for name, module in plain.model.named_modules(prefix="model") if isinstance(module, nn.Linear)
    }
    for name, weight in found.items():
        state = four.get_submodule(name).weight.quant_state
        assert (state.quant_type, state.nested, state.blocksize) == ("nf4", True, 64)
        before = plain.get_submodule(name).weight.data
        largest = before.view(-1, 64).abs().amax(1, keepdim=True)
        # Half the widest gap between two of the sixteen numbers, and what 8 bits lose of the largest of a block.
        assert ((weight - before).view(-1, 64).abs() <= (0.152 + 0.005) * largest).all()
    for name, parameter in four.named_parameters():
        if name.removesuffix(".weight") not in found:
            assert torch.equal(parameter, plain.get_parameter(name)) and parameter.dtype == torch.float32


def test_an_adapter_learns_what_it_learns_on_the_rounded_base(base: Path, rounded_base: Path, tmp_path: Path) -> None:
    def trained(name: str, folder: Path, quantization: str) -> tuple[list[float], dict[str, torch.Tensor]]:
        settings = LORA.updated({"quantization": quantization})
        places = {"output": tmp_path / name, "state": tmp_path / "state", "minutes": 60}
        manifest = trainings.train_lora(folder, EXAMPLES, settings, name="tiny", dtype="float32", **places)
        return manifest["losses"], load_file(tmp_path / name / "adapter_model.safetensors")

    losses, weights = trained("four", base, "nf4")
    expected_losses, expected = trained("rounded", rounded_base, "none")
    assert losses == pytest.approx(expected_losses, rel=1e-5) and losses[-1] < 0.97 * losses[0]
    torch.testing.assert_close(weights, expected, rtol=1e-3, atol=1e-4)
    assert losses == pytest.approx(trained("plain", base, "none")[0], rel=0.01)


def test_texts_are_written_as_by_the_rounded_base(base: Path, rounded_base: Path) -> None:
    def written(folder: Path, quantization: str) -> list[str]:
        sampling = {"temperature": 0, "max_new_tokens": 12, "max_prompt_tokens": 64}
        settings = {"source": {"file": "x"}, "prompts": "plain", "dtype": "float32", "quantization": quantization}
        backend = hf.HfBackend(Generator.model_validate(settings | {"sampling": sampling}), folder)
        requests = [Request(str(row), one.prompt) for row, one in enumerate(EXAMPLES)]
        found = {one.id: one.text for one in backend.write(requests, None)}
        return [found[request.id] for request in requests]

    found = written(base, "nf4")
    assert found == written(rounded_base, "none") != written(base, "none")

"""What an adapter says of itself, and that peft finds its base by it."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from huggingface_hub import ModelCard
from peft import AutoPeftModelForCausalLM, PeftModel
from transformers import AutoModelForCausalLM

from seedbed import manifests
from seedbed.generators.composition import compose_directories
from seedbed.generators.lora import adapter_card
from seedbed.generators.lora.data import Example
from seedbed.generators.settings import Composition, Lora
from tests import trainings

LORA = Lora(rank=2, alpha=4, epochs=1, batch_size=2, micro_batch_size=2, learning_rate=0.05)
EXAMPLES = [Example([2, 10, 11, 12], [60, 61, 1]), Example([2, 13, 14], [62, 1])]
COMMIT = "0123456789abcdef0123456789abcdef01234567"
GEMMA = {
    "hub": "google/tiny-gemma",
    "revision": COMMIT,
    "origin": [{"kind": "hub", "name": "google/tiny-gemma"}],
    "licence": "Gemma terms of use",
}


@pytest.fixture
def fetched(tiny_generator, tmp_path):
    """The model, as `fetch_model` leaves one of the hub."""
    folder = tmp_path / "weights"
    shutil.copytree(tiny_generator, folder)
    manifests.write(folder, GEMMA)
    return folder


def adapter(base: Path, output: Path, **about: str) -> Path:
    options = {"name": "tiny", "state": output.parent / "state", "minutes": 10, "dtype": "float32"}
    trainings.train_lora(base, EXAMPLES, LORA, output=output, about=about, tell=adapter_card.write, **options)
    return output


def test_peft_finds_the_base_of_an_adapter_on_the_hub(fetched, tmp_path):
    """By id and commit, in the cache of the hub; what it writes is what the base with the adapter writes."""
    folder = adapter(fetched, tmp_path / "adapter", polarity="positive", language="Hausa")
    cache = tmp_path / "hub" / "models--google--tiny-gemma"
    shutil.copytree(fetched, cache / "snapshots" / COMMIT)
    (cache / "refs").mkdir()
    (cache / "refs" / "main").write_text(COMMIT)
    model = AutoPeftModelForCausalLM.from_pretrained(str(folder), cache_dir=str(tmp_path / "hub"))
    inputs = {"input_ids": torch.tensor([[2, 10, 11, 12]])}
    expected = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(fetched), folder)
    torch.testing.assert_close(model(**inputs).logits, expected(**inputs).logits)
    assert (model(**inputs).logits - AutoModelForCausalLM.from_pretrained(fetched)(**inputs).logits).abs().max() > 1e-4


def test_the_card_says_whose_adapter_it_is_and_under_which_terms(fetched, tmp_path):
    folder = adapter(fetched, tmp_path / "adapter", kind="xllora", polarity="negative", language="English")
    card = ModelCard.load(folder / "README.md")
    assert card.data.base_model == "google/tiny-gemma" and card.data.license == "gemma"
    assert card.data.library_name == "peft" and "lora" in card.data.tags
    assert "xllora, negative, English" in card.text and COMMIT in card.text and "AutoPeftModelForCausalLM" in card.text
    assert str(tmp_path) not in card.content
    assert "README.md" in json.loads((folder / manifests.MANIFEST).read_text())["files"]


def test_a_base_that_is_not_on_the_hub_is_called_by_name(tiny_generator, tmp_path):
    folder = adapter(tiny_generator, tmp_path / "adapter")
    card = ModelCard.load(folder / "README.md")
    assert card.data.base_model is None and card.data.license is None
    assert "PeftModel.from_pretrained" in card.text and "AutoPeft" not in card.text
    config = json.loads((folder / "adapter_config.json").read_text())
    assert config["base_model_name_or_path"] == "tiny" and config["revision"] is None


def test_a_composed_adapter_has_a_card_of_its_own(fetched, tmp_path):
    parts = [adapter(fetched, tmp_path / name, kind=name, language="Hausa") for name in ("task", "target", "source")]
    compose_directories(*parts, Composition(scale=0.5), tmp_path / "composed", adapter_card.write)
    card = ModelCard.load(tmp_path / "composed" / "README.md")
    assert card.data.base_model == "google/tiny-gemma" and "| composition: scale | 0.5 |" in card.text

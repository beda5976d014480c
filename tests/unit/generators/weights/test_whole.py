"""A model whose files are cut short, garbled or of two models is refused when it is fetched, by the file's name."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from transformers import AutoTokenizer

from seedbed.corpora.read.assets import Store
from seedbed.corpora.settings import Source
from seedbed.generators.weights.fetch import fetch
from seedbed.generators.weights.whole import require_whole_files
from seedbed.io import UserError
from tests import tiny

Fault = Callable[[Path], object]
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 115980\n"


@pytest.fixture(scope="module")
def backbone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.backbone(tmp_path_factory.mktemp("models") / "backbone")


def fetched(model: Path, output: Path) -> None:
    store = Store(output.parent / "downloads", output.parent / "lock.json")
    fetch(Source(file=str(model)), store, output, require_whole_files)


def weights(change: Callable[[bytes], bytes]) -> Fault:
    def edit(model: Path) -> None:
        (file := model / "model.safetensors").write_bytes(change(file.read_bytes()))

    return edit


def divide(model: Path) -> None:
    """Weights in two files, of which one did not come."""
    (model / "model.safetensors").rename(model / "model-00001-of-00002.safetensors")
    names = {name: f"model-0000{name}-of-00002.safetensors" for name in "12"}
    (model / "model.safetensors.index.json").write_text(json.dumps({"weight_map": names}))


def nested(model: Path) -> None:
    """A model of texts and images says its sizes for texts apart."""
    more_tokens(model)
    config = json.loads((file := model / "config.json").read_text())
    file.write_text(json.dumps({"model_type": "bert", "text_config": {"vocab_size": config["vocab_size"]}}))


def more_tokens(model: Path) -> None:
    content = json.loads((file := model / "tokenizer.json").read_text())
    content["model"]["vocab"].append(["yara", -9.0])
    file.write_text(json.dumps(content))


FAULTS = {
    "cut": (weights(lambda data: data[:-9]), r"/model.safetensors: broken or cut short \(.*; \d+ bytes\); get the file"),
    "longer": (weights(lambda data: data + b"\0"), "/model.safetensors: broken or cut short"),
    "garbled": (weights(lambda data: b"\xff" * 9 + data[9:]), "/model.safetensors: broken or cut short"),
    "empty": (weights(lambda data: b""), r"/model.safetensors: .*; 0 bytes\)"),
    "pointer": (weights(lambda data: POINTER), "/model.safetensors: .*`git lfs pull`"),
    "shard": (divide, r"index.json: lists model-00002-of-00002.safetensors, which is not there; get all 2 files"),
    "tokenizer": (
        lambda model: (model / "tokenizer.json").write_text('{"version": "1.0", "added'),
        r"/tokenizer.json: cannot be opened \(.*\); save",
    ),
    "another tokenizer": (more_tokens, r"its tokenizer has (\d+) tokens, .* (\d+) rows .*; take the tokenizer that"),
    "tokenizer of several parts": (nested, "its tokenizer has .* tokens, .* rows"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_broken_model_is_told_by_its_file_and_nothing_is_left(backbone: Path, tmp_path: Path, fault: str) -> None:
    model = Path(shutil.copytree(backbone, tmp_path / "model"))
    edit, said = FAULTS[fault]
    edit(model)
    with pytest.raises(UserError, match=said) as caught:
        fetched(model, tmp_path / "out" / "weights")
    assert str(caught.value).startswith(f"file {model}") and "\n" not in str(caught.value)
    assert not [*(tmp_path / "out").iterdir()]


def test_models_of_all_kinds_and_adapters_are_whole(backbone: Path, tmp_path: Path) -> None:
    """A token that was added to a vocabulary may have no row."""
    tokenizer = AutoTokenizer.from_pretrained(backbone)
    tokenizer.add_tokens(["<image>"])
    tokenizer.save_pretrained(added := Path(shutil.copytree(backbone, tmp_path / "added")))
    (adapter := tmp_path / "adapter").mkdir()
    (adapter / "adapter_config.json").write_text('{"peft_type": "LORA"}')
    shutil.copy(backbone / "model.safetensors", adapter / "adapter_model.safetensors")
    made = [getattr(tiny, kind)(tmp_path / kind) for kind in ("generator", "encoder_decoder")]
    for number, model in enumerate([added, adapter, *made]):
        fetched(model, tmp_path / str(number))
        assert [*(tmp_path / str(number)).glob("*.safetensors")]

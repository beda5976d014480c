"""The model repositories of models.yaml: tiny random models of the real classes, in files of the real names."""

from __future__ import annotations

import hashlib
import json
import tempfile
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors.torch import load_file, save_file
from transformers import PreTrainedModel

from tests.rehearsal import replica, writing
from tests.rehearsal.tokenizing import KINDS

Spec = dict[str, Any]


def repository(name: str, entry: Spec) -> replica.Repository:
    """The files of one entry under `models`."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), entry)
        files = {
            str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(Path(folder).rglob("*"))
            if path.is_file()
        }
    card: Spec = {"license": entry["licence"]}
    files = {**{path: b"{}" if path.endswith(".json") else b"" for path in entry.get("also", [])}, **files}
    files["README.md"] = f"---\nlicense: {entry['licence']}\n---\n".encode()
    commit = entry.get("revision") or hashlib.sha1(name.encode()).hexdigest()
    return replica.Repository(commit, entry.get("branch", "main"), files, card)


def write(folder: Path, entry: Spec) -> None:
    """A model and its tokenizer."""
    tokenizer = KINDS[entry["tokenizer"]](folder, model_max_length=entry["length"])
    tokenizer.save_pretrained(folder, save_jinja_files=False)
    kind = getattr(transformers, entry["class"])
    numbers = {"vocab_size": len(tokenizer)} | {
        key: found
        for key in ("bos_token_id", "eos_token_id", "pad_token_id", "cls_token_id", "sep_token_id")
        if (found := getattr(tokenizer, key)) is not None
    }
    sizes = dict(entry["config"])
    if "text_config" in sizes:
        sizes["text_config"] = sizes["text_config"] | numbers
        numbers = {}
    torch.manual_seed(0)
    model: PreTrainedModel = kind(kind.config_class(**sizes, **numbers))
    if "writes" in entry:
        writing.plant(model, tokenizer, entry["writes"])
    model.to(getattr(torch, entry.get("dtype", "float32"))).save_pretrained(folder)
    _rename(folder, entry["weights"])


def _rename(folder: Path, names: list[str]) -> None:
    """The weights in files of the real names: shards with their index, a pickle."""
    saved = folder / "model.safetensors"
    state = load_file(saved)
    saved.unlink()
    for name in names:
        if "{" in name:
            _shards(folder, state, name)
        elif name.endswith(".bin"):
            torch.save(state, folder / name)
        else:
            save_file(state, folder / name, metadata={"format": "pt"})


def _shards(folder: Path, state: dict[str, torch.Tensor], name: str) -> None:
    """As many files as the name says, and which tensor is in which."""
    count = int(name.rpartition("-of-")[2].partition(".")[0])
    places = {key: name.format(number * count // len(state) + 1) for number, key in enumerate(sorted(state))}
    for file in {*places.values()}:
        save_file({key: state[key] for key in state if places[key] == file}, folder / file, metadata={"format": "pt"})
    size = sum(tensor.nbytes for tensor in state.values())
    index = {"metadata": {"total_size": size}, "weight_map": places}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))

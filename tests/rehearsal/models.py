"""The model repositories of models.yaml: tiny random models of the real classes, in files of the real names."""

from __future__ import annotations

import hashlib
import json
import tempfile
from pathlib import Path
from typing import Any

import torch
import transformers
from peft import LoraConfig, get_peft_model
from safetensors.torch import load_file, save_file
from torch import nn
from transformers import PreTrainedModel, PreTrainedTokenizerBase
from transformers.models.m2m_100.modeling_m2m_100 import M2M100Encoder

from tests.rehearsal import answering, replica, writing
from tests.rehearsal.tokenizing import CHAT, KINDS

transformers.utils.logging.disable_progress_bar()
Spec = dict[str, Any]
State = dict[str, torch.Tensor]
NUMBERS = ("bos_token_id", "eos_token_id", "pad_token_id", "cls_token_id", "sep_token_id")
"""Of a tokenizer, which a model's configuration repeats."""


def repository(name: str, entry: Spec) -> replica.Repository:
    """The files of one entry under `models`."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        if "adapter_of" in entry:
            write_adapter(folder, replica.models()[entry["adapter_of"]])
        else:
            write(folder, entry)
        (folder / "README.md").write_text(f"---\nlicense: {entry['licence']}\n---\n")
        for path in entry.get("without", []):
            (folder / path).unlink()
        files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    told = {path: json.dumps(content).encode() for path, content in entry.get("says", {}).items()}
    unread = {path: b"{}" if path.endswith(".json") else b"" for path in entry.get("also", [])}
    commit = entry.get("revision") or hashlib.sha1(name.encode()).hexdigest()
    return replica.Repository(commit, entry.get("branch", "main"), unread | told | files, {"license": entry["licence"]})


def write(folder: Path, entry: Spec) -> None:
    """A model, its tokenizer, and modules of sentence-transformers around it."""
    model, tokenizer = made(folder, entry)
    template = {"chat_template": CHAT[entry["chat"]]} if "chat" in entry else {}
    tokenizer.save_pretrained(folder)
    _edit(folder / "tokenizer_config.json", template | entry.get("tokenizer_config", {}))
    model.save_pretrained(folder)
    _edit(folder / "config.json", entry.get("config_says", {}))
    # A pickle has what is tied under each of its names.
    _save(folder, load_file(folder / "model.safetensors"), entry["weights"], pickled=model.state_dict())
    if "modules" in entry:
        _modules(folder, entry["modules"], model.config.hidden_size, entry)


def made(folder: Path, entry: Spec) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """A model and its tokenizer, of which some files may be in the folder already."""
    tokenizer = KINDS[entry["tokenizer"]](folder, model_max_length=entry["length"])
    kind = getattr(transformers, entry["class"], M2M100Encoder)
    numbers = {name: number for name in NUMBERS if (number := getattr(tokenizer, name)) is not None}
    numbers["vocab_size"] = len(tokenizer) + entry.get("beyond", 0)
    if entry.get("begins_padded"):
        numbers["decoder_start_token_id"] = tokenizer.pad_token_id
    sizes = entry["config"]
    sizes = sizes | {"text_config": sizes["text_config"] | numbers} if "text_config" in sizes else sizes | numbers
    torch.manual_seed(entry.get("seed", 0))
    model = kind(kind.config_class(**sizes))
    if "writes" in entry:
        writing.plant(model, tokenizer, entry["writes"])
    if entry.get("answers") == "spoken":
        answering.plant_spoken(model, answering.spoken(tokenizer), tokenizer.convert_tokens_to_ids(entry["ends"]))
    elif "answers" in entry:
        groups = answering.KINDS[entry["answers"]](tokenizer)
        answering.plant(model, groups, tokenizer.convert_tokens_to_ids(entry["ends"]))
    if entry.get("begins_padded"):
        model.generation_config.bad_words_ids = [[tokenizer.pad_token_id]]
    return model.to(getattr(torch, entry.get("dtype", "float32"))), tokenizer


def write_adapter(folder: Path, base: Spec) -> None:
    """An adapter of LoRA for a model of the table, which changes what that writes a little."""
    model, _ = made(folder, base)
    for path in folder.iterdir():  # the tokenizer's
        path.unlink()
    adapted = get_peft_model(model, LoraConfig(r=8, lora_alpha=16, target_modules="all-linear", task_type="CAUSAL_LM"))
    for name, weight in adapted.named_parameters():
        if "lora_B" in name:
            nn.init.normal_(weight, std=0.01)
    adapted.save_pretrained(folder)


def _save(folder: Path, state: State, names: list[str], *, pickled: State | None = None) -> None:
    """The weights in files of the real names: shards with their index, a pickle, or both kinds."""
    (folder / "model.safetensors").unlink(missing_ok=True)
    for name in names:
        saved = pickled or state if name.endswith(".bin") else state
        if "{" in name:
            _shards(folder, saved, name)
        else:
            _save_one(folder / name, saved)


def _shards(folder: Path, state: State, name: str) -> None:
    """As many files as the name says, and an index of what is where."""
    stem, _, count = name.partition(".")[0].rpartition("-of-")
    places = {key: name.format(number * int(count) // len(state) + 1) for number, key in enumerate(sorted(state))}
    for file in {*places.values()}:
        _save_one(folder / file, {key: state[key] for key in state if places[key] == file})
    index = {"metadata": {"total_size": sum(each.nbytes for each in state.values())}, "weight_map": places}
    suffix = ".bin" if name.endswith(".bin") else ".safetensors"
    (folder / f"{stem.rpartition('-')[0]}{suffix}.index.json").write_text(json.dumps(index))


def _save_one(file: Path, state: State) -> None:
    if file.suffix == ".bin":
        torch.save(state, file)
    else:
        save_file(state, file, metadata={"format": "pt"})


def _modules(folder: Path, names: list[str], width: int, entry: Spec) -> None:
    """What sentence-transformers reads; a pooling is named by its kind."""
    listed = [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}]
    for number, name in enumerate(names, start=1):
        kind = name if name in ("Dense", "Normalize") else "Pooling"
        path = f"{number}_{kind}"
        (folder / path).mkdir()
        if kind == "Pooling":
            _edit(folder / path / "config.json", {"word_embedding_dimension": width, f"pooling_mode_{name}": True})
        elif kind == "Dense":
            torch.manual_seed(0)
            state = {f"linear.{key}": value for key, value in nn.Linear(width, width).state_dict().items()}
            activation = {"activation_function": "torch.nn.modules.activation.Tanh"}
            _edit(
                folder / path / "config.json", {"in_features": width, "out_features": width, "bias": True} | activation
            )
            _save(folder / path, state, entry["weights"])
        listed.append(
            {"idx": number, "name": str(number), "path": path, "type": f"sentence_transformers.models.{kind}"}
        )
    (folder / "modules.json").write_text(json.dumps(listed))
    _edit(folder / "sentence_bert_config.json", {"max_seq_length": entry["reads"], "do_lower_case": False})


def _edit(file: Path, changes: Spec) -> None:
    """Change a file of JSON, or make it."""
    known = json.loads(file.read_text()) if file.is_file() else {}
    file.write_text(json.dumps(known | changes))

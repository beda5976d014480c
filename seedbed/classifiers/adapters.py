"""Encoders as classifiers of pairs: a task's head and LoRA adapter, and LoRA adapters of languages.

All adapters are in the same modules of the transformer, so that they can be composed (paper 000, equation 2). The head
belongs to the task and is not composed.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from peft import PeftModel
from safetensors.torch import load_file, save_file
from transformers import (
    AutoModelForMaskedLM,
    AutoModelForSequenceClassification,
    DataCollatorForLanguageModeling,
    DataCollatorWithPadding,
    PreTrainedModel,
    Trainer,
)

from seedbed.checkpoints import Run
from seedbed.classifiers.heads import limit_of, load, logits, tokenizer_of
from seedbed.corpora.shape.labels import LABELS
from seedbed.generators.composition import CONFIG, WEIGHTS
from seedbed.generators.lora import adapter_card
from seedbed.generators.lora.data import Texts, sample
from seedbed.generators.lora.training import adapt, finish, key_of, require_effect, save, training_arguments
from seedbed.generators.settings import Lora
from seedbed.generators.weights.models import open_adapter
from seedbed.io import UserError, read_json, write_json
from seedbed.precision import precision
from seedbed.trainers import fit
from seedbed.weights import opening

HEAD = "head.safetensors"
"""File in a task adapter's folder: the head's weights, which the backbone does not have."""
PREFIX = "base_model.model."
"""peft's prefix of module names."""
MASKED = 0.15
"""Share of masked tokens when a language adapter is trained (BERT's)."""


class _Lesson(NamedTuple):
    """A model before training, and what it learns from."""

    model: PreTrainedModel
    examples: list[dict[str, Any]]
    """Tokenised."""
    collator: Any
    """Makes a batch of examples."""
    counts: dict[str, int]
    """Numbers of examples for the manifest."""
    head: Sequence[str] = ()
    """Modules that are trained as a whole."""


def train_task(base: Path, pairs: Sequence[Texts], lora: Lora, *, name: str, dtype: str, run: Run) -> dict[str, Any]:
    """Train an adapter and a head on `lora.examples` labelled pairs, and save them with a manifest, `seedbed.json`.

    Args:
        base: folder of the backbone's weights.
        pairs: premise, hypothesis, label; those longer than `lora.max_length` are dropped and counted.
        lora: settings of the adapter and its training.
        name: the backbone's name.
        dtype: as in `lora.training.train`.
        run: where it writes, and how it resumes; `adapter_card.write` writes its card.

    Returns:
        The manifest.

    Raises:
        UserError: weights that cannot be loaded; no pair within `lora.max_length`; or training fails.
    """
    model, head = _with_head(base, lora.seed)
    tokenizer = tokenizer_of(base)
    examples = [
        {**tokenizer(row["premise"], row["hypothesis"]), "labels": LABELS.index(row["label"])}
        for row in sample(pairs, lora)
    ]
    kept, given = [one for one in examples if len(one["input_ids"]) <= lora.max_length], len(examples)
    if not kept:
        raise UserError(f"lora: none of {given} pairs has at most max_length ({lora.max_length}) tokens; raise it")
    counts = {"given": given, "used": len(kept), "too_long": given - len(kept)}
    lesson = _Lesson(model, kept, DataCollatorWithPadding(tokenizer), counts, head)
    return _train(lesson, base, lora, name=name, dtype=dtype, run=run)


def train_language(base: Path, texts: Sequence[str], lora: Lora, *, name: str, dtype: str, run: Run) -> dict[str, Any]:
    """Train a language adapter on `lora.examples` texts by masked language modelling; arguments and result as in
    `train_task`.

    Texts are truncated to `lora.max_length` tokens, or to what the backbone can take.

    Raises:
        UserError: weights that cannot be loaded, or that have no head for masked language modelling; or training fails.
    """
    model, missing = load(AutoModelForMaskedLM, base)
    if missing:
        lacking = f"no head for masked language modelling ({missing[0]} is missing)"
        raise UserError(f"{base}: {lacking}; take a backbone with one")
    tokenizer = tokenizer_of(base)
    limit = min(lora.max_length, limit_of(model, tokenizer))
    examples = [dict(tokenizer(text, truncation=True, max_length=limit)) for text in sample(texts, lora)]
    counts = {"given": len(examples), "used": len(examples)}
    collator = DataCollatorForLanguageModeling(tokenizer, mlm_probability=MASKED)
    return _train(_Lesson(model, examples, collator, counts), base, lora, name=name, dtype=dtype, run=run)


def label_scores(
    base: Path, rows: Iterable[Texts], *, head: Path | None, adapter: Path | None, seed: int
) -> np.ndarray:
    """Logits (n, labels) of n pairs, in the order of LABELS, computed in float32.

    Args:
        base: folder of the backbone's weights.
        rows: premise and hypothesis; pairs are truncated to what the backbone can take.
        head: folder of the task adapter whose head is used; None: a new head by `seed`.
        adapter: folder of an adapter, composed or not; None: there is none.

    Raises:
        UserError: weights that cannot be loaded, or a head that does not fit the backbone.
    """
    model, modules = _with_head(base, seed)
    if head:
        _put(head / HEAD, model, modules)
    model = open_adapter(model, adapter) if adapter else model
    tokenizer = tokenizer_of(base)
    limit = limit_of(model, tokenizer)
    encoded = [tokenizer(row["premise"], row["hypothesis"], truncation=True, max_length=limit) for row in rows]
    return logits(model, tokenizer, encoded)


def _with_head(base: Path, seed: int) -> tuple[PreTrainedModel, list[str]]:
    """The backbone with a head for LABELS, and the names of the head's modules: those that the weights do not have."""
    torch.manual_seed(seed)
    model, missing = load(AutoModelForSequenceClassification, base, num_labels=len(LABELS))
    return model, sorted({name.rpartition(".")[0] for name in missing})


def _put(file: Path, model: PreTrainedModel, modules: Sequence[str]) -> None:
    """Give the head's modules the weights of a file; UserError: it has fewer, more or others than they have."""
    with opening(file):
        missing, unexpected = model.load_state_dict(load_file(file), strict=False)
    if odd := [key for key in missing if key.rpartition(".")[0] in modules] + unexpected:
        apart = f"{odd[0]} is in only one of it and the backbone's head"
        raise UserError(f"{file}: {apart}; train the head on this backbone")


def _train(lesson: _Lesson, base: Path, lora: Lora, *, name: str, dtype: str, run: Run) -> dict[str, Any]:
    """Train an adapter, and its head if it has one, and save them; arguments and result as in `train_task`."""
    dtype, body = precision(dtype), lesson.model.base_model
    # The head is trained as a whole: peft's modules_to_save. In BERT its first layer, the pooler, is part of the body.
    head = list(lesson.head)
    model = adapt(lesson.model, lesson.model.base_model_prefix, lora, spared=head, modules_to_save=head or None)
    checkpoints = str(run.state / key_of(base, lora, dtype, lesson.examples))
    arguments = training_arguments(lora, dtype)(output_dir=checkpoints, remove_unused_columns=False)
    trainer = Trainer(model, arguments, lesson.collator, lesson.examples)
    # Their losses are means over a micro batch, which the trainer then divides by the number of micro batches.
    trainer.model_accepts_loss_kwargs = False
    fit(trainer, run.minutes)
    model.eval()
    ids = torch.tensor([lesson.examples[0]["input_ids"]], device=model.device)
    require_effect(model, body, ids, run.output)
    of = adapter_card.base_of(base, name)
    manifest = {
        **run.about,
        "base": of,
        "backbone": name,
        "dtype": dtype,
        "lora": lora.model_dump(),
        "examples": lesson.counts,
    }
    return finish(trainer, manifest, partial(_save, model, of), run)


def _save(model: PeftModel, base: Mapping[str, str], directory: Path) -> None:
    """Peft's two files for the adapter, one for the head; the config names the modules that have factors."""
    save(model, base, directory)
    state = load_file(directory / WEIGHTS)
    factors = {key: value for key, value in state.items() if ".lora_" in key}
    save_file(factors, directory / WEIGHTS, metadata={"format": "pt"})
    if head := {key.removeprefix(PREFIX): value for key, value in state.items() if key not in factors}:
        save_file(head, directory / HEAD, metadata={"format": "pt"})
    adapted = sorted({key.removeprefix(PREFIX).partition(".lora_")[0] for key in factors})
    config = read_json(directory / CONFIG)
    write_json(config | {"target_modules": adapted, "modules_to_save": None}, directory / CONFIG)

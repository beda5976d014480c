"""Contrastive training of an encoder: SimCSE's recipe on sentence-transformers' trainer."""

from __future__ import annotations

import contextlib
import logging
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from datasets import Dataset
from safetensors.torch import load_file, save_file
from sentence_transformers import (
    SentenceTransformer,
    SentenceTransformerTrainer,
    SentenceTransformerTrainingArguments,
)
from torch import nn

from seedbed.encoders import backbone, card, memory
from seedbed.encoders.losses import SimCSELoss, WithMaskedLM
from seedbed.encoders.settings import UNTRAINED, Method, Training
from seedbed.io import UserError, atomic_directory, fingerprint, sha256
from seedbed.precision import precision
from seedbed.trainers import fit, losses, mixed, on_one_gpu, resumable

log = logging.getLogger(__name__)

POINTS = 20
"""At most so many points of the loss curve are kept."""
HEAD = "head.safetensors"
"""In a checkpoint: the head for masked language modelling, which no encoder keeps."""


def train(
    weights: Path,
    texts: pd.DataFrame | None,
    training: Training,
    *,
    method: Method,
    prefix: str,
    seed: int,
    output: Path,
    state: Path,
    minutes: float,
    about: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Make one encoder and save it, in float32 and with its card, as a sentence-transformers directory.

    AdamW, linear decay without warm-up, gradients clipped at norm 1: the defaults of Hugging Face's trainer, which
    paper 000 (appendix A.2.1) uses through SimCSE's code. Training reads `max_length` tokens of a text; the saved
    encoder reads as many as its backbone can.

    Args:
        weights: the backbone, see `backbone.load`.
        texts: columns anchor, positive and negative, or text for the method `unsupervised` (each text is its own
            positive, told apart by dropout); None for the methods that train nothing.
        prefix: put before every text, here and by the saved encoder.
        seed: of the order of the texts and of dropout. On a CPU, one seed and one number of threads give one file, byte
            for byte.
        output: replaced as a whole, at the end.
        state: a directory for checkpoints. A killed run goes on from its last one; after success they are removed.
        minutes: as of `trainers.fit`.
        about: what else the card and the manifest should say, see `card.write`.

    Returns:
        steps, examples (rows trained on), loss (at most 20 means over equal stretches of steps) and final_loss (the
        last of them, None without training); of unsupervised training also the greatest dropout of a layer.

    Raises:
        UserError: bad weights, fewer than two texts, a batch size below two, a loss that is not finite, or, for
            the method `base`, a pooling with weights to train; without a GPU, a batch far beyond the memory.
    """
    training = training.updated({"precision": precision(training.precision)})
    columns = {} if method in UNTRAINED else _columns(texts, training, method)
    if training.pooling == "cls_mlp" and not columns:
        raise UserError(f"{method}: pooling cls_mlp would be a dense layer of random weights; give cls, or train")
    options = {"pooling": training.pooling, "prefix": prefix, "seed": seed}
    encoder = backbone.load(weights, **options, dropout=training.dropout if columns else None)
    noise = _noise(encoder, weights) if method == "unsupervised" else {}
    checkpoints = Path(state) / key_of(columns, training, prefix, seed, weights)
    curve: list[float] = []
    if columns:
        trainer = _trainer(encoder, columns, training, prefix, seed, checkpoints, weights)
        with _truncated(encoder, training.max_length):
            fit(trainer, minutes)
        curve = losses(trainer.state)
    if training.pooling == "cls_mlp_train":
        del encoder[2]
    result = {"examples": len(columns.get("anchor", []))} | _summary(curve) | noise
    save(encoder, output, (about or {}) | {"method": method, "seed": seed}, training.model_dump(mode="json") | result)
    shutil.rmtree(checkpoints, ignore_errors=True)
    return result


def _noise(encoder: SentenceTransformer, weights: Path) -> dict[str, float]:
    """The greatest dropout of an encoder that learns without labels; a warning if it is 0."""
    rate = max(backbone.dropouts(encoder[0].auto_model.config).values(), default=0.0)
    if not rate:
        log.warning(
            "unsupervised: %s has no dropout, so that a text and its positive are one vector and only other texts "
            "teach anything; for SimCSE's training set training.dropout to 0.1",
            weights,
        )
    return {"dropout": rate}


def save(encoder: SentenceTransformer, output: Path, about: dict[str, Any], training: dict[str, Any]) -> None:
    """Save an encoder with its card, see `card.write`; `output` is replaced as a whole."""
    with atomic_directory(output) as directory:
        _save(encoder, directory)
        card.write(directory, about, training)


def key_of(columns: dict[str, list[str]], training: Training, prefix: str, seed: int, weights: Path) -> str:
    """Name of the checkpoints: a hash of all that the trained weights depend on."""
    return fingerprint([columns, training.model_dump(mode="json"), prefix, seed, sha256(weights), card.versions()])


def _columns(texts: pd.DataFrame | None, training: Training, method: Method) -> dict[str, list[str]]:
    """The texts by their part in the loss, in the order in which the loss expects them."""
    if texts is None or len(texts) < 2:
        raise UserError(f"{method}: {0 if texts is None else len(texts)} texts; contrast needs two at least")
    if training.batch_size < 2:
        raise UserError("training.batch_size: 1 leaves nothing to contrast with; give 2 or more")
    if method == "unsupervised":
        return {"anchor": texts["text"].tolist(), "positive": texts["text"].tolist()}
    return {name: texts[name].tolist() for name in ("anchor", "positive", "negative")}


def _trainer(
    encoder: SentenceTransformer,
    columns: dict[str, list[str]],
    training: Training,
    prefix: str,
    seed: int,
    checkpoints: Path,
    weights: Path,
) -> _Trainer:
    """What trains the encoder in place."""
    if training.freeze_word_embeddings:
        encoder[0].auto_model.get_input_embeddings().requires_grad_(False)
    memory.require_fit(encoder, columns, training, prefix)
    return _Trainer(
        model=encoder,
        args=_arguments(training, len(columns["anchor"]), dict.fromkeys(columns, prefix), seed, checkpoints),
        train_dataset=Dataset.from_dict(columns),
        loss=_loss(encoder, training, weights),
    )


def _loss(encoder: SentenceTransformer, training: Training, weights: Path) -> SimCSELoss | WithMaskedLM:
    contrast = SimCSELoss(encoder, training.temperature)
    if not training.mlm_weight:
        return contrast
    return WithMaskedLM(
        contrast,
        backbone.load_head(weights, encoder),
        weight=training.mlm_weight,
        probability=training.mlm_probability,
        half=training.precision == "bfloat16",
    )


def _arguments(
    training: Training, rows: int, prompts: dict[str, str], seed: int, checkpoints: Path
) -> SentenceTransformerTrainingArguments:
    arguments = SentenceTransformerTrainingArguments(
        output_dir=str(checkpoints),
        num_train_epochs=training.epochs,
        per_device_train_batch_size=training.batch_size,
        learning_rate=training.learning_rate,
        weight_decay=training.weight_decay,
        lr_scheduler_type="linear",
        optim="adamw_torch_fused",
        bf16=training.precision == "bfloat16",
        prompts=prompts,
        # A last batch of a single row has nothing to contrast with; any other last batch is kept.
        dataloader_drop_last=rows % training.batch_size == 1,
        seed=mixed(seed),
        **resumable(),
    )
    return on_one_gpu(arguments)


class _Trainer(SentenceTransformerTrainer):
    """Stops at the first loss that is not finite, keeps training sentences out of cards, and minds a loss's head."""

    def compute_loss(self, *args: Any, **kwargs: Any) -> torch.Tensor:
        loss = super().compute_loss(*args, **kwargs)
        if not torch.isfinite(loss):
            raise UserError(
                f"loss is {loss.item()} at step {self.state.global_step + 1} of {self.state.max_steps}; "
                "lower learning_rate, raise temperature, or check the weights for values that are not finite"
            )
        return loss

    def _clip_grad_norm(self, model: nn.Module) -> torch.Tensor:
        """One norm over everything that is trained: sentence-transformers trains a loss's weights, unclipped."""
        return super()._clip_grad_norm(self.loss)

    def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
        super()._save(output_dir, state_dict)
        if head := self._head():
            save_file(head, Path(output_dir or self.args.output_dir) / HEAD)

    def _load_from_checkpoint(self, checkpoint_path: str) -> None:
        super()._load_from_checkpoint(checkpoint_path)
        if head := self._head():
            saved = load_file(Path(checkpoint_path) / HEAD)
            for name, tensor in head.items():
                tensor.copy_(saved[name])

    def _head(self) -> dict[str, torch.Tensor]:
        """The loss's own weights, without those that it shares with the encoder."""
        return {name: tensor.data for name, tensor in self.loss.named_parameters() if name.startswith("head.")}

    def add_model_card_callback(self, default_args_dict: dict[str, Any]) -> None:
        """None: sentence-transformers' own copies sentences and their statistics into the card."""


@contextlib.contextmanager
def _truncated(encoder: SentenceTransformer, length: int) -> Iterator[None]:
    """Read at most `length` tokens of a text inside the block."""
    limit = encoder.max_seq_length
    encoder.max_seq_length = min(limit, length)
    try:
        yield
    finally:
        encoder.max_seq_length = limit


def _summary(losses: list[float]) -> dict[str, Any]:
    """The number of steps and the curve of their losses, coarsened."""
    stretches = np.array_split(losses, min(POINTS, len(losses))) if losses else []
    curve = [float(np.mean(stretch)) for stretch in stretches]
    return {"steps": len(losses), "loss": curve, "final_loss": curve[-1] if curve else None}


def _save(encoder: SentenceTransformer, directory: Path) -> None:
    # Else tokenizer.json would keep the last call's truncation, for whoever reads it without transformers.
    if encoder.tokenizer is not None:
        encoder.tokenizer.backend_tokenizer.no_truncation()
        encoder.tokenizer.backend_tokenizer.no_padding()
    backbone.stock(encoder).save_pretrained(str(directory), create_model_card=False)

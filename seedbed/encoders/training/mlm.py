"""Masked language modelling of a backbone in one language (paper 004, section 3, "Language Adaptation")."""

import hashlib
import shutil
from itertools import chain, islice
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.data import Dataset
from transformers import PreTrainedModel, PreTrainedTokenizerBase, TrainingArguments

from seedbed.checkpoints import Run
from seedbed.encoders.export.save import save
from seedbed.encoders.losses.mlm import Masking, masked_cross_entropy
from seedbed.encoders.models import memory
from seedbed.encoders.models.loading import Original, directory_of, max_tokens
from seedbed.encoders.models.mlm_head import head_of, open_masked
from seedbed.encoders.objectives.masked import Masked
from seedbed.encoders.vocabulary.corpus import CorpusSentences
from seedbed.io import UserError, fingerprint, sha256
from seedbed.manifests import versions
from seedbed.precision import precision
from seedbed.trainers import WeightsTrainer, encoder_arguments, fit, loss_curve, mixed
from seedbed.weights import open_tokenizer

TOGETHER = 1000
"""Sentences that are tokenised in one call."""


def adapt(
    original: Original,
    texts: CorpusSentences,
    settings: Masked,
    *,
    run: Run,
) -> dict[str, Any]:
    """Train all weights of a backbone by masked language modelling, and save it with its head, in float32.

    AdamW, linear decay without warm-up. The head runs on masked tokens only, so that scores of the whole vocabulary
    exist for these alone. A backbone without a head gets a new one, whose decoder is tied to the word embeddings. The
    backbone's pooling and prompts stay.

    Returns:
        The settings, the number of blocks, whether the head is new, the number of steps and the loss curve.

    Raises:
        UserError: weights that cannot be loaded; a backbone without masked language modelling or a mask token; blocks
            longer than it can encode; a text shorter than one block; a loss that is not finite; or, without a GPU, a
            batch far beyond the memory.
    """
    settings = settings.updated({"precision": precision(settings.precision)})
    folder = directory_of(original.weights)
    tokenizer = open_tokenizer(folder)
    if tokenizer.mask_token is None:
        raise UserError(f"{original.weights}: its tokenizer has no mask token; give its recipe vocabulary.mask_token")
    torch.manual_seed(mixed(settings.seed))  # for a new head
    model, missing = open_masked(folder, "take another backbone")
    if missing and (bias := model.get_output_embeddings().bias) is not None:
        nn.init.zeros_(bias)
    if settings.length > (limit := max_tokens(model, tokenizer.model_max_length)):
        raise UserError(
            f"masked.length: blocks of {settings.length}, but the backbone reads {limit} tokens; give fewer"
        )
    rows = blocks(texts, tokenizer, settings.length)
    memory.require(
        model,
        rows=settings.batch_size,
        tokens=settings.length,
        half=settings.precision == "bfloat16",
        setting="masked.batch_size",
        advice="lower masked.length, or take a smaller backbone",
    )
    key = [hashlib.sha256(rows).hexdigest(), settings.model_dump(mode="json"), sha256(original.weights), versions()]
    checkpoints = run.state / fingerprint(key)
    torch.manual_seed(mixed(settings.seed))
    trainer = WeightsTrainer(
        model=Predicting(model, tokenizer, settings.probability),
        args=encoder_arguments(
            TrainingArguments,
            settings,
            settings.precision,
            settings.seed,
            checkpoints,
            max_steps=settings.steps,
            max_grad_norm=settings.max_grad_norm,
            lr_scheduler_type="linear",
            remove_unused_columns=False,
        ),
        train_dataset=_Blocks(rows),
    )
    fit(trainer, run.minutes)
    result = {"blocks": len(rows), "head": "new" if missing else "own"} | loss_curve(trainer.state)
    facts = settings.model_dump(mode="json") | result
    encoder = original.with_transformer(model, tokenizer)
    save(encoder, run.output, run.about, facts, write_files=model.save_pretrained, tell=run.tell)
    shutil.rmtree(checkpoints, ignore_errors=True)
    return facts


def blocks(texts: CorpusSentences, tokenizer: PreTrainedTokenizerBase, length: int) -> np.ndarray:
    """Tokenise sentences, with special tokens, and cut their concatenation into blocks of `length` tokens; a last
    shorter block is left out.

    Returns:
        Token ids (n, length), in uint16 if the vocabulary fits, else in int32.

    Raises:
        UserError: the text is shorter than one block.
    """
    kind = np.uint16 if len(tokenizer) <= 2**16 else np.int32
    lines, parts = texts.all(), []
    while batch := [*islice(lines, TOGETHER)]:
        rows = tokenizer(batch, verbose=False)["input_ids"]
        parts.append(np.fromiter(chain.from_iterable(rows), kind))
    tokens = np.concatenate(parts)
    if len(tokens) < length:
        raise UserError(
            f"{texts.path}: {len(tokens)} tokens, less than a block of {length}; give more text, or set masked.length"
        )
    return tokens[: len(tokens) // length * length].reshape(-1, length)


class Predicting(nn.Module):
    """Masked-language-modelling loss of a Hugging Face `...ForMaskedLM` whose head runs on masked tokens only;
    `probability` is that of `Masking`.
    """

    def __init__(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, probability: float) -> None:
        super().__init__()
        self.model = model
        self.mask = Masking(tokenizer, probability)
        self._head = (head_of(model),)  # in a tuple: its weights are the model's

    def forward(self, input_ids: Tensor) -> dict[str, Tensor]:
        """Mask blocks of token ids (n, length) with torch's generator and compute {"loss": a scalar}."""
        return {"loss": self.loss(*self.mask(input_ids))}

    def loss(self, masked: Tensor, targets: Tensor) -> Tensor:
        """The mean cross-entropy of masked tokens; arguments as `Masking` makes them."""
        states = self.model.base_model(input_ids=masked).last_hidden_state
        chosen = targets != -100
        if not chosen.any():
            return states.sum() * 0
        return masked_cross_entropy(self._head[0], states[chosen], targets[chosen])


class _Blocks(Dataset):
    """Blocks by their places."""

    def __init__(self, rows: np.ndarray) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place: int) -> dict[str, Tensor]:
        return {"input_ids": torch.from_numpy(self.rows[place].astype(np.int64))}

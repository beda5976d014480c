"""Estimates of training memory, before the first step: whether a batch fits, and how many texts fit at once."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil
import torch
from sentence_transformers import SentenceTransformer
from torch import nn

from seedbed import processes
from seedbed.encoders.settings import Training
from seedbed.gpu_memory import TRAINED, stored_activations
from seedbed.io import UserError

GENEROUS = 1.25
"""A batch is refused if its estimated minimum exceeds the machine's memory by this factor, so that none that runs is
refused.
"""
SAMPLE = 1_000
"""Texts of a column that are tokenised; they give the mean length within a few percent."""
CGROUP = Path("/sys/fs/cgroup/memory.max")
GIB = 2**30


def require_fit(
    encoder: SentenceTransformer, columns: Mapping[str, Sequence[str]], training: Training, prefix: str
) -> None:
    """Check that a training batch fits the machine's memory, see `require`.

    Args:
        encoder: the encoder in training; weights with `requires_grad` are trained.
        columns: column -> texts.
        training: the training settings.
        prefix: the prompt before every text.

    Raises:
        UserError: even the estimated minimum is far above the machine's memory.
    """
    rows, tokens = _batch(encoder, columns, training, prefix)
    require(
        encoder,
        rows=rows,
        tokens=tokens,
        half=training.precision == "bfloat16",
        setting="training.batch_size",
        advice="set freeze_word_embeddings, lower max_length, or take a smaller backbone",
    )


def texts_at_once(
    encoder: SentenceTransformer, columns: Mapping[str, Sequence[str]], training: Training, prefix: str
) -> int:
    """How many texts of a batch are encoded at once, see `chunks.in_chunks`; 0: all. Arguments as in `require_fit`.

    `training.mini_batch` if it is set; else 0 if all fit the memory, or the greatest power of two that does.

    Raises:
        UserError: without a GPU, even the weights are far above the machine's memory.
    """
    if training.mini_batch:
        return training.mini_batch
    rows, tokens = _batch(encoder, columns, training, prefix)
    (fixed, row), cuda = least_bytes(encoder, half=training.precision == "bfloat16"), torch.cuda.is_available()
    # What is counted is the least that a step takes: a machine may swap a little, and a GPU needs as much again.
    has, row = (torch.cuda.mem_get_info()[0], 2 * row) if cuda else (GENEROUS * machine_bytes(), row)
    if fixed + rows * tokens * row <= has:
        return 0
    if (fitting := int((has - fixed) / (tokens / len(columns) * row))) >= 1:
        return 2 ** (fitting.bit_length() - 1)
    require_fit(encoder, columns, training, prefix)  # raises an error, but not on a GPU, which raises its own
    return 1


def require(model: nn.Module, *, rows: int, tokens: float, half: bool, setting: str, advice: str) -> None:
    """Check that batches of `rows` rows of `tokens` tokens fit the machine's memory. With a GPU nothing is checked: it
    raises its own error.

    Args:
        model: an encoder or a transformer; weights with `requires_grad` are trained.
        rows: rows of a batch.
        tokens: mean number of tokens of a row.
        half: matrix products run in bfloat16.
        setting: the name of the setting that gives the number of rows, for the message.
        advice: what to do if even two rows do not fit, for the message.

    Raises:
        UserError: even the estimated minimum is far above the machine's memory.
    """
    if torch.cuda.is_available():
        return
    (fixed, row), has = least_bytes(model, half=half), machine_bytes()
    needed = fixed + rows * tokens * row
    if needed <= GENEROUS * has:
        return
    fitting = int((has / GENEROUS - fixed) / (tokens * row))
    if fitting >= 2:
        advice = f"set {setting.rpartition('.')[2]} to {2 ** (fitting.bit_length() - 1)}"
    raise UserError(
        f"{setting}: {rows} rows of {tokens:.0f} tokens take {needed / GIB:.1f} GiB at least, "
        f"and this machine has {has / GIB:.1f} and no GPU; {advice}"
    )


def machine_bytes() -> int:
    """Bytes of memory that this process can use: the machine's or the container's limit, plus swap; of several
    processes of one training, each its part.
    """
    try:
        given = int(CGROUP.read_text())
    except (OSError, ValueError):  # no container, or one without a limit ("max")
        given = sys.maxsize
    return (min(psutil.virtual_memory().total, given) + psutil.swap_memory().total) // processes.on_machine()


def least_bytes(model: nn.Module, *, half: bool) -> tuple[float, float]:
    """Minimum bytes for training an encoder or a transformer with AdamW: for its weights, and for each token of a
    batch.

    A trained weight takes four float32 numbers: itself, its gradient and AdamW's two moments. Frozen weights are not
    counted: they can be read from their file again. `gpu_memory.stored_activations` counts the activations of a token,
    whose numbers have two bytes if matrix products are in bfloat16 (`half`).
    """
    config = (model[0].auto_model if isinstance(model, SentenceTransformer) else model).config
    trained = sum(weight.numel() for weight in model.parameters() if weight.requires_grad)
    width, layers = getattr(config, "hidden_size", 0), getattr(config, "num_hidden_layers", 0)
    numbers = stored_activations(layers, width, getattr(config, "intermediate_size", 0))
    return TRAINED * trained, numbers * (2.0 if half else 4.0)


def _batch(
    encoder: SentenceTransformer, columns: Mapping[str, Sequence[str]], training: Training, prefix: str
) -> tuple[int, float]:
    """Rows of a batch, or of a process's share of it, and the mean number of tokens of all texts of a row."""
    rows = min(training.batch_size, *map(len, columns.values()))
    return -(-rows // processes.count()), sum(_tokens(encoder, texts, training, prefix) for texts in columns.values())


def _tokens(encoder: SentenceTransformer, texts: Sequence[str], training: Training, prefix: str) -> float:
    """The mean number of tokens that training reads of a text; batches are padded to more."""
    some = [prefix + text for text in texts[:: max(1, len(texts) // SAMPLE)]]
    ids = encoder.tokenizer(some, truncation=True, max_length=training.max_length)["input_ids"]
    return sum(map(len, ids)) / len(ids)

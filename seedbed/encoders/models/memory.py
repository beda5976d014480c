"""Whether a training fits the memory, and how many texts at once: told before its first step."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil
import torch
from sentence_transformers import SentenceTransformer
from torch import nn

from seedbed.backpropagation import TRAINED, kept
from seedbed.encoders.settings import Training
from seedbed.io import UserError

GENEROUS = 1.25
"""What takes at least this many times the memory is refused: nothing that runs may be."""
SAMPLE = 1_000
"""Texts of a column that are counted; their mean is known to a few percent."""
CGROUP = Path("/sys/fs/cgroup/memory.max")
GIB = 2**30


def require_fit(
    encoder: SentenceTransformer, columns: Mapping[str, Sequence[str]], training: Training, prefix: str
) -> None:
    """A batch fits the memory; a GPU says for itself what does not fit it.

    Raises:
        UserError: even the least that it takes is far above what the machine has.
    """
    if torch.cuda.is_available():
        return
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
    """How many texts of a batch are encoded at once, see `chunks.in_chunks`; 0: all.

    As many as `training.mini_batch` says; else all if they fit the memory, or the greatest power of two that does.

    Raises:
        UserError: without a GPU, even the weights are far above what the machine has.
    """
    if training.mini_batch:
        return training.mini_batch
    rows, tokens = _batch(encoder, columns, training, prefix)
    (fixed, row), cuda = least(encoder, half=training.precision == "bfloat16"), torch.cuda.is_available()
    # What is counted is the least that a step takes: a machine may swap a little, and a GPU needs as much again.
    has, row = (torch.cuda.mem_get_info()[0], 2 * row) if cuda else (GENEROUS * machine(), row)
    if fixed + rows * tokens * row <= has:
        return 0
    if (fitting := int((has - fixed) / (tokens / len(columns) * row))) >= 1:
        return 2 ** (fitting.bit_length() - 1)
    require_fit(encoder, columns, training, prefix)  # a GPU says so itself
    return 1


def require(model: nn.Module, *, rows: int, tokens: float, half: bool, setting: str, advice: str) -> None:
    """Batches of so many rows of so many tokens fit the memory; a GPU says for itself what does not fit it.

    Args:
        model: an encoder or a transformer, of which what needs gradients is trained.
        half: matrix products run in bfloat16.
        setting: of the number of rows.
        advice: where two rows are too many.

    Raises:
        UserError: even the least that training takes is far above what the machine has.
    """
    if torch.cuda.is_available():
        return
    (fixed, row), has = least(model, half=half), machine()
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


def machine() -> int:
    """Bytes that a process here can have at most: the memory, or what a container has of it, and swap."""
    try:
        given = int(CGROUP.read_text())
    except (OSError, ValueError):  # no container, or one without a limit ("max")
        given = sys.maxsize
    return min(psutil.virtual_memory().total, given) + psutil.swap_memory().total


def least(model: nn.Module, *, half: bool) -> tuple[float, float]:
    """Bytes that training a transformer with AdamW takes at least: for its weights, and for each token of a batch.

    Each trained weight is there four times in float32: itself, its gradient, AdamW's two moments. (Frozen ones can be
    read from their file again.) What a token leaves for backpropagation `backpropagation.kept` counts; matrix products
    run in bfloat16 if `half`.
    """
    config = (model[0].auto_model if isinstance(model, SentenceTransformer) else model).config
    trained = sum(weight.numel() for weight in model.parameters() if weight.requires_grad)
    width, layers = getattr(config, "hidden_size", 0), getattr(config, "num_hidden_layers", 0)
    numbers = kept(layers, width, getattr(config, "intermediate_size", 0))
    return TRAINED * trained, numbers * (2.0 if half else 4.0)


def _batch(
    encoder: SentenceTransformer, columns: Mapping[str, Sequence[str]], training: Training, prefix: str
) -> tuple[int, float]:
    """Rows of a batch, and the mean number of tokens of all texts of a row."""
    rows = min(training.batch_size, *map(len, columns.values()))
    return rows, sum(_tokens(encoder, texts, training, prefix) for texts in columns.values())


def _tokens(encoder: SentenceTransformer, texts: Sequence[str], training: Training, prefix: str) -> float:
    """The mean number of tokens that training reads of a text; batches are padded to more."""
    some = [prefix + text for text in texts[:: max(1, len(texts) // SAMPLE)]]
    ids = encoder.tokenizer(some, truncation=True, max_length=training.max_length)["input_ids"]
    return sum(map(len, ids)) / len(ids)

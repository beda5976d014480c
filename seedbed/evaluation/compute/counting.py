"""Operations of the code that really runs, counted while it runs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode


def flops(run: Callable[[], Any]) -> int:
    """Floating-point operations of the matrix products that torch does in `run`: 2 for a product and its addition.

    Nothing else is counted: no activation, norm, softmax, embedding or optimiser, and nothing of numpy's. Attention
    runs as two plain products of the whole square, also where a mask hides half of it: the counter does not know the
    fused kernel of a CPU and would leave attention out without a word, and of a fused backward pass it counts what is
    computed a second time.
    """
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        run()
    return counter.get_total_flops()


@dataclass
class Read:
    """What a model was given to read."""

    tokens: int = 0
    """With the filling of batches."""
    filling: int = 0
    """Of which are no token of a text."""


@contextlib.contextmanager
def reading(model: nn.Module) -> Iterator[Read]:
    """Count the tokens that a model reads in the block; keys and values of a cache are not read again.

    Args:
        model: of transformers, or the first module of a sentence-transformers encoder, which calls its model's
            `forward` past the model's own hooks.
    """
    read = Read()

    def note(_: nn.Module, features: tuple[dict[str, torch.Tensor], ...], options: dict[str, Any]) -> None:
        given = features[0] if features else options
        ids = given["input_ids"]
        read.tokens += ids.numel()
        read.filling += ids.numel() - int(given["attention_mask"][:, -ids.shape[1] :].sum())

    handle = model.register_forward_pre_hook(note, with_kwargs=True)
    try:
        yield read
    finally:
        handle.remove()

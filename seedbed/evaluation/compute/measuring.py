"""Operations of the code that really runs, counted while it runs; its wall time, and on what it was measured."""

import contextlib
import platform
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode


def flops(run: Callable[[], Any]) -> int:
    """Floating-point operations of the matrix products that torch does in `run`: 2 for a product and its addition.

    Nothing else is counted: no activation, norm, softmax, embedding or optimiser, and nothing of numpy's. Attention
    runs as two plain products of the whole square, also where a mask hides half of it: the counter does not know the
    fused kernel of a CPU and would leave attention out, and of a fused backward pass it counts what is computed again.
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
    """How many of the tokens that were read are padding, no token of a text."""


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


class Span(NamedTuple):
    """Seconds over repeated runs."""

    median: float
    lowest: float
    highest: float

    def times(self, factor: float) -> Self:
        """So many times the seconds."""
        return Span(*(factor * value for value in self))

    def plus(self, other: Self) -> Self:
        """The span of one after the other; medians are added as if they were means."""
        return Span(*map(sum, zip(self, other, strict=True)))


def seconds(run: Callable[[], Any], repeats: int, *, warm: bool = False) -> Span:
    """Wall time of `run`, after a run that is not timed unless the like is `warm` already; a GPU is waited for."""
    if not warm:
        run()
    found = []
    for _ in range(repeats):
        _settle()
        start = time.perf_counter()
        run()
        _settle()
        found.append(time.perf_counter() - start)
    return Span(statistics.median(found), min(found), max(found))


def _settle() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def machine() -> dict[str, str]:
    """The device that models run on, the threads of a CPU's products, and torch's version."""
    cpu = f"{platform.machine()} CPU with {torch.backends.cpu.get_cpu_capability()}"
    return {
        "device": torch.cuda.get_device_name() if torch.cuda.is_available() else cpu,
        "threads": str(torch.get_num_threads()),
        "torch": torch.__version__,
    }

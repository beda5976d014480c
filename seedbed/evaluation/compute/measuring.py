"""Counting floating-point operations and wall time of running code, and describing the machine."""

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
    """Floating-point operations of torch's matrix products in `run`, 2 for each multiplication and addition.

    Nothing else is counted: activations, norms, softmax, embeddings, optimisers, and numpy's work. Attention runs as
    two plain products of the full square, also where a mask hides half of it: the counter does not know a CPU's fused
    kernel and would leave attention out, and it would count recomputation in a fused backward pass.
    """
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        run()
    return counter.get_total_flops()


@dataclass
class Read:
    """Tokens that a model got as input."""

    tokens: int = 0
    """All tokens, with padding."""
    filling: int = 0
    """Padding tokens among them."""


@contextlib.contextmanager
def reading(model: nn.Module) -> Iterator[Read]:
    """Context that counts the tokens that a model gets as input; cached keys and values do not count again.

    Args:
        model: a transformers model, or the first module of a sentence-transformers encoder, which calls its model's
            `forward` without the model's own hooks.
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
        """The seconds multiplied by a factor."""
        return Span(*(factor * value for value in self))

    def plus(self, other: Self) -> Self:
        """The seconds of two parts together; medians are added as if they were means."""
        return Span(*map(sum, zip(self, other, strict=True)))


def seconds(run: Callable[[], Any], repeats: int, *, warm: bool = False) -> Span:
    """Wall time of `run`, after one run that is not timed.

    Args:
        run: the code; pending work on a GPU is waited for.
        warm: no untimed run is needed.
    """
    if not warm:
        run()
    found = []
    for _ in range(repeats):
        _await_gpu()
        start = time.perf_counter()
        run()
        _await_gpu()
        found.append(time.perf_counter() - start)
    return Span(statistics.median(found), min(found), max(found))


def _await_gpu() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def machine() -> dict[str, str]:
    """The device that models run on, the number of CPU threads, and torch's version."""
    cpu = f"{platform.machine()} CPU with {torch.backends.cpu.get_cpu_capability()}"
    return {
        "device": torch.cuda.get_device_name() if torch.cuda.is_available() else cpu,
        "threads": str(torch.get_num_threads()),
        "torch": torch.__version__,
    }

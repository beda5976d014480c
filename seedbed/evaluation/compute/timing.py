"""Wall time, and on what it was measured."""

from __future__ import annotations

import platform
import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import torch


class Span(NamedTuple):
    """Seconds over repeated runs."""

    median: float
    lowest: float
    highest: float

    def times(self, factor: float) -> Span:
        """So many times the seconds."""
        return Span(*(factor * value for value in self))

    def plus(self, other: Span) -> Span:
        """Of one after the other; medians are added as if they were means."""
        return Span(*(a + b for a, b in zip(self, other, strict=True)))


def seconds(run: Callable[[], Any], repeats: int, *, warm: bool = False) -> Span:
    """Wall time of `run`; a GPU is waited for.

    Args:
        warm: the like has run before; otherwise it runs once more, and that is not timed.
    """
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
    on_gpu = torch.cuda.is_available()
    cpu = f"{platform.machine()} CPU with {torch.backends.cpu.get_cpu_capability()}"
    return {
        "device": torch.cuda.get_device_name() if on_gpu else cpu,
        "threads": str(torch.get_num_threads()),
        "torch": torch.__version__,
    }

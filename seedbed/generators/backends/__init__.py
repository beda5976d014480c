"""Who runs the language model. Three back ends, one interface, the same prompts and the same files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from seedbed.generators.settings import Generator
from seedbed.io import UserError

PROBES = 8
"""Prompts on which base and adapter must differ."""


@dataclass(frozen=True)
class Request:
    """A prompt to complete. Sampled rows draw from a stream of their own, named by the id."""

    id: str
    prompt: list[int]


@dataclass(frozen=True)
class Completion:
    """What was written after the prompt; not `finished`: cut at the length limit."""

    id: str
    text: str
    finished: bool


class Backend(Protocol):
    """A loaded language model."""

    tokenizer: Any

    def write(self, requests: Sequence[Request], adapter: Path | None) -> Iterator[Completion]:
        """Complete the requests with an adapter, or with the base alone; in any order, each as it is done.

        Raises:
            UserError: the adapter has no effect on this base, or the server refuses.
        """
        ...


def open_backend(generator: Generator, base: Path, adapters: Sequence[Path] = ()) -> Backend:
    """Load the base with the back end that the settings name; `adapters` are those that `write` will be given.

    Raises:
        UserError: the back end's package is not installed, or its settings are incomplete.
    """
    if generator.backend == "transformers":
        from seedbed.generators.backends.hf import HfBackend

        return HfBackend(generator, base)
    if generator.backend == "vllm":
        from seedbed.generators.backends.vllm import VllmBackend

        return VllmBackend(generator, base, adapters)
    from seedbed.generators.backends.openai import OpenAIBackend

    return OpenAIBackend(generator, base)


def stream(seed: int, row: str) -> int:
    """Seed of one row's random stream: a hash, below 2^60, so that every library takes it."""
    return int(hashlib.sha256(f"{seed}/{row}".encode()).hexdigest()[:15], 16)


def check_effect(adapter: Path, differs: bool) -> None:
    """Stop at an adapter that does nothing: renamed modules (vllm#48019), an untrained B, or another base.

    Raises:
        UserError: base and adapter gave the same outputs.
    """
    if not differs:
        raise UserError(
            f"{adapter}: the adapter has no effect: base and adapter give the same outputs;"
            " train it on this base and this model class"
        )

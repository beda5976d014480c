"""Who runs the language model. Several back ends, one interface, the same prompts and the same files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from seedbed import model_files
from seedbed.generators.prompts import Style, encode
from seedbed.generators.settings import Generator
from seedbed.io import UserError, read_json

PROBES = 8
"""Prompts on which base and adapter must differ."""

Prompt = list[int] | str
"""What a back end completes: tokens; or a text, for a server that shows nobody its tokenizer."""


@dataclass(frozen=True)
class Request:
    """A prompt to complete. Sampled rows draw from a stream of their own, named by the id."""

    id: str
    prompt: Prompt


@dataclass(frozen=True)
class Completion:
    """What was written after the prompt; not `finished`: cut at the length limit."""

    id: str
    text: str
    finished: bool


class Backend(Protocol):
    """A loaded language model."""

    def encode(self, prompt: str, *, bos: bool = True) -> Prompt:
        """A prompt as `write` takes it; `bos` as `prompts.encode`.

        Raises:
            UserError: as `prompts.encode`.
        """
        ...

    def write(self, requests: Sequence[Request], adapter: Path | None) -> Iterator[Completion]:
        """Complete the requests with an adapter, or with the base alone; in any order, each as it is done.

        Raises:
            UserError: the adapter has no effect on this base, or the server refuses.
        """
        ...


class Tokenizing:
    """The `encode` of back ends that see the tokens that training saw."""

    tokenizer: Any
    style: Style

    def encode(self, prompt: str, *, bos: bool = True) -> Prompt:
        """See `Backend`."""
        return encode(self.tokenizer, prompt, self.style, bos=bos)


def fits(prompt: Prompt, limit: int) -> bool:
    """Whether a prompt has at most so many tokens; of a text only the server can tell, which then refuses it."""
    return isinstance(prompt, str) or len(prompt) <= limit


def is_encoder_decoder(base: Path) -> bool:
    """Whether a model reads prompts with one stack of layers and writes with another (mT0, Aya-101)."""
    config = base / "config.json"
    return config.is_file() and bool(read_json(config).get("is_encoder_decoder"))


def refuse_encoder_decoder(base: Path) -> None:
    """Stop before an adapter is trained or used where none fits.

    Raises:
        UserError: the base is an encoder-decoder.
    """
    if is_encoder_decoder(base):
        raise UserError(f"{base}: an encoder-decoder has no adapters here; take a base that is a decoder")


def open_backend(generator: Generator, base: Path | None, adapters: Sequence[Path] = ()) -> Backend:
    """Load the base with the back end that the settings name; `adapters` are those that `write` will be given.

    Raises:
        UserError: the back end's package is not installed, its settings are incomplete, it cannot run this base, or as
            `model_files.check`.
    """
    if generator.backend == "openai-chat":
        from seedbed.generators.backends.openai import ChatBackend

        return ChatBackend(generator)
    if base is None:
        raise UserError(f"backend {generator.backend}: no weights; give `--base`")
    for folder in (base, *adapters):
        model_files.check(folder)
    if not (base / "config.json").is_file():  # of an adapter transformers would load the base that it names
        raise UserError(f"{base}: no config.json; expected the directory of a language model")
    if is_encoder_decoder(base):
        if generator.backend != "transformers":
            raise UserError(f"{base}: an encoder-decoder; set `backend: transformers`, not {generator.backend}")
        from seedbed.generators.backends.encoder_decoder import EncoderDecoderBackend

        return EncoderDecoderBackend(generator, base)
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

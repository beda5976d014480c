"""Back ends that run a language model: one interface, the same prompts and the same files."""

import hashlib
import importlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from seedbed import model_files
from seedbed.generators.settings import Generator
from seedbed.generators.weights.folder import is_encoder_decoder, require_model
from seedbed.generators.writing.prompts import begun_thoughts, encode, stop_ids
from seedbed.io import UserError

CLASSES: dict[str, tuple[str, str]] = {
    "transformers": ("hf", "HfBackend"),
    "vllm": ("vllm", "VllmBackend"),
    "openai": ("openai", "OpenAIBackend"),
    "openai-chat": ("openai", "ChatBackend"),
}
"""Back end -> its module in this package, and its class there."""
ENCODER_DECODER = ("encoder_decoder", "EncoderDecoderBackend")
"""The back end transformers of a base that is an encoder-decoder."""

PROBES = 8
"""Prompts on which base and adapter must differ."""
PROBE_SAMPLING = {"temperature": 0.0, "max_tokens": 32}
"""Sampling parameters for the probes where logits cannot be seen."""
DRAWN = {"temperature", "top_p", "top_k", "repetition_penalty"}
"""Sampling settings that have the same names in vLLM and in servers' APIs."""

Prompt = list[int] | str
"""A prompt for a back end: token ids; or a text, for a server whose tokenizer is not public."""


@dataclass(frozen=True)
class Request:
    """A prompt to complete. Sampled rows have separate random streams, seeded by the id."""

    id: str
    prompt: Prompt


@dataclass(frozen=True)
class Completion:
    """The generated text after a prompt; not `finished`: cut at the length limit."""

    id: str
    text: str
    """All generated tokens, including the one that ended it, without special tokens: see `Backend.text`."""
    finished: bool
    refused: bool = False
    """A server refused this prompt, and took others: there is no text."""


class Backend:
    """A loaded language model; prompts have the same tokens as in training."""

    keeps_cut = False
    """Whether an answer that is empty because of the length limit, as of a model that reasons for long, is accepted;
    otherwise it is an error.
    """

    def __init__(self, generator: Generator, base: Path) -> None:
        from seedbed.weights import open_tokenizer  # imports torch, which planning a study does not need

        self.tokenizer, self.style, self.sampling = open_tokenizer(base), generator.prompts, generator.sampling
        self.template = generator.template
        self.stops = stop_ids(self.tokenizer, self.style)

    def encode(self, prompt: str, *, bos: bool = True) -> Prompt:
        """A prompt in the form that `write` takes; for `bos` and errors see `prompts.encode`."""
        return encode(self.tokenizer, prompt, self.style, bos=bos, template=self.template)

    def text(self, tokens: Sequence[int]) -> str:
        """The text of new tokens, from the first to the one that ended them, without special ones.

        What ends a plain completion may be a full stop and a line break in one token (byte-level vocabularies). A
        character of which the length limit left only some bytes is no part of it, as servers have it.
        """
        return self.tokenizer.decode(tokens, skip_special_tokens=True).rstrip("\ufffd")

    def between(self, source: str, target: str) -> None:
        """Set source and target language of a translator, by their codes in its vocabulary.

        Raises:
            UserError: it is no translator, or does not know a code.
        """
        raise UserError(f"{type(self).__name__} translates nothing; take an encoder-decoder, on backend transformers")

    def write(self, requests: Sequence[Request], adapter: Path | None) -> Iterator[Completion]:
        """Complete requests with an adapter, or with the base alone; completions come in any order, each when it is
        done.

        Raises:
            UserError: the adapter has no effect on this base, or the server refuses.
        """
        raise NotImplementedError


def with_thoughts(backend: Backend, requests: Sequence[Request], adapter: Path | None = None) -> Iterator[Completion]:
    """Complete requests as `Backend.write` does. If the chat template opens the model's reasoning, the opening mark is
    put before each completion, which lacks it: reasoning that the length limit cuts would look like an answer.
    """
    begun = ""
    if hasattr(backend, "tokenizer"):  # a chat server has none, and applies its template itself
        begun = begun_thoughts(backend.tokenizer, backend.style, backend.template)
    for one in backend.write(requests, adapter):
        yield replace(one, text=begun + one.text)


def require_no_thoughts(backend: Backend, answer: str, instead: str) -> None:
    """Check that the answer is what comes next after a prompt: the model's chat template must not open its reasoning.

    Args:
        answer: what should come next, for the message.
        instead: the setting that the message proposes.

    Raises:
        UserError: the chat template opens reasoning.
    """
    if begun := begun_thoughts(backend.tokenizer, backend.style, backend.template):
        raise UserError(
            f"{backend.tokenizer.name_or_path}: its chat template begins with {begun}, so that no {answer} comes next; "
            f"tell it by `template` not to think, or set `{instead}`"
        )


def fits(prompt: Prompt, limit: int) -> bool:
    """Whether a prompt has at most `limit` tokens; True for a text, whose tokens only the server knows."""
    return isinstance(prompt, str) or len(prompt) <= limit


def open_backend(generator: Generator, base: Path | None, adapters: Sequence[Path] = ()) -> Backend:
    """Load a language model with the back end of its settings, and the adapters that `write` will be given. `base` is
    the folder of its weights; None: it is on a server.

    Raises:
        UserError: the back end's package is not installed, its settings are incomplete, it cannot run this base, or as
            `model_files.check`.
    """
    module, name = CLASSES[generator.backend]
    if generator.backend != "openai-chat":
        if base is None:
            raise UserError(f"backend {generator.backend}: no weights; give `--base`")
        for adapter in adapters:
            model_files.check(adapter)
        require_model(base)
        if is_encoder_decoder(base):
            if generator.backend != "transformers":
                raise UserError(f"{base}: an encoder-decoder; set `backend: transformers`, not {generator.backend}")
            module, name = ENCODER_DECODER
    return getattr(importlib.import_module(f"{__name__}.{module}"), name)(generator, base, adapters)


def modules_of(generator: Generator) -> list[str]:
    """Paths of the modules that may run a generator, from the project's folder; the weights decide which."""
    kinds = [CLASSES[generator.backend]] if generator.backend in CLASSES else []
    kinds += [ENCODER_DECODER] if generator.backend == "transformers" else []
    return [f"{__name__.replace('.', '/')}/{module}.py" for module, _ in kinds]


def stream(seed: int, row: str) -> int:
    """Seed of one row's random stream: a hash below 2^60, which every library accepts."""
    return int(hashlib.sha256(f"{seed}/{row}".encode()).hexdigest()[:15], 16)


def check_effect(adapter: Path, differs: bool) -> None:
    """Raise a UserError if an adapter does not change outputs: its modules were renamed (vllm#48019), its B is
    untrained, or it belongs to another base.
    """
    if not differs:
        raise UserError(
            f"{adapter}: the adapter has no effect: base and adapter give the same outputs;"
            " train it on this base and this model class"
        )

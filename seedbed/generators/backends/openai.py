"""Generation by a server that speaks one of OpenAI's protocols.

`/completions` with token ids serves both prompt styles (vLLM, SGLang): the server sees exactly the tokens that training
saw. The chat endpoint would render the template a second time, on the server's terms, and read special tokens in a
premise as such. It is for models whose tokenizer and template nobody else has (GPT-4o).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from seedbed.generators.backends import PROBES, Completion, Request, Tokenizing, check_effect, stream
from seedbed.generators.prompts import stop_ids
from seedbed.generators.settings import Generator
from seedbed.io import UserError
from seedbed.servers import post
from seedbed.weights import open_tokenizer

TIMEOUT = 600
"""Seconds for one answer, queueing on the server included."""

PROBE_TOKENS = 32
"""Greedy tokens by which base and adapter are told apart."""

DECLINED = ("content_filter", "refusal")
"""Why a server may write nothing although all is well: that is an answer, if not one of those asked for."""


class _Server:
    """What both endpoints have in common. `batch_size` requests are under way at a time."""

    path: str

    def __init__(self, generator: Generator) -> None:
        if not generator.endpoint or not generator.served_model:
            raise UserError(
                f"backend {generator.backend}: set `endpoint` (http://host:8000/v1) and `served_model` in the generator"
            )
        self.generator = generator
        self.url = f"{generator.endpoint.rstrip('/')}/{self.path}"
        self.wait = 1.0
        """Seconds before the second try; doubled each time."""

    def _ask(self, body: dict[str, Any]) -> dict[str, Any]:
        """The first choice of the server's answer."""
        answer = post(self.url, body, key=self.generator.key, timeout=TIMEOUT, wait=self.wait)
        choices = answer.get("choices") if isinstance(answer, dict) else None
        if not (isinstance(choices, list) and choices and isinstance(choices[0], dict)):
            raise self._foreign("no `choices`")
        return choices[0]

    def _foreign(self, what: str) -> UserError:
        return self._fault(f"{what} in its answer; does it speak `backend: {self.generator.backend}`?")

    def _fault(self, what: str) -> UserError:
        return UserError(f"{self.url}: model {self.generator.served_model!r}: {what}")


class OpenAIBackend(Tokenizing, _Server):
    """A `Backend` elsewhere, with tokens as prompts."""

    path = "completions"

    def __init__(self, generator: Generator, base: Path) -> None:
        super().__init__(generator)
        self.tokenizer = open_tokenizer(base)
        self.style = generator.prompts
        self.stops = stop_ids(self.tokenizer, self.style)

    def write(self, requests: Sequence[Request], adapter: Path | None) -> Iterator[Completion]:
        """Complete the requests; see `Backend`."""
        model = _served_name(adapter) if adapter else self.generator.served_model
        with ThreadPoolExecutor(self.generator.batch_size) as pool:
            if adapter is not None:
                self._check(pool, requests[:PROBES], adapter)
            yield from _answered(pool, [pool.submit(self._complete, request, model) for request in requests])

    def _check(self, pool: ThreadPoolExecutor, probes: Sequence[Request], adapter: Path) -> None:
        def texts(model: str) -> list[str]:
            greedy = {"temperature": 0.0, "max_tokens": PROBE_TOKENS}
            return [answer.text for answer in pool.map(lambda probe: self._complete(probe, model, **greedy), probes)]

        check_effect(adapter, texts(_served_name(adapter)) != texts(self.generator.served_model))

    def _complete(self, request: Request, model: str, **changes: Any) -> Completion:
        sampling = self.generator.sampling
        body = {
            "model": model,
            "prompt": request.prompt,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "top_k": sampling.top_k,
            "repetition_penalty": sampling.repetition_penalty,
            "max_tokens": sampling.max_new_tokens,
            "seed": stream(sampling.seed, request.id),
            "stop_token_ids": self.stops,
        }
        choice = self._ask(body | changes)
        if not isinstance(text := choice.get("text"), str):
            raise self._foreign("no `text`")
        return Completion(request.id, text, finished=choice.get("finish_reason") == "stop")


class ChatBackend(_Server):
    """A `Backend` elsewhere, with messages as prompts; it has no adapters."""

    path = "chat/completions"

    def encode(self, prompt: str, *, bos: bool = True) -> str:
        """The text as it is: the server has the template, and alone knows the names of its special tokens."""
        return prompt

    def write(self, requests: Sequence[Request], adapter: Path | None) -> Iterator[Completion]:
        """Complete the requests; see `Backend`."""
        if adapter is not None:
            raise UserError(f"{adapter}: backend {self.generator.backend} has no adapters; take another back end")
        with ThreadPoolExecutor(self.generator.batch_size) as pool:
            yield from _answered(pool, [pool.submit(self._complete, request) for request in requests])

    def _complete(self, request: Request) -> Completion:
        """One answer. What OpenAI does not know is sent only where it says something: other servers know it."""
        sampling = self.generator.sampling
        greedy = sampling.temperature == 0
        body = {
            "model": self.generator.served_model,
            "messages": [{"role": "user", "content": request.prompt}],
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "max_tokens": sampling.max_new_tokens,
            "seed": sampling.seed if greedy else stream(sampling.seed, request.id),
        }
        body |= {"top_k": sampling.top_k} if sampling.top_k else {}
        body |= {"repetition_penalty": sampling.repetition_penalty} if sampling.repetition_penalty != 1 else {}
        choice = self._ask(body)
        if not isinstance(message := choice.get("message"), dict):
            raise self._foreign("no `message`")
        reason, text = choice.get("finish_reason"), message.get("content")
        if not text and reason == "length":
            limit = sampling.max_new_tokens
            raise self._fault(f"nothing written in {limit} tokens; if it thinks first, raise `max_new_tokens`")
        if text is None and (reason in DECLINED or message.get("refusal")):
            text = ""
        if not isinstance(text, str):
            raise self._foreign(f"no text (finish_reason {reason!r})")
        return Completion(request.id, text, finished=bool(text) and reason == "stop")


def _answered(pool: ThreadPoolExecutor, answers: list[Future[Completion]]) -> Iterator[Completion]:
    """Each answer as it is there. After a fault nothing more is asked; what is under way is paid for, and comes too."""
    fault = None
    try:
        for answer in as_completed(answers):
            if answer.cancelled():
                continue
            if (error := answer.exception()) is None:
                yield answer.result()
            elif fault is None:
                fault = error
                for other in answers:
                    other.cancel()
    finally:
        pool.shutdown(cancel_futures=True)
    if fault:
        raise fault


def _served_name(adapter: Path) -> str:
    """The path with slashes as dashes: how the adapter is registered with the server (`--lora-modules NAME=PATH`)."""
    return str(adapter).strip("/").replace("/", "-")

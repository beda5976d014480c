"""Generation by a server with one of OpenAI's APIs.

`/completions` with token ids (vLLM, SGLang): the server gets the same tokens as in training. The chat endpoint renders
its own template: it is for models whose tokenizer and template are not public (GPT-4o).
"""

import math
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from typing import Any

from seedbed.generators.settings import Generator
from seedbed.generators.writing.backends import (
    DRAWN,
    PROBE_SAMPLING,
    PROBES,
    Backend,
    Completion,
    Request,
    check_effect,
    stream,
)
from seedbed.io import UserError
from seedbed.servers import RefusedError, post

ANYTHING = "Hello."
"""A prompt that every model accepts."""
WITH_STOP = {"include_stop_str_in_output": True, "no_stop_trim": True}
"""Options by which vLLM and SGLang keep the token that ended a completion in its text, see `Backend.text`."""
DECLINED = ("content_filter", "refusal")
"""Finish reasons of a server that generates nothing although it works: a refusal counts as an answer."""
BROKEN = ("error", "abort")
"""Finish reasons of a generation that broke off: what there is of a text is no answer (OpenRouter, Mistral; vLLM)."""


class _Server(Backend):
    """What both endpoints have in common. `batch_size` requests are under way at a time."""

    path: str

    def __init__(self, generator: Generator, base: Path | None = None, adapters: Sequence[Path] = ()) -> None:
        if not generator.endpoint or not generator.served_model:
            raise UserError(
                f"backend {generator.backend}: set `endpoint` (http://host:8000/v1) and `served_model` in the generator"
            )
        self.generator, self.sampling = generator, generator.sampling
        self.url = f"{generator.endpoint.rstrip('/')}/{self.path}"
        self.wait = 1.0
        """Seconds before the second try; doubled each time."""
        self.answered = -math.inf
        """When the last answer came, as `time.monotonic` has it."""
        self.refusal: RefusedError | None = None
        """Of a server that takes nothing."""
        self.told = False
        """Whether a refused text was reported."""
        self.asking = threading.Lock()

    def _answered(self, ask: Callable[[Request], Completion], requests: Sequence[Request]) -> Iterator[Completion]:
        """Completions in the order in which they arrive. After an error no further request is sent; those under way are
        awaited, since they are paid for.

        A server that refuses one text is no error: its completion says so. A server that refuses all texts is an error.
        """
        fault = None
        pool = ThreadPoolExecutor(self.generator.batch_size)
        try:
            for answer in as_completed(answers := [pool.submit(self._answer_or_refusal, ask, one) for one in requests]):
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

    def _answer_or_refusal(self, ask: Callable[[Request], Completion], request: Request) -> Completion:
        """The answer to one request, or that the server refused it."""
        if self.refusal:
            raise self.refusal
        sent = time.monotonic()
        try:
            completion = ask(request)
        except RefusedError as refusal:
            self._require_answers(ask, sent, refusal)
            if not self.told:
                print(f"{refusal}; {request.id} is left out, and others that are refused are counted", file=sys.stderr)
                self.told = True
            return Completion(request.id, "", finished=False, refused=True)
        self.answered = time.monotonic()
        return completion

    def _require_answers(self, ask: Callable[[Request], Completion], since: float, refusal: RefusedError) -> None:
        """Raise an error at a refusal if the server has answered no request for some time, nor answers ANYTHING."""
        with self.asking:
            if self.refusal is None and self.answered <= since:
                try:
                    ask(Request("anything", self.encode(ANYTHING)))
                    self.answered = time.monotonic()
                except RefusedError:
                    self.refusal = refusal
            if self.refusal:
                raise self.refusal

    def _ask(self, body: dict[str, Any]) -> dict[str, Any]:
        """The first choice of the server's answer."""
        own = self.generator
        limits = {"timeout": own.timeout, "tries": 1 + own.retries, "wait": self.wait}
        answer = post(self.url, body, key=own.key, answered=lambda: self.answered, **limits)
        choices = answer.get("choices") if isinstance(answer, dict) else None
        if not (isinstance(choices, list) and choices and isinstance(choices[0], dict)):
            raise self._unexpected("no `choices`")
        if (reason := choices[0].get("finish_reason")) in BROKEN:
            raise RefusedError(str(self._fault(f"broke off (finish_reason {reason!r})")))
        return choices[0]

    def _unexpected(self, what: str) -> RefusedError:
        what = f"{what} in its answer; does it speak `backend: {self.generator.backend}`?"
        return RefusedError(str(self._fault(what)))

    def _fault(self, what: str) -> UserError:
        return UserError(f"{self.url}: model {self.generator.served_model!r}: {what}")


class OpenAIBackend(_Server):
    """A `Backend` on a server that takes token ids."""

    path = "completions"

    def __init__(self, generator: Generator, base: Path, adapters: Sequence[Path] = ()) -> None:
        super().__init__(generator)
        Backend.__init__(self, generator, base)

    def write(self, requests: Sequence[Request], adapter: Path | None) -> Iterator[Completion]:
        """Complete the requests; see `Backend`."""
        base = self.generator.served_model
        model = _served_name(adapter) if adapter else base
        if adapter is not None:
            asks = [partial(self._complete, model=name, **PROBE_SAMPLING) for name in (model, base)]
            probes = [[*self._answered(ask, requests[:PROBES])] for ask in asks]
            texts = [{probe.id: probe.text for probe in own if not probe.refused} for own in probes]
            check_effect(adapter, texts[0] != texts[1] or not texts[0])
        yield from self._answered(partial(self._complete, model=model), requests)

    def _complete(self, request: Request, model: str, **changes: Any) -> Completion:
        sampling = self.sampling
        body = {"model": model, "prompt": request.prompt, **sampling.model_dump(include=DRAWN)}
        body |= {"max_tokens": sampling.max_new_tokens, "stop_token_ids": self.stops, **WITH_STOP}
        choice = self._ask(body | {"seed": stream(sampling.seed, request.id)} | changes)
        if not isinstance(text := choice.get("text"), str):
            raise self._unexpected("no `text`")
        return Completion(request.id, _whole(text), finished=choice.get("finish_reason") == "stop")


class ChatBackend(_Server):
    """A `Backend` on a server that takes messages; it has no adapters."""

    path = "chat/completions"

    def encode(self, prompt: str, *, bos: bool = True) -> str:
        """The text itself: the server applies the template, and only it knows the names of its special tokens."""
        return prompt

    def write(self, requests: Sequence[Request], adapter: Path | None) -> Iterator[Completion]:
        """Complete the requests; see `Backend`."""
        if adapter is not None:
            raise UserError(f"{adapter}: backend {self.generator.backend} has no adapters; take another back end")
        yield from self._answered(self._complete, requests)

    def _complete(self, request: Request) -> Completion:
        """One answer. What OpenAI does not know is sent only where it says something: other servers know it."""
        sampling = self.sampling
        silent = {name for name, off in (("top_k", 0), ("repetition_penalty", 1)) if getattr(sampling, name) == off}
        body = {
            "model": self.generator.served_model,
            "messages": [{"role": "user", "content": request.prompt}],
            **sampling.model_dump(include=DRAWN - silent),
            "max_tokens": sampling.max_new_tokens,
            "seed": stream(sampling.seed, request.id) if sampling.temperature else sampling.seed,
        }
        if self.generator.template:
            body["chat_template_kwargs"] = self.generator.template
        choice = self._ask(body)
        if not isinstance(message := choice.get("message"), dict):
            raise self._unexpected("no `message`")
        reason, text = choice.get("finish_reason"), message.get("content")
        if not text and reason == "length" and not self.keeps_cut:
            limit = sampling.max_new_tokens
            raise self._fault(f"nothing written in {limit} tokens; if it thinks first, raise `max_new_tokens`")
        if text is None and (reason in (*DECLINED, "length") or message.get("refusal")):
            text = ""
        if not isinstance(text, str):
            raise self._unexpected(f"no text (finish_reason {reason!r})")
        return Completion(request.id, _whole(text), finished=bool(text) and reason == "stop")


def _whole(text: str) -> str:
    """A text with U+FFFD for halves of surrogate pairs, which JSON may hold and UTF-8 may not."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _served_name(adapter: Path) -> str:
    """The path with slashes as dashes: how the adapter is registered with the server (`--lora-modules NAME=PATH`)."""
    return str(adapter).strip("/").replace("/", "-")

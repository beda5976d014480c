"""Generation by a server that speaks OpenAI's completions protocol, with tokens as prompts (vLLM, SGLang).

`/completions` with token ids serves both prompt styles: the server sees exactly the tokens that training saw. The chat
endpoint would render the template a second time, on the server's terms, and read special tokens in a premise as such.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from transformers import AutoTokenizer

from seedbed.generators.backends import PROBES, Completion, Request, check_effect, stream
from seedbed.generators.prompts import stop_ids
from seedbed.generators.settings import Generator
from seedbed.io import UserError
from seedbed.servers import post

KEY = "SEEDBED_API_KEY"
"""The environment variable that holds the token."""

TIMEOUT = 600
"""Seconds for one answer, queueing on the server included."""

PROBE_TOKENS = 32
"""Greedy tokens by which base and adapter are told apart."""


class OpenAIBackend:
    """A `Backend` elsewhere. `batch_size` requests are under way at a time; the key is read from SEEDBED_API_KEY."""

    def __init__(self, generator: Generator, base: Path) -> None:
        if not generator.endpoint or not generator.served_model:
            raise UserError("backend openai: set `endpoint` (http://host:8000/v1) and `served_model` in the generator")
        self.tokenizer = AutoTokenizer.from_pretrained(base, trust_remote_code=False)
        self.stops = stop_ids(self.tokenizer, generator.prompts)
        self.generator = generator
        self.wait = 1.0
        """Seconds before the second try; doubled each time."""

    def write(self, requests: Sequence[Request], adapter: Path | None) -> Iterator[Completion]:
        """Complete the requests; see `Backend`."""
        model = _served_name(adapter) if adapter else self.generator.served_model
        with ThreadPoolExecutor(self.generator.batch_size) as pool:
            if adapter is not None:
                self._check(pool, requests[:PROBES], adapter)
            answers = [pool.submit(self._complete, request, model) for request in requests]
            try:
                for answer in as_completed(answers):
                    yield answer.result()
            finally:
                pool.shutdown(cancel_futures=True)

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
        choice = self._post("completions", body | changes)["choices"][0]
        return Completion(request.id, choice["text"], finished=choice["finish_reason"] == "stop")

    def _post(self, path: str, body: dict[str, Any]) -> Any:
        url = f"{self.generator.endpoint.rstrip('/')}/{path}"
        return post(url, body, key=KEY, timeout=TIMEOUT, wait=self.wait)


def _served_name(adapter: Path) -> str:
    """The path with slashes as dashes: how the adapter is registered with the server (`--lora-modules NAME=PATH`)."""
    return str(adapter).strip("/").replace("/", "-")

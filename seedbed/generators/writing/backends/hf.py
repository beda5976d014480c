"""Generation with transformers: continuous batches, and a separate random stream for each row."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad
from transformers import AutoModelForCausalLM, Cache, DynamicCache
from transformers.generation import TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

from seedbed.generators.settings import Generator, Sampling
from seedbed.generators.weights.models import in_four_bits, open_adapter, open_language_model
from seedbed.generators.writing.backends import PROBES, Backend, Completion, Request, check_effect, stream
from seedbed.generators.writing.soft_prompts import read
from seedbed.precision import precision


class HfBackend(Backend):
    """A `Backend` on this machine, on CUDA or else the CPU; for models whose layers all have attention."""

    architecture = AutoModelForCausalLM

    def __init__(self, generator: Generator, base: Path, adapters: Sequence[Path] = ()) -> None:
        device = "cuda" if torch.cuda.is_available() else "cpu"
        options: dict[str, Any] = {"dtype": getattr(torch, precision(generator.dtype))}
        if generator.quantization == "nf4":
            options |= in_four_bits("quantization", options["dtype"]) | {"device_map": {"": 0}}
        super().__init__(generator, base)
        model = open_language_model(base, self.architecture, **options)
        # Weights in 4 bits are where they were loaded, and may not be moved.
        self.model = (model if "device_map" in options else model.to(device)).eval().requires_grad_(False)
        self.batch_size = generator.batch_size
        self.stops = torch.tensor(self.stops, device=device)

    def write(self, requests: Sequence[Request], adapter: Path | None) -> Iterator[Completion]:
        """Complete the requests; see `Backend`.

        The longest prompts are first: rows of similar length need little padding, and memory runs out at once or never.
        A finished row leaves its batch, and when a quarter of the batch is free new rows are added, so that one very
        long completion does not delay the others.
        """
        queue = deque(sorted(requests, key=lambda request: len(request.prompt), reverse=True))
        rows = None
        with self._adapted(adapter, requests[:PROBES]):
            while queue or rows:
                free = self.batch_size - (len(rows.requests) if rows else 0)
                if queue and 4 * free >= self.batch_size:
                    new = self._rows([queue.popleft() for _ in range(min(free, len(queue)))])
                    self._advance(new)
                    rows = rows.join(new) if rows else new
                else:
                    self._advance(rows)
                done, left = self._over(rows)
                yield from done
                if done:
                    rows = rows.keep(left)

    def _rows(self, requests: list[Request]) -> GenerationBatch:
        """Rows before their first generated token. Padding repeats a row's first token, so that penalties do not see
        it.
        """
        longest = max(len(request.prompt) for request in requests)
        missing = [longest - len(request.prompt) for request in requests]
        tokens = [[request.prompt[0]] * gap + request.prompt for gap, request in zip(missing, requests, strict=True)]
        mask = [[0] * gap + [1] * (longest - gap) for gap in missing]
        # The cache has no config: a layer with a sliding window keeps all, so that rows can join.
        return self._begun(requests, torch.tensor(tokens), torch.tensor(mask), DynamicCache())

    def _begun(self, requests: list[Request], tokens: Tensor, mask: Tensor, cache: Cache) -> GenerationBatch:
        """Rows without generated tokens."""
        numbers = torch.stack([uniforms(self.sampling, request.id) for request in requests])
        written = torch.zeros(len(requests), dtype=torch.long)
        return GenerationBatch(
            requests, *(each.to(self.model.device) for each in (tokens, mask, written, numbers)), cache
        )

    @torch.inference_mode()
    def _logits(self, rows: GenerationBatch) -> Tensor:
        """Logits (rows, vocabulary) of the next token; the model processes the tokens that are not in the cache yet.

        The last position is selected by an index tensor, which copies it. A slice is a strided view, for which torch
        expands a frozen output layer over the batch: 75 s instead of 0.7 s for 32 prompts and 262k tokens.
        """
        seen = rows.cache.get_seq_length()
        new = {"input_ids": rows.tokens[:, seen:]}
        output = self.model(
            **(new if seen else read(self.model, rows.tokens, [request.prompt for request in rows.requests])),
            attention_mask=rows.mask,
            position_ids=(rows.mask.cumsum(1) - 1).clamp(min=0)[:, seen:],
            past_key_values=rows.cache,
            use_cache=True,
            logits_to_keep=torch.tensor([-1], device=self.model.device),
        )
        return output.logits[:, -1]

    @torch.inference_mode()
    def _advance(self, rows: GenerationBatch) -> None:
        """Write one token in each row."""
        rows.append(sample_tokens(self._logits(rows), rows, self.sampling))

    def _over(self, rows: GenerationBatch) -> tuple[list[Completion], Tensor]:
        """What is complete, and the numbers of the other rows."""
        stopped = torch.isin(rows.tokens[:, -1], self.stops)
        over = stopped | (rows.written == self.sampling.max_new_tokens)
        done = []
        for row in over.nonzero()[:, 0].tolist():
            text = self.text(rows.tokens[row, -int(rows.written[row]) :])
            done.append(Completion(rows.requests[row].id, text, bool(stopped[row])))
        return done, (~over).nonzero()[:, 0]

    @contextlib.contextmanager
    def _adapted(self, adapter: Path | None, probes: Sequence[Request]) -> Iterator[None]:
        """The base with an unmerged adapter; the base's weights are never changed.

        Merging would save 3 to 18 % of a step on a CPU, but bfloat16 rounds small updates away, and it cannot be
        undone.
        """
        if adapter is None or not probes:
            yield
            return
        model = open_adapter(self.model, adapter)
        try:
            adapted = self._logits(self._rows(list(probes)))
            with model.disable_adapter():
                check_effect(adapter, not torch.equal(adapted, self._logits(self._rows(list(probes)))))
            yield
        finally:
            model.unload()


@dataclass
class GenerationBatch:
    """A batch of unfinished completions. Tensors have one line for each row; prompts are padded on the left."""

    requests: list[Request]
    tokens: Tensor
    """(rows, length): padding, prompt, and generated tokens."""
    mask: Tensor
    """(rows, length): 0 on padding."""
    written: Tensor
    """(rows,): number of generated tokens."""
    uniforms: Tensor
    """(rows, max_new_tokens): each row's random numbers."""
    cache: Cache
    """Keys and values (rows, heads, length - 1, width)."""

    def append(self, chosen: Tensor) -> None:
        """Add one token (rows,) to each row."""
        self.tokens = torch.cat([self.tokens, chosen[:, None]], 1)
        self.mask = pad(self.mask, (0, 1), value=1)
        self.written = self.written + 1

    def keep(self, rows: Tensor) -> GenerationBatch | None:
        """The rows with these indices, without columns that are padding in all of them; None: no rows are left."""
        if not len(rows):
            return None
        start = int(self.mask[rows].any(0).int().argmax())
        return self.taken(rows, self._cache(lambda states: states[rows, :, start:]), start)

    def taken(self, rows: Tensor, cache: Cache, start: int = 0) -> GenerationBatch:
        """The rows with these indices, from column `start` on, with the given part of the cache."""
        requests = [self.requests[row] for row in rows.tolist()]
        tokens, mask = self.tokens[rows, start:], self.mask[rows, start:]
        return GenerationBatch(requests, tokens, mask, self.written[rows], self.uniforms[rows], cache)

    def join(self, other: GenerationBatch) -> GenerationBatch:
        """Concatenate two batches, padded on the left to the same length."""
        length = max(self.tokens.shape[1], other.tokens.shape[1])
        both = [self._lengthened(length), other._lengthened(length)]
        layers = zip(*(rows.cache.layers for rows in both), strict=True)
        cache = DynamicCache([(torch.cat([a.keys, b.keys]), torch.cat([a.values, b.values])) for a, b in layers])
        tensors = zip(*((rows.tokens, rows.mask, rows.written, rows.uniforms) for rows in both), strict=True)
        return GenerationBatch(self.requests + other.requests, *map(torch.cat, tensors), cache)

    def _lengthened(self, length: int) -> GenerationBatch:
        if not (gap := length - self.tokens.shape[1]):
            return self
        tokens = torch.cat([self.tokens[:, :1].expand(-1, gap), self.tokens], 1)
        cache = self._cache(lambda states: pad(states, (0, 0, gap, 0)))
        return replace(self, tokens=tokens, mask=pad(self.mask, (gap, 0)), cache=cache)

    def _cache(self, change: Callable[[Tensor], Tensor]) -> DynamicCache:
        return DynamicCache([(change(layer.keys), change(layer.values)) for layer in self.cache.layers])


def sample_tokens(logits: Tensor, rows: GenerationBatch, sampling: Sampling) -> Tensor:
    """Sample the next token (rows,) of each row of a batch from logits (rows, vocabulary), with penalty and warping as
    in transformers.

    A row takes the token at which its cumulative probability exceeds its own uniform number, so that the result depends
    neither on other rows of the batch nor on the device's generator. Only the best candidates are sorted: sorting 262k
    logits takes longer than a step of the model, and penalising all of them a fifth of one.
    """
    if sampling.temperature == 0 and sampling.repetition_penalty == 1:
        return logits.argmax(-1)
    scores, candidates = _candidates(logits, rows.tokens, sampling)
    if sampling.temperature == 0:
        return candidates.gather(-1, scores.argmax(-1, keepdim=True))[:, 0]
    cumulative = _warp(scores, sampling).double().softmax(-1).cumsum(-1)
    uniform = rows.uniforms.gather(1, rows.written[:, None])
    place = torch.searchsorted(cumulative, uniform * cumulative[:, -1:], right=True)
    return candidates.gather(-1, place)[:, 0]


def _candidates(logits: Tensor, tokens: Tensor, sampling: Sampling) -> tuple[Tensor, Tensor]:
    """Penalised scores and ids (rows, candidates) of all tokens that can be sampled, by ascending id.

    The penalty only lowers scores, and only of tokens that the row contains: the best k after it are among the best k +
    length before it. They are ordered by id, not by score: a rounding that swaps two nearly equal scores changes
    nothing.
    """
    vocabulary = logits.shape[-1]
    wanted = 1 if sampling.temperature == 0 else sampling.top_k or vocabulary
    penalty = sampling.repetition_penalty
    scores, candidates = logits.topk(min(wanted + (tokens.shape[1] if penalty != 1 else 0), vocabulary))
    candidates, order = candidates.sort(-1)
    scores = scores.gather(-1, order).float()
    held = (candidates[:, :, None] == tokens[:, None]).any(-1) if penalty != 1 else torch.zeros_like(scores).bool()
    return torch.where(held, torch.where(scores < 0, scores * penalty, scores / penalty), scores), candidates


def _warp(scores: Tensor, sampling: Sampling) -> Tensor:
    """Scores over temperature, minus infinity outside of the best k and the nucleus."""
    scores = TemperatureLogitsWarper(sampling.temperature)(None, scores)
    scores = TopKLogitsWarper(sampling.top_k)(None, scores) if sampling.top_k else scores
    return TopPLogitsWarper(sampling.top_p)(None, scores) if sampling.top_p < 1 else scores


def uniforms(sampling: Sampling, row: str) -> Tensor:
    """The random numbers (max_new_tokens,) of one row."""
    generator = torch.Generator().manual_seed(stream(sampling.seed, row))
    return torch.rand(sampling.max_new_tokens, generator=generator, dtype=torch.float64)

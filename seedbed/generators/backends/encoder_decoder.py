"""Generation with an encoder-decoder (mT0, Aya-101) and transformers: a batch is read once and written row by row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from torch import Tensor
from transformers import AutoModelForSeq2SeqLM, DynamicCache, EncoderDecoderCache
from transformers.modeling_outputs import BaseModelOutput

from seedbed.generators.backends import Completion, Request, refuse_encoder_decoder
from seedbed.generators.backends.hf import HfBackend, Rows, choose, uniforms
from seedbed.generators.labels import read_by_encoder
from seedbed.generators.prompts import encode_source


class EncoderDecoderBackend(HfBackend):
    """A `Backend` on this machine, CUDA if there is one, else the CPU; it has no adapters."""

    architecture = AutoModelForSeq2SeqLM

    def encode(self, prompt: str, *, bos: bool = True) -> list[int]:
        """Tokens of a prompt as the encoder was trained on them: with the tokens that its tokenizer puts around."""
        return encode_source(self.tokenizer, prompt, self.style)

    def write(self, requests: Sequence[Request], adapter: Path | None) -> Iterator[Completion]:
        """Complete the requests; see `Backend`. Longest prompts first: memory runs out at once or never."""
        if adapter is not None:
            refuse_encoder_decoder(Path(self.model.name_or_path))
        queue = sorted(requests, key=lambda request: len(request.prompt), reverse=True)
        for start in range(0, len(queue), self.batch_size):
            yield from self._of_batch(queue[start : start + self.batch_size])

    def _of_batch(self, requests: list[Request]) -> Iterator[Completion]:
        states, mask = read_by_encoder(self.model, [request.prompt for request in requests])
        rows = self._empty(requests)
        while len(rows.requests):
            rows.append(choose(self._next(rows, states, mask), rows, self.sampling))
            stopped = torch.isin(rows.tokens[:, -1], self.stops)
            over = stopped | (rows.written == self.sampling.max_new_tokens)
            for index in over.nonzero()[:, 0].tolist():
                yield Completion(rows.requests[index].id, self._text(rows, index), bool(stopped[index]))
            if over.any():
                left = (~over).nonzero()[:, 0]
                rows, states, mask = self._left(rows, left), states[left], mask[left]

    def _empty(self, requests: list[Request]) -> Rows:
        """Rows that hold the decoder's first token."""
        device, count = self.model.device, len(requests)
        first = self.model.generation_config.decoder_start_token_id
        first = self.model.config.decoder_start_token_id if first is None else first
        return Rows(
            requests=requests,
            tokens=torch.full((count, 1), first, device=device),
            mask=torch.ones(count, 1, dtype=torch.long, device=device),
            written=torch.zeros(count, dtype=torch.long, device=device),
            uniforms=torch.stack([uniforms(self.sampling, request.id) for request in requests]).to(device),
            cache=EncoderDecoderCache(DynamicCache(), DynamicCache()),
        )

    @torch.inference_mode()
    def _next(self, rows: Rows, states: Tensor, mask: Tensor) -> Tensor:
        """Logits (rows, vocabulary) of the next token; the decoder reads the last one."""
        output = self.model(
            encoder_outputs=BaseModelOutput(states),
            attention_mask=mask,
            decoder_input_ids=rows.tokens[:, -1:],
            past_key_values=rows.cache,
            use_cache=True,
        )
        return output.logits[:, -1]

    def _left(self, rows: Rows, left: Tensor) -> Rows:
        """The rows with these numbers."""
        rows.cache.batch_select_indices(left)
        return Rows(
            requests=[rows.requests[row] for row in left.tolist()],
            tokens=rows.tokens[left],
            mask=rows.mask[left],
            written=rows.written[left],
            uniforms=rows.uniforms[left],
            cache=rows.cache,
        )

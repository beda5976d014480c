"""Generation by an encoder-decoder (mT0, Aya-101, NLLB) with transformers: a batch is encoded once and decoded row by
row.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from transformers import AutoModelForSeq2SeqLM, DynamicCache, EncoderDecoderCache, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput

from seedbed.batching import by_length
from seedbed.generators.weights.folder import refuse_encoder_decoder
from seedbed.generators.writing.backends import Completion, Request
from seedbed.generators.writing.backends.hf import GenerationBatch, HfBackend, sample_tokens
from seedbed.generators.writing.prompts import encode_source, encode_text
from seedbed.io import UserError


class EncoderDecoderBackend(HfBackend):
    """A `Backend` on this machine, CUDA if there is one, else the CPU; it has no adapters."""

    architecture = AutoModelForSeq2SeqLM
    languages: tuple[int, int] | None = None
    """Tokens of a translator's source and target language; None: it is no translator, or they are not set."""

    @cached_property
    def forbidden(self) -> list[int]:
        """Tokens that the model must never generate, by its generation config; of OPUS-MT the padding."""
        banned = self.model.generation_config.bad_words_ids or []
        return [word[0] for word in banned if len(word) == 1]

    def between(self, source: str, target: str) -> None:
        """See `Backend`. Inputs have the format in which NLLB-200 and M2M100 were trained: the source language's token,
        the text, EOS; outputs begin with the target language's token. Source: NLLB team (2022), "No language left
        behind", section 8.3.
        """
        # Not by the vocabulary, which lacks the language tokens of M2M100.
        known = {code: self.tokenizer.convert_tokens_to_ids(code) for code in (source, target)}
        for code, token in known.items():
            if token in (None, self.tokenizer.unk_token_id):
                raise UserError(
                    f"{self.model.name_or_path}: no token for language {code!r}; a translator has one for each, like "
                    "eng_Latn: set `codes: {flores: ...}` of the language, or take another generator"
                )
        self.languages = known[source], known[target]
        self.stops = torch.tensor([self.tokenizer.eos_token_id], device=self.model.device)

    def encode(self, prompt: str, *, bos: bool = True) -> list[int]:
        """Tokens of a prompt for the encoder, with the special tokens that its tokenizer adds."""
        if self.languages:
            return [self.languages[0], *encode_text(self.tokenizer, prompt), self.tokenizer.eos_token_id]
        return encode_source(self.tokenizer, prompt, self.style, self.template)

    def write(self, requests: Sequence[Request], adapter: Path | None) -> Iterator[Completion]:
        """Complete the requests; see `Backend`."""
        if adapter is not None:
            refuse_encoder_decoder(Path(self.model.name_or_path))
        for rows in by_length([len(request.prompt) for request in requests], self.batch_size):
            yield from self._of_batch([requests[row] for row in rows])

    def _of_batch(self, requests: list[Request]) -> Iterator[Completion]:
        states, mask = read_by_encoder(self.model, [request.prompt for request in requests])
        rows = self._empty(requests)
        while len(rows.requests):
            rows.append(sample_tokens(self._next(rows, states, mask), rows, self.sampling))
            done, left = self._over(rows)
            yield from done
            if done:
                rows.cache.batch_select_indices(left)
                rows, states, mask = rows.taken(left, rows.cache), states[left], mask[left]

    def _empty(self, requests: list[Request]) -> GenerationBatch:
        """Rows with the first tokens of the decoder: its start token, and a translator's target language."""
        first = self.model.generation_config.decoder_start_token_id
        first = self.model.config.decoder_start_token_id if first is None else first
        begin = torch.tensor([first, *(self.languages or ())[1:]]).repeat(len(requests), 1)
        return self._begun(requests, begin, torch.ones_like(begin), EncoderDecoderCache(DynamicCache(), DynamicCache()))

    @torch.inference_mode()
    def _next(self, rows: GenerationBatch, states: Tensor, mask: Tensor) -> Tensor:
        """Logits (rows, vocabulary) of the next token; the decoder processes tokens that are not in the cache."""
        output = self.model(
            encoder_outputs=BaseModelOutput(states),
            attention_mask=mask,
            decoder_input_ids=rows.tokens[:, rows.cache.get_seq_length() :],
            past_key_values=rows.cache,
            use_cache=True,
        )
        logits = output.logits[:, -1]
        logits[:, self.forbidden] = -torch.inf
        return logits


@torch.inference_mode()
def read_by_encoder(model: PreTrainedModel, prompts: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """The encoder's states (prompts, longest, width), and the mask (prompts, longest), which is 0 on padding."""
    read = pad_sequence([torch.tensor(prompt) for prompt in prompts], True, model.config.pad_token_id or 0)
    mask = pad_sequence([torch.ones(len(prompt), dtype=torch.long) for prompt in prompts], True).to(model.device)
    return model.get_encoder()(input_ids=read.to(model.device), attention_mask=mask).last_hidden_state, mask

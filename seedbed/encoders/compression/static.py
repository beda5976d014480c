"""Static encoders: one vector for each token, and a text is their mean (Model2Vec)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import StaticEmbedding
from transformers import PreTrainedTokenizerFast

from seedbed.encoders.compression.trim import count_tokens, cut_tokenizer, kept_ids
from seedbed.encoders.prompts import set_prompts
from seedbed.io import UserError

BATCH = 256
"""Tokens that are encoded in one batch."""


def condense(
    encoder: SentenceTransformer,
    texts: Sequence[str],
    *,
    dimensions: int,
    smoothing: float,
    whiten: bool,
    least_count: int,
) -> SentenceTransformer:
    """Make a static encoder: a text's vector is the mean of its tokens' vectors, which the encoder gives for single
    tokens.

    The vectors are reduced by principal components and multiplied by smoothing / (smoothing + p), where p is the
    token's share of the texts. Sources: Tulkens and van Dongen (2024, "Model2Vec") for tokens and components; Arora et
    al. (2017, "A simple but tough-to-beat baseline for sentence embeddings") for the weights.

    Args:
        encoder: the original, with a plain transformer.
        texts: sentences, which give the tokens and their shares.
        dimensions: dimensions of the new vectors.
        smoothing: see above.
        whiten: scale all components to the same variance.
        least_count: occurrences that a token needs in the texts.

    Raises:
        UserError: more dimensions than the encoder or the tokens have, or a tokenizer that cannot be cut.
    """
    counts = count_tokens(encoder, texts)
    tokenizer = encoder.tokenizer
    ids = kept_ids(tokenizer, counts, least=least_count)
    vectors = _each_alone(encoder, ids)
    if dimensions > min(vectors.shape):
        raise UserError(f"static.dimensions: {dimensions}, and {min(vectors.shape)} are there; give fewer")
    centred = vectors - vectors.mean(axis=0)
    _, deviations, directions = np.linalg.svd(centred, full_matrices=False)
    directions = directions[:dimensions]
    # The sign of a component is the solver's: its largest entry is to be positive.
    directions *= np.sign(directions[np.arange(dimensions), np.abs(directions).argmax(axis=1)])[:, None]
    shares = np.array([counts[token] for token in ids]) / max(1, counts.total())
    unknown = tokenizer.unk_token_id
    shares[[token == unknown for token in ids]] = 1  # the least weight, but not 0: a text of it alone needs a vector
    weights = smoothing / (smoothing + shares)
    spread = deviations[:dimensions].clip(min=1e-9) / np.sqrt(len(ids)) if whiten else 1.0
    rows = (centred @ directions.T / spread * weights[:, None]).astype(np.float32)
    rows[[place for place, token in enumerate(ids) if token in {*tokenizer.all_special_ids} - {unknown}]] = 0
    module = StaticEmbedding(cut_tokenizer(tokenizer, ids), embedding_weights=rows)
    return set_prompts(SentenceTransformer(modules=[module], local_files_only=True), "")


@torch.no_grad()
def _each_alone(encoder: SentenceTransformer, ids: Sequence[int]) -> np.ndarray:
    """What an encoder makes (n, d) of each token between the special tokens of a text."""
    before, after = _around(encoder.tokenizer)
    encoder.eval()
    found = []
    for start in range(0, len(ids), BATCH):
        rows = torch.tensor([[*before, token, *after] for token in ids[start : start + BATCH]], device=encoder.device)
        features: dict[str, Any] = {"input_ids": rows, "attention_mask": torch.ones_like(rows)}
        found.append(encoder(features)["sentence_embedding"].float().cpu().numpy())
    return np.concatenate(found).astype(np.float64)


def _around(tokenizer: PreTrainedTokenizerFast) -> tuple[list[int], list[int]]:
    """The special tokens that a tokenizer adds before and after a text."""
    whole = tokenizer("a")["input_ids"]
    plain = tokenizer("a", add_special_tokens=False)["input_ids"]
    start = next(place for place in range(len(whole)) if whole[place : place + len(plain)] == plain)
    return whole[:start], whole[start + len(plain) :]

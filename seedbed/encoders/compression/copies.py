"""Copies of an encoder: fewer tokens, no transformer, half the bits; and one of several, their mean."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import StaticEmbedding, Transformer
from tokenizers import Tokenizer
from torch import nn
from torch.optim.swa_utils import AveragedModel
from transformers import PreTrainedTokenizerFast

from seedbed.encoders.models.onnx_int8 import Int8Transformer
from seedbed.encoders.prompts import put
from seedbed.encoders.vocabulary.tokenizer import renumbered
from seedbed.io import UserError

KINDS = ("Unigram", "WordPiece")
"""Kinds of tokenizers that can be cut: what they make of a word hangs on no token that stays out of it."""
BATCH = 256
"""Tokens that are encoded together."""


def counted(encoder: SentenceTransformer, texts: Iterable[str]) -> Counter[int]:
    """How often each token stands in texts, by id, without special ones.

    Raises:
        UserError: the encoder reads no tokens, or has parallel adapters, which are made for its whole vocabulary.
    """
    require_plain(encoder)
    found: Counter[int] = Counter()
    for text in texts:
        found.update(encoder.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])
    return found


def kept(tokenizer: PreTrainedTokenizerFast, counts: Counter[int], *, least: int = 1) -> list[int]:
    """The ids, in order, of the tokens that a cut tokenizer has.

    They are special tokens, those that stand `least` times in the texts, and of these texts' letters the tokens of one
    letter, small and capital, so that no word is unknown that is written with them.
    """
    form = json.loads(tokenizer.backend_tokenizer.to_str())
    ids = {one["id"] for one in form["added_tokens"]} | {*tokenizer.all_special_ids}
    ids |= {token for token, count in counts.items() if count >= least}
    names = tokenizer.convert_ids_to_tokens(sorted(counts))
    letters = {other for name in names for letter in name for other in (letter, letter.lower(), letter.upper())}
    prefix = form["model"].get("continuing_subword_prefix") or "▁"
    ids |= {place for name, place in tokenizer.get_vocab().items() if name.removeprefix(prefix) in {*letters, ""}}
    return sorted(ids)


def cut_tokenizer(tokenizer: PreTrainedTokenizerFast, ids: Sequence[int]) -> Tokenizer:
    """A tokenizer with some of the tokens, the n-th of these ids as n; texts of these tokens are split as before.

    Raises:
        UserError: a tokenizer of another kind than KINDS.
    """
    form = json.loads(tokenizer.backend_tokenizer.to_str())
    model, kind = form["model"], form["model"]["type"]
    if kind not in KINDS:
        raise UserError(f"copy: a tokenizer of kind {kind} cannot be cut; only {' and '.join(KINDS)} can")
    new = {old: place for place, old in enumerate(ids)}
    if kind == "Unigram":  # what was added beyond its vocabulary stays beyond it
        own = [old for old in ids if old < len(model["vocab"])]
        model |= {"vocab": [model["vocab"][old] for old in own], "unk_id": new[model["unk_id"]]}
    else:
        model["vocab"] = {name: new[old] for name, old in model["vocab"].items() if old in new}
    added = [one | {"id": new[one["id"]]} for one in form["added_tokens"]]
    names = {tokenizer.convert_ids_to_tokens(old): place for old, place in new.items()}
    processor = renumbered(form["post_processor"], names)
    whole = form | {"added_tokens": added, "post_processor": processor, "truncation": None, "padding": None}
    return Tokenizer.from_str(json.dumps(whole))


def trimmed(encoder: SentenceTransformer, texts: Sequence[str], *, least: int = 1) -> SentenceTransformer:
    """The encoder, in place, without the tokens that texts do not use, with or without its prompts before them.

    On these texts its vectors are as they were.
    Source: Abdaoui et al. (2020, "Load what you need"), who cut multilingual models to the tokens of a language.

    Raises:
        UserError: as `counted` and `cut_tokenizer`.
    """
    counts: Counter[int] = Counter()
    for prompt in sorted({"", *encoder.prompts.values()}):
        counts |= counted(encoder, (prompt + text for text in texts))
    tokenizer, model = encoder.tokenizer, encoder[0].auto_model
    ids = kept(tokenizer, counts, least=least)
    places = getattr(getattr(model, "embeddings", None), "position_embeddings", None)
    if getattr(places, "padding_idx", None) is not None:  # positions are counted from the id of padding on
        ids = sorted({*ids, *range(tokenizer.pad_token_id)})
    special = {name: value for name, value in tokenizer.special_tokens_map.items() if isinstance(value, str)}
    encoder[0].processor = PreTrainedTokenizerFast(
        tokenizer_object=cut_tokenizer(tokenizer, ids),
        **special,
        model_max_length=tokenizer.model_max_length,
        model_input_names=tokenizer.model_input_names,
        padding_side=tokenizer.padding_side,
    )
    old = model.get_input_embeddings()
    padding = encoder.tokenizer.pad_token_id
    rows = nn.Embedding(len(ids), old.embedding_dim, padding_idx=padding)
    rows.weight.data = old.weight.data[ids].clone()
    model.set_input_embeddings(rows)
    model.config.vocab_size, model.config.pad_token_id = len(ids), padding
    return encoder


def condensed(
    encoder: SentenceTransformer,
    texts: Sequence[str],
    *,
    dimensions: int = 256,
    smoothing: float = 1e-4,
    whiten: bool = True,
    least: int = 1,
) -> SentenceTransformer:
    """A static encoder: a text's vector is the mean of its tokens', which the encoder made of each token alone.

    The vectors are reduced by principal components, all of the same variance with `whiten`, and multiplied by
    smoothing / (smoothing + p), where p is a token's share of the texts.
    Sources: Tulkens and van Dongen (2024, "Model2Vec") for tokens and components; Arora et al. (2017, "A simple but
    tough-to-beat baseline for sentence embeddings") for the weights.

    Raises:
        UserError: as `counted` and `cut_tokenizer`; more dimensions than the encoder or the tokens have.
    """
    counts = counted(encoder, texts)
    tokenizer = encoder.tokenizer
    ids = kept(tokenizer, counts, least=least)
    vectors = _each_alone(encoder, ids)
    if dimensions > min(vectors.shape):
        raise UserError(f"condensed.dimensions: {dimensions}, and {min(vectors.shape)} are there; give fewer")
    centred = vectors - vectors.mean(axis=0)
    _, deviations, directions = np.linalg.svd(centred, full_matrices=False)
    directions = directions[:dimensions]
    # The sign of a component is the solver's: its largest entry is to be positive.
    directions *= np.sign(directions[np.arange(dimensions), np.abs(directions).argmax(axis=1)])[:, None]
    shares = np.array([counts[token] for token in ids]) / max(1, counts.total())
    unknown = tokenizer.unk_token_id
    shares[[token == unknown for token in ids]] = 1  # says least, and yet a text of it alone has a vector
    weights = smoothing / (smoothing + shares)
    spread = deviations[:dimensions].clip(min=1e-9) / np.sqrt(len(ids)) if whiten else 1.0
    rows = (centred @ directions.T / spread * weights[:, None]).astype(np.float32)
    rows[[place for place, token in enumerate(ids) if token in {*tokenizer.all_special_ids} - {unknown}]] = 0
    module = StaticEmbedding(cut_tokenizer(tokenizer, ids), embedding_weights=rows)
    return put(SentenceTransformer(modules=[module], local_files_only=True), "")


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
    """The special tokens that stand before and after a text."""
    whole = tokenizer("a")["input_ids"]
    plain = tokenizer("a", add_special_tokens=False)["input_ids"]
    start = next(place for place in range(len(whole)) if whole[place : place + len(plain)] == plain)
    return whole[:start], whole[start + len(plain) :]


def averaged(encoder: SentenceTransformer, others: Iterable[SentenceTransformer]) -> SentenceTransformer:
    """The mean of an encoder's weights and those of others that were trained from the same one.

    Raises:
        UserError: the encoder has no transformer, or one with parallel adapters; another one has other weights.
    """
    require_plain(encoder)
    mean = AveragedModel(encoder)
    mean.update_parameters(encoder)  # the first is the mean of one
    for place, other in enumerate(others, start=2):
        _require_shapes(encoder, other, f"encoder {place}", "average seeds of one recipe")
        mean.update_parameters(other)
    return mean.module


def interpolated(encoder: SentenceTransformer, other: SentenceTransformer, share: float) -> SentenceTransformer:
    """The encoder, in place, with (1 - share) times its weights plus share times another's (Wortsman et al., 2022).

    Raises:
        UserError: the other one has other weights.
    """
    _require_shapes(encoder, other, "what training started from", "leave `share` out")
    theirs = dict(other.named_parameters())
    with torch.no_grad():
        for name, weight in encoder.named_parameters():
            weight.lerp_(theirs[name], share)
    return encoder


def _require_shapes(encoder: SentenceTransformer, other: SentenceTransformer, what: str, remedy: str) -> None:
    """Both have weights of the same names and shapes."""
    own, theirs = ({name: weight.shape for name, weight in one.named_parameters()} for one in (encoder, other))
    if own != theirs:
        raise UserError(f"averaged: {what} has other weights than the first encoder; {remedy}")


def rounded(encoder: SentenceTransformer) -> SentenceTransformer:
    """The encoder, in place, with the transformer's weights rounded to bfloat16, and kept in float32.

    Raises:
        UserError: its first module is no transformer, or one with parallel adapters.
    """
    require_plain(encoder)
    for weight in encoder[0].auto_model.parameters():
        weight.data = weight.data.bfloat16().float()
    return encoder


def halved(encoder: SentenceTransformer) -> SentenceTransformer:
    """The encoder, in place, as it is saved in bfloat16; whoever opens it computes in float32, as fast on a CPU."""
    transformer = encoder[0]
    transformer.auto_model.to(torch.bfloat16)
    transformer.model_kwargs = {**(getattr(transformer, "model_kwargs", None) or {}), "dtype": "float32"}
    if "model_kwargs" not in transformer.config_keys:
        transformer.config_keys = [*transformer.config_keys, "model_kwargs"]
    return encoder


def require_plain(encoder: SentenceTransformer) -> None:
    """Refuse what cannot be copied: a UserError if it has no transformer, or one with parallel adapters."""
    if not isinstance(encoder[0], Transformer):
        raise UserError("copy: this encoder has no transformer; copy the one that it was made from")
    if type(encoder[0]) is not Transformer:
        raise UserError("copy: this encoder has parallel adapters; copy the one that was aligned")


def size(encoder: SentenceTransformer) -> dict[str, int]:
    """Weights of an encoder, and the bytes that they take as they are saved."""
    weights = list(encoder.state_dict().values())
    graph = encoder[0] if isinstance(encoder[0], Int8Transformer) else None
    return {
        "parameters": sum(one.numel() for one in weights) + (graph.weights if graph else 0),
        "bytes": sum(one.numel() * one.element_size() for one in weights) + (len(graph.graph) if graph else 0),
    }


def agreement(one: np.ndarray, other: np.ndarray) -> float | None:
    """Pearson's correlation of the cosines of neighbouring texts, text 1 with 2, 2 with 3, ..., by two encoders.

    Vectors (n, d) of the same texts; they may have other dimensions. Says how far a copy tells texts apart alike. None:
    fewer than three texts, or all alike.
    """
    cosines = []
    for vectors in (one, other):
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True).clip(min=1e-30)
        cosines.append((unit[1:] * unit[:-1]).sum(axis=1))
    if min(map(np.ptp, cosines)) < 1e-6:
        return None
    return float(np.corrcoef(*cosines)[0, 1])

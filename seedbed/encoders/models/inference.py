"""Opening an encoder, or a fusion of several, for evaluation: encode, search, layers and paths."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Transformer
from tqdm.auto import tqdm

from seedbed import manifests
from seedbed.corpora.settings import TEXT
from seedbed.encoders.endpoint import Endpoint
from seedbed.encoders.models.digests import embeddings_folder
from seedbed.encoders.models.ensemble import members_of
from seedbed.encoders.models.layers import layer_means
from seedbed.encoders.models.loading import open_encoder
from seedbed.encoders.models.parallel_adapters import AdaptedTransformer
from seedbed.encoders.models.two_paths import TwoPaths
from seedbed.encoders.models.two_paths_setup import has_paths, path_vectors
from seedbed.encoders.prompts import ROLES, prompts_of, set_language
from seedbed.vectors.fused import search_by, side_by_side
from seedbed.vectors.store import with_disk_cache
from seedbed.vectors.types import Encode, Layers, ReadAs, Search


class Opened(NamedTuple):
    """What evaluation needs of an encoder or of a fusion of several."""

    encode: Encode
    """Texts -> vectors (n, width); of several encoders, their concatenated vectors."""
    width: int
    """Dimensions of a vector."""
    search: Search | None
    """Nearest-neighbour search by the fused distances of several encoders; None for a single one, which is searched by
    the task's distance.
    """
    encoder: SentenceTransformer | None
    """None for several encoders."""
    about: dict[str, Any]
    """The `about` of its manifest."""
    layers: Layers | None = None
    """Texts -> token means of all layers; None for several encoders, an API model or an encoder with two paths."""
    paths: Layers | None = None
    """Texts -> vectors (2, n, d) of texts and of their English translations; None unless it is one encoder with two
    paths.
    """
    per_language: bool = False
    """Whether the prompt, and so the vectors, depend on the texts' language."""
    english: bool = False
    """Whether it, or one of several, takes a text and its English translation."""


def opened(
    folder: Path,
    rows: int,
    state: Path | None = None,
    *,
    adapters: bool = True,
    language: str = "",
    english: Mapping[str, str] | None = None,
) -> Opened:
    """Open an encoder, or the encoders of a fusion, each with its own cache of embeddings.

    Args:
        folder: the encoder's folder.
        rows: the maximum number of texts in a batch.
        state: the folder of the caches; None: no caching.
        adapters: False: parallel adapters are off.
        language: the texts' language, where the prompt depends on it.
        english: text -> its English translation, for an encoder that takes both; others ignore it.

    Raises:
        UserError: an encoder or manifest that cannot be read, a changed encoder of a fusion, or no prompt for the
            language.
    """
    manifest = manifests.of(folder)
    if members := members_of(folder, manifest):
        each = [
            opened(member.directory, rows, state, adapters=adapters, language=language, english=english)
            for member in members
        ]
        return _fused(each, [member.weight for member in members], manifest["about"])
    encoder = open_encoder(folder, servers=True)
    prompt = set_language(encoder, language, folder)
    named = _with_english(encoder, english or {})
    off = not adapters and isinstance(encoder[0], AdaptedTransformer)
    switched = {"aligned": False} if off else {}

    def reading(name: str = "") -> Encode:
        """The `encode` of texts that are read as `name`, with a separate cache."""
        encode = batched(encoder, rows, **switched | ({"prompt_name": name} if name else {}))
        if not state:
            return encode
        kept = embeddings_folder(state, manifest, adapters=not off, prompt=name or prompt)
        return with_disk_cache(encode, kept, remote=is_remote(encoder), named=named)

    prompts = prompts_of(encoder, ROLES)
    others = {name: reading(name) for name in ROLES if prompts[name] != prompts[TEXT]}
    means = partial(layer_means, encoder, batch_size=rows, **switched)
    return Opened(
        encode=ReadAs(reading(), others) if others else reading(),
        width=int(encoder.get_embedding_dimension()),
        search=None,
        encoder=encoder,
        about=manifest["about"],
        layers=means if isinstance(encoder[0], Transformer) else None,
        paths=partial(path_vectors, encoder, batch_size=rows) if has_paths(encoder) else None,
        per_language=bool(prompt),
        english=isinstance(encoder[0], TwoPaths),
    )


def _fused(each: Sequence[Opened], weights: Sequence[float], about: dict[str, Any]) -> Opened:
    """Several encoders as one, whose distances are weighted; `about` is of its manifest."""
    widths = [one.width for one in each]
    return Opened(
        encode=side_by_side([one.encode for one in each]),
        width=sum(widths),
        search=search_by(widths, weights),
        encoder=None,
        about=about,
        per_language=any(one.per_language for one in each),
        english=any(one.english for one in each),
    )


def _with_english(encoder: SentenceTransformer, english: Mapping[str, str]) -> Callable[[str], str]:
    """Give a two-path encoder the translations; returns text -> the cache key of its vector."""
    if not isinstance(encoder[0], TwoPaths):
        return str
    encoder[0].english = english
    return lambda text: f"{text}\0{encoder[0].translation(text)}"


TOKENS = 2**10
"""Tokens of a batch on a CPU. More do not run faster there and only add padding (docs/quality.md)."""


def batched(encoder: SentenceTransformer, rows: int, **options: Any) -> Encode:
    """Make a function that encodes texts in batches, longest first, of at most `rows` texts and, on a CPU, about TOKENS
    tokens; `options` are of the encoder's `encode`.

    A vector depends on the other texts of its batch by rounding errors only (1e-6).

    Returns:
        A function from n texts to vectors (n, d) in float32.
    """

    def encode(texts: Sequence[str]) -> np.ndarray:
        lengths = _token_counts(encoder, texts)
        order = np.argsort(-lengths, kind="stable")
        embeddings = np.empty((len(texts), encoder.get_embedding_dimension()), np.float32)
        on_cpu, start = encoder.device.type == "cpu" and not is_remote(encoder), 0
        with tqdm(total=len(texts), desc="Texts") as bar:
            while start < len(texts):
                size = min(rows, max(1, TOKENS // lengths[order[start]])) if on_cpu else rows
                batch = order[start : start + size]
                embeddings[batch] = encoder.encode([texts[place] for place in batch], batch_size=size, **options)
                start += size
                bar.update(len(batch))
        return embeddings

    return encode


def _token_counts(encoder: SentenceTransformer, texts: Sequence[str]) -> np.ndarray:
    """Tokens (n,) of each text after truncation, without the prompt, which is the same for all."""
    if not (len(texts) and isinstance(encoder[0], Transformer)):  # characters order the texts as well
        return np.array([len(text) for text in texts])
    found = encoder.tokenizer(list(texts), truncation=True, verbose=False)  # its own limit, which mT5's lacks
    return np.array([len(tokens) for tokens in found["input_ids"]])


def is_remote(encoder: SentenceTransformer) -> bool:
    """Whether a module of the encoder sends texts to a server."""
    return any(isinstance(module, Endpoint) for module in encoder.modules())

"""GradCache: a batch is encoded in chunks, so that memory depends on the chunk and the loss on the whole batch."""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from sentence_transformers import SentenceTransformer
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from seedbed.encoders.losses.rows import select_texts


@contextlib.contextmanager
def in_chunks(encoder: SentenceTransformer, texts: int) -> Iterator[None]:
    """Context in which an encoder encodes at most `texts` texts at once wherever gradients are computed.

    Each chunk is encoded without storing activations, and again with the same dropout in the backward pass. The loss
    sees the vectors of the whole batch. Of a chunk's outputs only `sentence_embedding` is returned. Without dropout,
    loss and gradients equal those of the whole batch up to rounding. Source: Gao et al. (2021, "Scaling deep
    contrastive learning batch size under memory limited setup"), section 3.

    Args:
        encoder: the encoder in training.
        texts: the number of texts in a chunk; 0: the whole batch is encoded at once.
    """
    whole = encoder.forward

    def embed(features: Mapping[str, Any]) -> Tensor:
        return whole(dict(features))["sentence_embedding"]

    def forward(features: dict[str, Any], **options: Any) -> dict[str, Any]:
        rows = len(features["input_ids"])
        if rows <= texts or not torch.is_grad_enabled():
            return whole(features, **options)
        parts = [select_texts(features, slice(start, start + texts)) for start in range(0, rows, texts)]
        vectors = [checkpoint(embed, part, use_reentrant=False) for part in parts]
        return features | {"sentence_embedding": torch.cat(vectors)}

    with encoding_by(encoder, forward) if texts else contextlib.nullcontext():
        yield


@contextlib.contextmanager
def encoding_by(encoder: SentenceTransformer, forward: Callable[..., dict[str, Any]]) -> Iterator[None]:
    """Context in which `forward` replaces the encoder's method of this name."""
    before = encoder.__dict__.get("forward")
    encoder.forward = forward
    try:
        yield
    finally:
        encoder.__dict__.pop("forward", None)
        if before:
            encoder.forward = before

"""Encoding a batch in parts, so that memory grows with a part and the loss is that of the whole batch (GradCache)."""

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from sentence_transformers import SentenceTransformer
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from seedbed.encoders.losses.rows import of_texts


@contextlib.contextmanager
def in_chunks(encoder: SentenceTransformer, texts: int) -> Iterator[None]:
    """Encode at most so many texts at once inside the block, wherever a gradient is needed; 0: all.

    Each part is encoded without keeping what backpropagation needs, and once more, with the same dropout, when its
    gradient is computed. The loss sees the vectors of the whole batch. Without dropout, loss and gradients are those of
    the whole batch up to rounding. Source: Gao et al. (2021, "Scaling deep contrastive learning batch size under memory
    limited setup"), section 3.
    """
    whole = encoder.forward

    def embed(features: Mapping[str, Any]) -> Tensor:
        return whole(dict(features))["sentence_embedding"]

    def forward(features: dict[str, Any], **options: Any) -> dict[str, Any]:
        rows = len(features["input_ids"])
        if rows <= texts or not torch.is_grad_enabled():
            return whole(features, **options)
        parts = [of_texts(features, slice(start, start + texts)) for start in range(0, rows, texts)]
        vectors = [checkpoint(embed, part, use_reentrant=False) for part in parts]
        return features | {"sentence_embedding": torch.cat(vectors)}

    if texts:
        encoder.forward = forward
    try:
        yield
    finally:
        encoder.__dict__.pop("forward", None)

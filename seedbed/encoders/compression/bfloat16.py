"""An encoder whose weights are saved in bfloat16."""

from __future__ import annotations

import torch
from sentence_transformers import SentenceTransformer

from seedbed.encoders.compression.trim import require_plain


def round_weights(encoder: SentenceTransformer) -> SentenceTransformer:
    """The encoder, in place, with the transformer's weights rounded to bfloat16, and kept in float32.

    Raises:
        UserError: its first module is no transformer, or one with parallel adapters.
    """
    require_plain(encoder)
    for weight in encoder[0].auto_model.parameters():
        weight.data = weight.data.bfloat16().float()
    return encoder


def stored(encoder: SentenceTransformer) -> SentenceTransformer:
    """The encoder, in place, as it is saved in bfloat16; whoever opens it computes in float32, as fast on a CPU."""
    transformer = encoder[0]
    transformer.auto_model.to(torch.bfloat16)
    transformer.model_kwargs = {**(getattr(transformer, "model_kwargs", None) or {}), "dtype": "float32"}
    if "model_kwargs" not in transformer.config_keys:
        transformer.config_keys = [*transformer.config_keys, "model_kwargs"]
    return encoder

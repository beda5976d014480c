"""Encoders whose weights are saved in bfloat16."""

from __future__ import annotations

import torch
from sentence_transformers import SentenceTransformer

from seedbed.encoders.compression.trim import require_plain
from seedbed.encoders.models.loading import save_with


def round_weights(encoder: SentenceTransformer) -> SentenceTransformer:
    """Round a transformer's weights to bfloat16 values in place; they are still stored as float32.

    Raises:
        UserError: the encoder's first module is not a transformer, or has parallel adapters.
    """
    require_plain(encoder)
    for weight in encoder[0].auto_model.parameters():
        weight.data = weight.data.bfloat16().float()
    return encoder


def for_saving(encoder: SentenceTransformer) -> SentenceTransformer:
    """Convert an encoder in place for saving in bfloat16; its saved config makes loading return float32 weights."""
    encoder[0].auto_model.to(torch.bfloat16)
    save_with(encoder[0], {"dtype": "float32"})
    return encoder

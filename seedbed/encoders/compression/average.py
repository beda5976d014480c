"""One encoder of several: the mean of their weights."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from sentence_transformers import SentenceTransformer
from torch.optim.swa_utils import AveragedModel

from seedbed.encoders.compression.trim import require_plain
from seedbed.io import UserError


def average(encoder: SentenceTransformer, others: Iterable[SentenceTransformer]) -> SentenceTransformer:
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


def interpolate(encoder: SentenceTransformer, other: SentenceTransformer, share: float) -> SentenceTransformer:
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

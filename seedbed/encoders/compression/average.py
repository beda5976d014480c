"""Model soups: the mean of several encoders' weights."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from sentence_transformers import SentenceTransformer
from torch import nn
from torch.optim.swa_utils import AveragedModel

from seedbed.encoders.compression.trim import require_plain
from seedbed.io import UserError


def average(encoder: SentenceTransformer, others: Iterable[SentenceTransformer]) -> SentenceTransformer:
    """The mean of the weights of an encoder and of others with the same start point.

    Args:
        encoder: the first encoder.
        others: the others.

    Raises:
        UserError: the encoder has no transformer, or one with parallel adapters; or another encoder has weights of
            other names or shapes.
    """
    require_plain(encoder)
    mean = AveragedModel(encoder)
    mean.update_parameters(encoder)  # the first is the mean of one
    for place, other in enumerate(others, start=2):
        _require_shapes(encoder, other, f"encoder {place}", "average seeds of one recipe")
        mean.update_parameters(other)
    return mean.module


def interpolate(encoder: SentenceTransformer, other: SentenceTransformer, share: float) -> SentenceTransformer:
    """Interpolate weights in place: (1 - share) times the encoder's plus share times another's (WiSE-FT: Wortsman et
    al., 2022).

    Weights after the transformer, such as those of a pooling over layers, stay the encoder's: the other may have none.

    Args:
        encoder: changed in place and returned.
        other: the other encoder.
        share: the weight of the other encoder, from 0 to 1.

    Raises:
        UserError: the other encoder's transformer has weights of other names or shapes.
    """
    _require_shapes(encoder[0], other[0], "what training started from", "leave `share` out")
    theirs = dict(other[0].named_parameters())
    with torch.no_grad():
        for name, weight in encoder[0].named_parameters():
            weight.lerp_(theirs[name], share)
    return encoder


def _require_shapes(encoder: nn.Module, other: nn.Module, what: str, remedy: str) -> None:
    """Both have weights of the same names and shapes."""
    own, theirs = ({name: weight.shape for name, weight in one.named_parameters()} for one in (encoder, other))
    if own != theirs:
        raise UserError(f"averaged: {what} has other weights than the first encoder; {remedy}")

"""Model soups: the mean of several encoders' weights."""

from collections.abc import Iterable, Mapping

import torch
from sentence_transformers import SentenceTransformer
from torch import nn
from torch.optim.swa_utils import AveragedModel

from seedbed.encoders.compression.trim import require_plain
from seedbed.io import UserError
from seedbed.weights import is_pooler

Weights = Mapping[str, nn.Parameter]
"""Weights by their names."""


def average(encoder: SentenceTransformer, others: Iterable[SentenceTransformer]) -> SentenceTransformer:
    """Make an encoder of the mean weights of an encoder and of others with the same start point.

    Raises:
        UserError: the encoder has no transformer, or one with parallel adapters; or another encoder has weights of
            other names or shapes.
    """
    require_plain(encoder)
    mean = AveragedModel(encoder)
    mean.update_parameters(encoder)  # the first of those that are averaged
    for place, other in enumerate(others, start=2):
        _require_shapes(_named(encoder), _named(other), f"encoder {place}", "average seeds of one recipe")
        mean.update_parameters(other)
    return mean.module


def interpolate(encoder: SentenceTransformer, other: SentenceTransformer, share: float) -> SentenceTransformer:
    """Interpolate an encoder's weights in place: (1 - share) times its own plus share times another's (WiSE-FT:
    Wortsman et al., 2022). `share` is from 0 to 1.

    Weights after the transformer that the other does not have, such as those of a pooling over layers, stay the
    encoder's; so does BERT's pooler, which is not used.

    Raises:
        UserError: the other encoder has weights of other names or shapes.
    """
    theirs = _named(other)
    needed = {f"0.{name}" for name in _named(encoder[0]) if not is_pooler(name)}
    moved = {name: weight for name, weight in _named(encoder).items() if name in {*theirs, *needed}}
    _require_shapes(moved, theirs, "what training started from", "leave `share` out")
    with torch.no_grad():
        for name, weight in moved.items():
            weight.lerp_(theirs[name], share)
    return encoder


def _named(module: nn.Module) -> Weights:
    return dict(module.named_parameters())


def _require_shapes(own: Weights, theirs: Weights, what: str, remedy: str) -> None:
    """Both have the same names and shapes."""
    if own.keys() != theirs.keys() or any(own[name].shape != theirs[name].shape for name in own):
        raise UserError(f"averaged: {what} has other weights than the first encoder; {remedy}")

"""Model soups: the mean of several encoders' weights."""

from collections.abc import Iterable, Mapping

import torch
from sentence_transformers import SentenceTransformer
from torch import nn
from torch.optim.swa_utils import AveragedModel

from seedbed.io import UserError
from seedbed.weights import is_pooler


def average(encoder: SentenceTransformer, others: Iterable[SentenceTransformer]) -> SentenceTransformer:
    """Make an encoder of the mean weights of an encoder and of others with the same start point.

    Raises:
        UserError: another encoder has weights of other names or shapes.
    """
    mean = AveragedModel(encoder)
    mean.update_parameters(encoder)  # the first of those that are averaged
    own = dict(encoder.named_parameters())
    for place, other in enumerate(others, start=2):
        _require_shapes(own, dict(other.named_parameters()), f"encoder {place}", "average seeds of one recipe")
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
    theirs = dict(other.named_parameters())
    needed = {f"0.{name}" for name, _ in encoder[0].named_parameters() if not is_pooler(name)}
    moved = {name: weight for name, weight in encoder.named_parameters() if name in {*theirs, *needed}}
    _require_shapes(moved, theirs, "what training started from", "leave `share` out")
    with torch.no_grad():
        for name, weight in moved.items():
            weight.lerp_(theirs[name], share)
    return encoder


def _require_shapes(
    own: Mapping[str, nn.Parameter], theirs: Mapping[str, nn.Parameter], what: str, remedy: str
) -> None:
    """Both have the same names and shapes."""
    if own.keys() != theirs.keys() or any(own[name].shape != theirs[name].shape for name in own):
        raise UserError(f"averaged: {what} has other weights than the first encoder; {remedy}")

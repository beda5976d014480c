"""A policy that chooses translations, and what it is rewarded for (paper 002)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from seedbed.encoders.translations.settings import WEIGHTS
from seedbed.io import UserError

LEAST, GREATEST = 1, 10
"""Scores of a judge."""


class Actor(nn.Module):
    """Logits of candidates (b, k) from their features (b, k, 4), each candidate separately.

    Features are a judge's three scores as fractions of 10 and the similarity. Linear, ReLU, LayerNorm, Linear. Source:
    paper 002, section 4.1.3 and appendix A.4.
    """

    def __init__(self, hidden: int = 16) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, hidden), nn.ReLU(), nn.LayerNorm(hidden), nn.Linear(hidden, 1))

    def forward(self, features: Tensor) -> Tensor:
        """Logits (b, k)."""
        return self.layers(features)[..., 0]


def reward(
    scores: Tensor,
    similarity: Tensor,
    *,
    weights: tuple[float, float, float] = WEIGHTS,
    similarity_weight: float = 1.0,
) -> Tensor:
    """Reward (b, k) of each candidate translation: 0.1 (a semantic + b emotional + c pragmatic) + d similarity.

    Source: paper 002, equation 10, with the weights of table 13.

    Args:
        scores: of a judge, (b, k, 3) from 1 to 10: semantic, emotional, pragmatic; nan where there is no candidate.
        similarity: cosines of the source with each candidate, (b, k).
        weights: a, b, c.
        similarity_weight: d.

    Returns:
        (b, k), in float32 at least.

    Raises:
        UserError: shapes that do not fit, or a score outside 1 to 10.
    """
    if scores.ndim != 3 or scores.shape != (*similarity.shape, 3):
        shapes = f"scores {tuple(scores.shape)}, similarity {tuple(similarity.shape)}"
        raise UserError(f"reward: {shapes}; expected (b, k, 3) and (b, k)")
    if (wrong := scores[(scores < LEAST) | (scores > GREATEST)]).numel():
        raise UserError(f"reward: a score of {wrong[0].item():g}; a judge gives {LEAST} to {GREATEST}")
    precision = torch.promote_types(torch.promote_types(scores.dtype, similarity.dtype), torch.float32)
    factors = torch.tensor(weights, dtype=precision, device=scores.device)
    return 0.1 * (scores.to(precision) * factors).sum(dim=-1) + similarity_weight * similarity.to(precision)

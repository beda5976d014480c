"""A policy that chooses translations, and what it is rewarded for (paper 002)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

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


def judged(scores: Tensor, weights: tuple[float, float, float]) -> Tensor:
    """A judge's part (b, k) of the reward of each candidate translation: 0.1 (a semantic + b emotional + c pragmatic).

    Source: paper 002, equation 10; see `policy.Environment.rewards`.

    Args:
        scores: of a judge, (b, k, 3) from 1 to 10: semantic, emotional, pragmatic; nan where there is no candidate.
        weights: a, b, c.

    Returns:
        (b, k), in float32 at least.

    Raises:
        UserError: another shape, or a score outside 1 to 10.
    """
    if scores.ndim != 3 or scores.shape[2] != 3:
        raise UserError(f"reward: scores {tuple(scores.shape)}; expected (b, k, 3)")
    if (wrong := scores[(scores < LEAST) | (scores > GREATEST)]).numel():
        raise UserError(f"reward: a score of {wrong[0].item():g}; a judge gives {LEAST} to {GREATEST}")
    precision = torch.promote_types(scores.dtype, torch.float32)
    factors = torch.tensor(weights, dtype=precision, device=scores.device)
    return 0.1 * (scores.to(precision) * factors).sum(dim=-1)

"""What a policy that chooses translations is rewarded for, and what draws an encoder to the chosen (paper 002)."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import cosine_similarity

from seedbed.encoders.models.two_paths import Adaptor, pool_time
from seedbed.encoders.translations.settings import WEIGHTS
from seedbed.io import UserError

__all__ = ["Actor", "Adaptor", "anchor_loss", "policy_loss", "pool_time", "reward"]

LEAST, GREATEST = 1, 10
"""Scores of a judge."""


class Actor(nn.Module):
    """Logits of candidates (b, k) from their features (b, k, 4), of each candidate by itself.

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
    """What each candidate translation is worth: 0.1 (a semantic + b emotional + c pragmatic) + d similarity.

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


def policy_loss(
    logits: Tensor,
    rewards: Tensor,
    actions: Tensor | None = None,
    *,
    mask: Tensor | None = None,
    baseline: Literal["none", "mean"] = "none",
) -> Tensor:
    """REINFORCE of a choice among candidates: the mean over rows of -log pi(a) (R_a - baseline).

    Without actions it is the expectation itself, -sum_k pi(k) (R_k - baseline), whose gradient is what that of drawn
    actions is in the mean. Source: paper 002, equation 11, which has no baseline.

    Args:
        logits: of the policy, (b, k).
        rewards: (b, k), which get no gradient.
        actions: the candidate that was drawn, (b,).
        mask: (b, k), true where there is a candidate; None: everywhere. What stands elsewhere does not count.
        baseline: mean: the policy's own expected reward of the row.

    Returns:
        A scalar, in float32 at least.

    Raises:
        UserError: shapes that do not fit, a row without a candidate, an action that is none, or another baseline.
    """
    mask = torch.ones_like(logits, dtype=torch.bool) if mask is None else mask
    shapes = [tuple(x.shape) for x in (logits, rewards, mask)]
    if logits.ndim != 2 or not logits.numel() or len({*shapes}) > 1 or mask.dtype != torch.bool:
        raise UserError(
            f"policy_loss: shapes {', '.join(map(str, shapes))}, mask {mask.dtype}; all must be the same (b, k), the "
            "mask torch.bool"
        )
    if baseline not in ("none", "mean"):
        raise UserError(f"policy_loss: baseline {baseline!r}; expected 'none' or 'mean'")
    if (empty := (~mask.any(dim=1)).nonzero()).numel():
        raise UserError(f"policy_loss: row {empty[0].item()} has no candidate; leave it out")
    precision = torch.promote_types(logits.dtype, torch.float32)
    logs = logits.to(precision).masked_fill(~mask, -torch.inf).log_softmax(dim=1)
    chances, rewards = logs.exp(), rewards.detach().to(precision).masked_fill(~mask, 0)
    if baseline == "mean":
        rewards = rewards - (chances.detach() * rewards).sum(dim=1, keepdim=True)
    if actions is None:
        return -(chances * rewards).sum(dim=1).mean()
    if actions.shape != logits.shape[:1] or not _chosen(mask, actions).all():
        raise UserError(f"policy_loss: actions {actions.tolist()}; each must be a candidate of its row")
    return -(logs.gather(1, actions[:, None]) * rewards.gather(1, actions[:, None])).mean()


def _chosen(mask: Tensor, actions: Tensor) -> Tensor:
    """Whether each action (b,) is a candidate of its row of (b, k)."""
    inside = (actions >= 0) & (actions < mask.shape[1])
    return inside & mask.gather(1, actions.clamp(0, mask.shape[1] - 1)[:, None])[:, 0]


def anchor_loss(features: Tensor, documents: Tensor, *, form: Literal["squared", "cosine"] = "squared") -> Tensor:
    """How far the mean of a feature path's states is from the vector of the translation.

    The mean over rows of |g - h|^2, or of 1 - cos(g, h). Source: paper 002, equations 3 and 5; its second version (v2)
    has the cosine.

    Args:
        features: states at the positions of the prefix, (b, s, d); g is their mean.
        documents: h, (b, d).

    Returns:
        A scalar, in float32 at least.

    Raises:
        UserError: shapes that do not fit, or another form.
    """
    if (
        features.ndim != 3
        or features[:, 0:1].shape != (len(documents), 1, *documents.shape[1:])
        or not features.numel()
    ):
        shapes = f"features {tuple(features.shape)}, documents {tuple(documents.shape)}"
        raise UserError(f"anchor_loss: {shapes}; expected (b, s, d) and (b, d)")
    precision = torch.promote_types(features.dtype, torch.float32)
    g, h = features.to(precision).mean(dim=1), documents.to(precision)
    if form == "squared":
        return (g - h).square().sum(dim=1).mean()
    if form == "cosine":
        return (1 - cosine_similarity(g, h, dim=1)).mean()
    raise UserError(f"anchor_loss: form {form!r}; expected 'squared' or 'cosine'")

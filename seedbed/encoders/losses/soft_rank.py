"""Differentiable ranks, and losses of rank correlation and of nDCG that use them (paper 002, appendix A.4)."""

from typing import Literal

import torch
from scipy.stats import rankdata
from torch import Tensor

from seedbed.io import UserError

EPSILON = 1e-8
"""Added to variances: epsilon of paper 002, equation 29."""


def soft_ranks(scores: Tensor, *, temperature: float) -> Tensor:
    """Differentiable ranks of scores: about 1 for the smallest score.

    R_i = 1 + sum_{j != i} sigmoid((s_i - s_j) / t). Source: paper 002, equation 30, which as printed includes j = i, so
    that every rank is greater by 1/2.

    Args:
        scores: (..., n), in any order. A score of minus infinity means that there is no item: it changes no other rank.
        temperature: t, above 0. As t approaches 0 these become the ordinary ranks, with ties at their mean.

    Returns:
        Ranks of the shape of `scores`, in float32 or more precise.
    """
    return 1 + _ahead(scores, temperature, ascending=True).sum(dim=-1)


def _ahead(scores: Tensor, temperature: float, *, ascending: bool) -> Tensor:
    """How far (..., i, j) score j comes before score i, from 0 to 1; 0 for j = i."""
    scores = scores.to(torch.promote_types(scores.dtype, torch.float32))
    differences = scores[..., None, :] - scores[..., :, None]
    differences = -differences if ascending else differences
    nothing = scores.isneginf()[..., None, :] | torch.eye(scores.shape[-1], dtype=torch.bool, device=scores.device)
    return torch.sigmoid(differences.masked_fill(nothing, -torch.inf) / temperature)


def correlation_loss(
    predicted: Tensor,
    gold: Tensor,
    *,
    history: tuple[Tensor, Tensor] | None = None,
    pearson_weight: float,
    temperature: float,
) -> Tensor:
    """A loss that falls as predictions correlate with gold scores: a (1 - Pearson) + (1 - a) (1 - soft Spearman).

    Both correlations are computed on the batch and its history together. Soft Spearman is Pearson's correlation between
    the `soft_ranks` of predictions and the ranks of the gold scores, ties at their mean; 1e-8 is added to each
    variance. If all gold scores are equal, the loss is 1 and has no gradient. Source: paper 002, equations 28 to 32.

    Args:
        predicted: (n,).
        gold: (n,).
        history: earlier predictions and their gold scores, (m,) each; no gradient flows into them. None: none.
        pearson_weight: a, from 0 to 1.
        temperature: temperature of the soft ranks.

    Returns:
        A scalar from 0 to 2, computed in float32 or more precise.

    Raises:
        UserError: shapes that do not fit, or an empty batch.
    """
    before = history or (predicted[:0], gold[:0])
    shapes = [tuple(part.shape) for part in (predicted, gold, *before)]
    if predicted.ndim != 1 or before[0].ndim != 1 or shapes[::2] != shapes[1::2] or not len(predicted):
        raise UserError(f"correlation_loss: shapes {', '.join(map(str, shapes))}; expected (n,), (n,), (m,), (m,)")
    precision = torch.promote_types(predicted.dtype, torch.float32)
    predicted, gold = (
        torch.cat([old.detach().to(new.device, precision), new.to(precision)])
        for old, new in zip(before, (predicted, gold), strict=True)
    )
    ranks = soft_ranks(predicted, temperature=temperature)
    gold_ranks = torch.from_numpy(rankdata(gold.cpu().numpy())).to(gold)  # equal scores share the mean of their ranks
    linear, ranked = _pearson(predicted, gold), _pearson(ranks, gold_ranks)
    return pearson_weight * (1 - linear) + (1 - pearson_weight) * (1 - ranked)


def _pearson(x: Tensor, y: Tensor) -> Tensor:
    """Equation 29 of paper 002."""
    x, y = x - x.mean(), y - y.mean()
    return (x * y).mean() / ((x.square().mean() + EPSILON) * (y.square().mean() + EPSILON)).sqrt()


def safe_weights(scores: Tensor, relevance: Tensor, *, margin: float, temperature: float) -> Tensor:
    """Weight of each document as a negative: near 0 if it is so similar to the query that it may be relevant.

    sigmoid((s_0 - margin - s_i) / t) for a document that is not labelled relevant, 1 for one that is. Source: paper
    002, equations 38 and 39.

    Args:
        scores: similarities of each query to its documents, (b, c); column 0 is the query's labelled document.
        relevance: (b, c); 0: not relevant, or unknown.
        margin: delta; at this distance below s_0 the weight is 1/2.
        temperature: t (beta in the paper), above 0.

    Returns:
        Weights (b, c) from 0 to 1, in float32 or more precise.

    Raises:
        UserError: shapes that do not fit.
    """
    _require_lists("safe_weights", scores, relevance)
    scores = scores.to(torch.promote_types(scores.dtype, torch.float32))
    weights = torch.sigmoid((scores[:, :1] - margin - scores) / temperature)
    return weights.masked_fill(relevance > 0, 1.0)


def soft_ndcg(
    scores: Tensor,
    relevance: Tensor,
    *,
    k: int,
    temperature: float,
    cut_temperature: float,
    weights: Tensor | None = None,
    gate: Literal["ranks", "discounts"] = "ranks",
) -> Tensor:
    """Differentiable nDCG@k of each query, by soft ranks.

    The sum over i of (2^y_i - 1) sigmoid((k + 1/2 - r_i) / t_k) / log2(1 + r_i), with r_i the soft rank, about 1 for
    the greatest score, divided by the DCG@k of the ideal order. Source: paper 002, equations 34 to 36.

    Args:
        scores: similarities of each query to its documents, (b, c), in any order; minus infinity: there is no document.
        relevance: y, (b, c), 0 or more.
        k: the number of documents that count, 1 or more.
        temperature: temperature of the soft ranks.
        cut_temperature: t_k, temperature of the soft cut at k.
        weights: weights of documents (b, c), see `safe_weights`; None: all 1.
        gate: where weights apply. "ranks": how much a document counts in the ranks of others. "discounts": in its own
            discount, as the paper prints it; since a document that is not relevant has no gain, this has no effect.

    Returns:
        (b,), in float32 or more precise; 0 for a query without a relevant document.

    Raises:
        UserError: shapes that do not fit.
    """
    _require_lists("soft_ndcg", scores, relevance, *([] if weights is None else [weights]))
    ahead = _ahead(scores, temperature, ascending=False)
    weights = torch.ones_like(ahead[:, 0]) if weights is None else weights.to(ahead.dtype)
    ranks = 1 + (ahead * weights[:, None] if gate == "ranks" else ahead).sum(dim=-1)
    discounts = 1 / torch.log2(1 + ranks)
    if gate == "discounts":
        discounts = weights * discounts
    gains = 2.0 ** relevance.to(ahead.dtype) - 1
    found = (gains * discounts * torch.sigmoid((k + 0.5 - ranks) / cut_temperature)).sum(dim=-1)
    best = gains.sort(dim=-1, descending=True).values[:, :k]
    places = torch.arange(2, 2 + best.shape[-1], device=best.device, dtype=best.dtype)
    return found / (best / torch.log2(places)).sum(dim=-1).clamp(min=EPSILON)


def _require_lists(name: str, scores: Tensor, *others: Tensor) -> None:
    """Check that scores are (b, c), and all others too."""
    if scores.ndim != 2 or not scores.shape[1] or any(other.shape != scores.shape for other in others):
        shapes = ", ".join(str(tuple(one.shape)) for one in (scores, *others))
        raise UserError(f"{name}: shapes {shapes}; all must be the same (b, c), c >= 1")

"""Soft ranks, correlations and soft nDCG against loops in float64, and what paper 002's safety gate does."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import pearsonr, rankdata, spearmanr
from sklearn.metrics import ndcg_score
from torch import Tensor

from seedbed.encoders.losses.soft_rank import correlation_loss, safe_weights, soft_ndcg, soft_ranks
from seedbed.io import UserError

TAU = {"temperature": 0.1}
CUT = {"k": 3, "temperature": 0.1, "cut_temperature": 0.5}
SAFE = {"margin": 0.2, "temperature": 0.03}


def drawn(*shape: int, seed: int = 0) -> Tensor:
    return torch.rand(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)) * 2 - 1


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def ranks_by_loops(scores: list[float], tau: float) -> list[float]:
    ranks = []
    for i, own in enumerate(scores):
        rank = 1.0
        for j, other in enumerate(scores):
            if i != j:
                rank += sigmoid((own - other) / tau)
        ranks.append(rank)
    return ranks


def ndcg_by_loops(scores: Any, relevance: Any, weights: Any, gate: str, k: int, tau: float, tau_k: float) -> float:
    found = best = 0.0
    for i, own in enumerate(scores):
        rank = 1.0
        for j, other in enumerate(scores):
            if i != j:
                rank += (weights[j] if gate == "ranks" else 1) * sigmoid((other - own) / tau)
        discount = (weights[i] if gate == "discounts" else 1) / math.log2(1 + rank)
        found += (2 ** relevance[i] - 1) * discount * sigmoid((k + 0.5 - rank) / tau_k)
    for place, value in enumerate(sorted(relevance, reverse=True)[:k], start=1):
        best += (2**value - 1) / math.log2(1 + place)
    return found / best


def test_soft_ranks_are_those_of_two_loops() -> None:
    scores = drawn(3, 7)
    found = soft_ranks(scores, **TAU)
    expected = [ranks_by_loops(row, 0.1) for row in scores.tolist()]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert found.dtype == torch.float64 and soft_ranks(scores.half(), **TAU).dtype == torch.float32


def test_soft_ranks_become_ranks_as_the_temperature_falls() -> None:
    scores = torch.tensor([0.3, 0.1, 0.3, -0.5, 0.9], dtype=torch.float64)
    np.testing.assert_allclose(soft_ranks(scores, temperature=1e-6), rankdata(scores))


def test_neither_padding_nor_order_nor_other_rows_change_ranks_and_losses() -> None:
    scores, order = drawn(4, 6), torch.tensor([0, 4, 2, 5, 1, 3])
    relevance = torch.zeros(4, 6)
    relevance[:, 0] = 1
    padded, nothing = (torch.nn.functional.pad(x, (0, 2), value=v) for x, v in ((scores, -math.inf), (relevance, 0.0)))
    weights = safe_weights(scores, relevance, **SAFE)
    functions: list[Callable[[Tensor, Tensor], Tensor]] = [
        lambda scores, relevance: soft_ranks(scores, **TAU),
        lambda scores, relevance: safe_weights(scores, relevance, **SAFE),
    ]
    for function in functions:
        whole = function(scores, relevance)
        torch.testing.assert_close(function(padded, nothing)[:, :6], whole)
        torch.testing.assert_close(function(scores[:, order], relevance[:, order]), whole[:, order])
        torch.testing.assert_close(torch.cat([function(scores[i : i + 1], relevance[:1]) for i in range(4)]), whole)
    for gate in ("ranks", "discounts"):
        whole = soft_ndcg(scores, relevance, weights=weights, gate=gate, **CUT)
        more = torch.nn.functional.pad(weights, (0, 2), value=1.0)
        torch.testing.assert_close(soft_ndcg(padded, nothing, weights=more, gate=gate, **CUT), whole)
        shuffled = (x[:, order] for x in (scores, relevance))
        torch.testing.assert_close(soft_ndcg(*shuffled, weights=weights[:, order], gate=gate, **CUT), whole)
        torch.testing.assert_close(
            soft_ndcg(scores[2:], relevance[2:], weights=weights[2:], gate=gate, **CUT), whole[2:]
        )


def test_padding_gets_and_gives_no_gradient() -> None:
    scores = drawn(2, 4).requires_grad_()
    padded = torch.cat([scores, torch.full((2, 2), -math.inf)], dim=1)
    relevance = torch.tensor([[1.0, 0, 0, 0, 0, 0]] * 2)
    weights = safe_weights(padded.detach(), relevance, **SAFE)
    (with_padding,) = torch.autograd.grad(soft_ndcg(padded, relevance, weights=weights, **CUT).sum(), scores)
    (without,) = torch.autograd.grad(soft_ndcg(scores, relevance[:, :4], weights=weights[:, :4], **CUT).sum(), scores)
    torch.testing.assert_close(with_padding, without)


def correlation_by_numpy(predicted: Any, gold: Any, alpha: float, tau: float) -> float:
    def r(a: np.ndarray, b: np.ndarray) -> float:
        a, b = a - a.mean(), b - b.mean()
        return (a * b).mean() / math.sqrt((a**2).mean() + 1e-8) / math.sqrt((b**2).mean() + 1e-8)

    ranks = np.array(ranks_by_loops(list(predicted), tau))
    return alpha * (1 - r(np.array(predicted), np.array(gold))) + (1 - alpha) * (1 - r(ranks, rankdata(gold)))


@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0])
def test_the_correlation_loss_is_the_papers_equations(alpha: float) -> None:
    """With the self term of equation 30, which a correlation does not see."""
    predicted, gold = drawn(9), torch.tensor([0, 1, 2, 2, 5, 4, 3, 3, 3.0], dtype=torch.float64)
    found = correlation_loss(predicted, gold, pearson_weight=alpha, **TAU)
    assert found.item() == pytest.approx(correlation_by_numpy(predicted.tolist(), gold.tolist(), alpha, 0.1), rel=1e-12)
    order = torch.randperm(9, generator=torch.Generator().manual_seed(1))
    torch.testing.assert_close(correlation_loss(predicted[order], gold[order], pearson_weight=alpha, **TAU), found)
    split = correlation_loss(predicted[4:], gold[4:], history=(predicted[:4], gold[:4]), pearson_weight=alpha, **TAU)
    torch.testing.assert_close(split, found)


def test_the_correlation_loss_becomes_pearsons_and_spearmans() -> None:
    predicted, gold = drawn(20), drawn(20, seed=1).round(decimals=1)
    for alpha, test in ((1.0, pearsonr), (0.0, spearmanr)):
        found = correlation_loss(predicted, gold, pearson_weight=alpha, temperature=1e-7)
        assert 1 - found.item() == pytest.approx(test(predicted, gold).statistic, abs=1e-6)


def test_history_is_read_as_precisely_as_the_loss() -> None:
    predicted, options = drawn(4, seed=1), {"pearson_weight": 0.5, **TAU}
    old = (drawn(3, seed=2), torch.tensor([1.5, 2.9, 1.6], dtype=torch.float64))
    whole, gold = torch.tensor([1, 2, 3, 2]), torch.tensor([1.0, 2, 3, 2], dtype=torch.float64)
    assert torch.equal(*(correlation_loss(predicted, each, history=old, **options) for each in (whole, gold)))


def test_history_has_no_gradient_and_the_batch_has_the_right_one() -> None:
    predicted, gold, old = drawn(5).requires_grad_(), drawn(5, seed=1), drawn(6, seed=2).requires_grad_()

    def loss(batch: Tensor) -> Tensor:
        return correlation_loss(batch, gold, history=(old, drawn(6, seed=3)), pearson_weight=0.5, **TAU)

    loss(predicted).backward()
    assert old.grad is None
    assert torch.autograd.gradcheck(loss, predicted.detach().requires_grad_())


def test_gold_scores_that_are_all_equal_teach_nothing() -> None:
    predicted = drawn(5).requires_grad_()
    loss = correlation_loss(predicted, torch.ones(5, dtype=torch.float64), pearson_weight=0.5, **TAU)
    loss.backward()
    assert loss.item() == 1 and not predicted.grad.any()


@pytest.mark.parametrize("gate", ["ranks", "discounts"])
def test_soft_ndcg_is_that_of_loops(gate: str) -> None:
    scores, relevance = drawn(4, 8), torch.randint(0, 3, (4, 8), generator=torch.Generator().manual_seed(0))
    relevance[:, 0] = 1
    weights = safe_weights(scores, relevance, **SAFE)
    found = soft_ndcg(scores, relevance, weights=weights, gate=gate, **CUT)
    given = zip(scores.tolist(), relevance.tolist(), weights.tolist(), strict=True)
    np.testing.assert_allclose(found, [ndcg_by_loops(*row, gate, 3, 0.1, 0.5) for row in given], rtol=1e-12)


def test_soft_ndcg_becomes_ndcg_as_the_temperatures_fall() -> None:
    scores, relevance = drawn(6, 12), (drawn(6, 12, seed=1) > 0.4).long()
    relevance[:, 3] = 1
    sharp = soft_ndcg(scores, relevance, k=5, temperature=1e-6, cut_temperature=1e-3)
    expected = [ndcg_score(y[None], s[None], k=5) for y, s in zip(relevance.numpy(), scores.numpy(), strict=True)]
    np.testing.assert_allclose(sharp, expected, atol=1e-6)
    assert not soft_ndcg(scores[:1], torch.zeros(1, 12), **CUT).any(), "no relevant document"


def test_safe_weights_are_those_of_loops() -> None:
    scores, relevance = drawn(3, 5), torch.tensor([[1, 0, 0, 1, 0]] * 3)
    found = safe_weights(scores, relevance, **SAFE)
    for row, given in zip(found.tolist(), scores.tolist(), strict=True):
        for i, weight in enumerate(row):
            expected = 1 if relevance[0, i] else sigmoid((given[0] - 0.2 - given[i]) / 0.03)
            assert weight == pytest.approx(expected, rel=1e-12)


def test_as_printed_the_safety_gate_does_nothing_and_on_ranks_it_acts() -> None:
    """Equation 39 multiplies discounts of documents whose gain is 0; loss and gradient are as without it."""
    scores = torch.tensor([[0.5, 0.6, 0.55, 0.1, -0.2]], dtype=torch.float64, requires_grad=True)
    relevance = torch.tensor([[1, 0, 0, 0, 0]])
    weights = safe_weights(scores.detach(), relevance, **SAFE)
    assert weights[0, 1] < 0.01 and weights[0, 3] > 0.9

    def outcome(**gate: Any) -> tuple[Tensor, Tensor]:
        value = soft_ndcg(scores, relevance, **CUT, **gate)
        return value, torch.autograd.grad(value.sum(), scores)[0]

    (plain, slope), (printed, same) = outcome(), outcome(weights=weights, gate="discounts")
    assert torch.equal(plain, printed) and torch.equal(slope, same)
    ours, spared = outcome(weights=weights, gate="ranks")
    assert ours > plain + 0.3, "near negatives no longer push the own document down"
    assert abs(spared[0, 1]) < 0.05 * abs(slope[0, 1])


ONE = torch.ones(2, 3)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: correlation_loss(ONE, ONE, pearson_weight=1, **TAU), "correlation_loss: shapes (2, 3), (2, 3), (0, 3)"),
        (lambda: correlation_loss(ONE[0], ONE[0], history=(ONE[0], ONE[0, :2]), pearson_weight=1, **TAU), "correlation_loss: shapes (3,), (3,), (3,), (2,);"),
        (lambda: correlation_loss(ONE[0, :0], ONE[0, :0], pearson_weight=1, **TAU), "correlation_loss: shapes (0,)"),
        (lambda: safe_weights(ONE, ONE[:1], **SAFE), "safe_weights: shapes (2, 3), (1, 3); all must be the same (b, c)"),
        (lambda: soft_ndcg(ONE, ONE, weights=ONE[0], **CUT), "soft_ndcg: shapes (2, 3), (2, 3), (3,); all must be the same"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_told_in_one_line(call: Callable[[], Any], told: str) -> None:
    with pytest.raises(UserError) as error:
        call()
    assert str(error.value).startswith(told) and "\n" not in str(error.value)

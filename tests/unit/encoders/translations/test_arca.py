"""Rewards, the policy's loss, anchoring and pooling of paper 002 against loops and closed forms in float64."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn.functional import adaptive_avg_pool1d, pad

from seedbed.encoders.losses.anchoring import anchor_loss, policy_loss
from seedbed.encoders.models.two_paths import pool_time
from seedbed.encoders.translations.policy import Environment, judged
from seedbed.encoders.translations.settings import WEIGHTS
from seedbed.io import UserError


def drawn(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


LOGITS, REWARDS = drawn(3, 4), drawn(3, 4, seed=1)
MASK = torch.tensor([[True] * 4, [True, False, True, False], [False, False, False, True]])


def test_a_reward_is_the_weighted_sum_of_equation_10() -> None:
    scores, similarity = 1 + 9 * torch.rand(2, 3, 3, dtype=torch.float64), drawn(2, 3).tanh()
    found = judged(scores, (0.5, 0.2, 0.3))
    candidates = SimpleNamespace(scores=scores, mask=torch.ones(2, 3, dtype=torch.bool))
    whole = Environment(candidates, (0.5, 0.2, 0.3), 2.0).rewards(torch.arange(2), similarity)
    for row, k in product(range(2), range(3)):
        semantic, emotional, pragmatic = scores[row, k].tolist()
        expected = 0.1 * (0.5 * semantic + 0.2 * emotional + 0.3 * pragmatic)
        assert found[row, k].item() == pytest.approx(expected, rel=1e-12)
        assert whole[row, k].item() == pytest.approx(expected + 2 * similarity[row, k].item(), rel=1e-12)
    assert judged(torch.full((1, 1, 3), 10.0), WEIGHTS).item() == pytest.approx(1), "table 13's weights"
    gap = scores.clone()
    gap[0, 1] = math.nan
    kept = torch.ones(2, 3, dtype=torch.bool)
    kept[0, 1] = False
    torch.testing.assert_close(judged(gap, WEIGHTS)[kept], judged(scores, WEIGHTS)[kept])


def policy_by_loops(logits: Tensor, rewards: Tensor, actions: list[int] | None, mask: Tensor, baseline: str) -> float:
    total = 0.0
    for row in range(len(logits)):
        places = [k for k in range(logits.shape[1]) if mask[row, k]]
        whole = sum(math.exp(logits[row, k]) for k in places)
        chance = {k: math.exp(logits[row, k]) / whole for k in places}
        off = sum(chance[k] * rewards[row, k].item() for k in places) if baseline == "mean" else 0.0
        if actions is None:
            total -= sum(chance[k] * (rewards[row, k].item() - off) for k in places)
        else:
            total -= math.log(chance[actions[row]]) * (rewards[row, actions[row]].item() - off)
    return total / len(logits)


@pytest.mark.parametrize("baseline", ["none", "mean"])
@pytest.mark.parametrize("actions", [None, [1, 2, 3]])
def test_the_policys_loss_is_that_of_loops(baseline: Any, actions: list[int] | None) -> None:
    given = None if actions is None else torch.tensor(actions)
    for mask in (MASK, torch.ones_like(MASK)):
        found = policy_loss(LOGITS, REWARDS, given, mask=mask, baseline=baseline)
        expected = policy_by_loops(LOGITS, REWARDS, actions, mask, baseline)
        assert found.item() == pytest.approx(expected, rel=1e-12, abs=1e-12)
    torch.testing.assert_close(policy_loss(LOGITS, REWARDS, given, baseline=baseline), found)


@pytest.mark.parametrize("baseline", ["none", "mean"])
def test_drawn_actions_have_the_gradient_of_the_expectation_in_the_mean(baseline: Any) -> None:
    """In closed form: pi(k) (R_k - E R), whatever the baseline; and the sum over actions, weighted by their chance."""
    logits = LOGITS[:1].clone().requires_grad_()
    (exact,) = torch.autograd.grad(policy_loss(logits, REWARDS[:1], baseline=baseline), logits)
    chances = LOGITS[:1].softmax(dim=1)
    torch.testing.assert_close(exact, -chances * (REWARDS[:1] - (chances * REWARDS[:1]).sum()))
    drawn_ones = torch.zeros_like(exact)
    for action in range(4):
        loss = policy_loss(logits, REWARDS[:1], torch.tensor([action]), baseline=baseline)
        drawn_ones += chances[0, action] * torch.autograd.grad(loss, logits)[0]
    torch.testing.assert_close(drawn_ones, exact)


def test_neither_padding_nor_order_nor_what_is_masked_changes_the_policys_loss() -> None:
    actions, order = torch.tensor([1, 2, 3]), [2, 0, 3, 1]
    where = torch.tensor([order.index(action) for action in actions])
    rewards = REWARDS.clone().requires_grad_()
    for given, moved in ((None, None), (actions, where)):
        for baseline in ("none", "mean"):
            whole = policy_loss(LOGITS, rewards, given, mask=MASK, baseline=baseline)
            assert not whole.requires_grad, "rewards are constants"
            torch.testing.assert_close(
                policy_loss(LOGITS[:, order], REWARDS[:, order], moved, mask=MASK[:, order], baseline=baseline), whole
            )
            padded = [pad(x, (0, 2), value=v) for x, v in ((LOGITS, math.nan), (REWARDS, math.nan), (MASK, False))]
            torch.testing.assert_close(policy_loss(*padded[:2], given, mask=padded[2], baseline=baseline), whole)
            rows = [
                policy_loss(*(x[i : i + 1] for x in (LOGITS, REWARDS)), None if given is None else given[i : i + 1],
                            mask=MASK[i : i + 1], baseline=baseline)
                for i in range(3)
            ]  # fmt: skip
            torch.testing.assert_close(torch.stack(rows).mean(), whole)
    logits = pad(LOGITS, (0, 1), value=math.nan).requires_grad_()
    policy_loss(logits, pad(REWARDS, (0, 1)), mask=pad(MASK, (0, 1))).backward()
    assert logits.grad.isfinite().all() and not logits.grad[:, 4].any()


def test_anchoring_is_the_mean_of_loops() -> None:
    features, documents = drawn(3, 5, 4), drawn(3, 4, seed=1)
    squared = cosine = 0.0
    for g, h in zip(features.numpy(), documents.numpy(), strict=True):
        mean = sum(g) / 5
        squared += ((mean - h) ** 2).sum() / 3
        cosine += (1 - mean @ h / np.linalg.norm(mean) / np.linalg.norm(h)) / 3
    assert anchor_loss(features, documents).item() == pytest.approx(squared, rel=1e-12)
    assert anchor_loss(features, documents, form="cosine").item() == pytest.approx(cosine, rel=1e-12)
    assert anchor_loss(torch.zeros(2, 3, 4), torch.eye(4)[:2]) == 1, "the floor of the zero map"
    order = [2, 0, 1]
    torch.testing.assert_close(anchor_loss(features[order], documents[order]), anchor_loss(features, documents))


@pytest.mark.parametrize("form", ["squared", "cosine"])
def test_anchoring_has_a_gradient_on_both_sides(form: Literal["squared", "cosine"]) -> None:
    features, documents = drawn(3, 5, 4).requires_grad_(), drawn(3, 4, seed=1).requires_grad_()
    anchor_loss(features, documents, form=form).backward()
    if form == "squared":
        torch.testing.assert_close(documents.grad, 2 / 3 * (documents - features.mean(dim=1)).detach())
        torch.testing.assert_close(features.grad.sum(dim=1), -documents.grad)
    assert features.grad.any() and documents.grad.any()


@pytest.mark.parametrize("size", [1, 3, 4, 9])
def test_pooling_over_time_is_torchs_of_a_rows_own_tokens(size: int) -> None:
    states = drawn(5, 9, 3)
    mask = torch.zeros(5, 9, dtype=torch.bool)
    for row, tokens in enumerate([range(9), range(4), range(5, 9), [2], [0, 3, 4, 8]]):
        mask[row, list(tokens)] = True
    found = pool_time(states, mask, size)
    for row in range(5):
        expected = adaptive_avg_pool1d(states[row, mask[row]].T[None], size)[0].T
        torch.testing.assert_close(found[row], expected)
    more = pool_time(pad(states, (0, 0, 1, 4), value=math.nan), pad(mask, (1, 4)).long(), size)
    torch.testing.assert_close(more, found)
    torch.testing.assert_close(pool_time(states[2:3], mask[2:3], size), found[2:3])
    assert pool_time(states.half(), mask, size).dtype == torch.float32
    with torch.autocast("cpu", torch.bfloat16):
        torch.testing.assert_close(pool_time(states.float(), mask, size), found.float())


ONE = torch.ones(2, 3)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: policy_loss(ONE, ONE[:1]), "policy_loss: shapes (2, 3), (1, 3), (2, 3), mask torch.bool; all must be"),
        (lambda: policy_loss(ONE, ONE, mask=ONE), "policy_loss: shapes (2, 3), (2, 3), (2, 3), mask torch.float32;"),
        (lambda: anchor_loss(ONE, ONE), "anchor_loss: features (2, 3), documents (2, 3); expected (b, s, d) and (b, d)"),
        (lambda: anchor_loss(ONE[None], ONE), "anchor_loss: features (1, 2, 3), documents (2, 3);"),
        (lambda: pool_time(ONE, ONE, 2), "pool_time: states (2, 3), mask (2, 3), size 2; expected (b, t, d), (b, t)"),
        (lambda: pool_time(ONE[None], ONE[:1, :2], 0), "pool_time: states (1, 2, 3), mask (1, 2), size 0;"),
        (lambda: pool_time(ONE[None], ONE[:1, :2] > 1, 2), "pool_time: row 0 has no token"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_told_in_one_line(call: Callable[[], Any], told: str) -> None:
    with pytest.raises(UserError) as error:
        call()
    assert str(error.value).startswith(told) and "\n" not in str(error.value)

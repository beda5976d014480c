"""The queue against a list, and weights that follow others against the formula."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from seedbed.encoders.losses.momentum import MomentumEncoder, Queue, momentum_update
from seedbed.io import UserError


@given(st.integers(0, 9), st.lists(st.integers(0, 12), max_size=6))
def test_queue_is_the_end_of_a_list(size: int, batches: list[int]) -> None:
    queue, listed, total = Queue(size, 3), [], 0
    for rows in batches:
        ids = torch.arange(total, total + rows)
        queue.add(torch.stack([ids, -ids, ids * 2], dim=1).float(), ids)
        listed, total = [*listed, *ids.tolist()], total + rows
        last = listed[max(0, len(listed) - size) :]
        assert queue.ids.tolist() == last
        assert queue.vectors.tolist() == [[one, -one, 2 * one] for one in last]


def test_queue_starts_empty_and_its_state_is_in_buffers() -> None:
    queue, again = Queue(4, 2), Queue(4, 2)
    assert queue.vectors.shape == (0, 2) and queue.ids.shape == (0,)
    given = torch.tensor([[1.0, 2], [3, 4]], requires_grad=True)
    queue.add(given * 2, torch.tensor([7, 8]))
    assert not queue.vectors.requires_grad and not [*queue.parameters()]
    again.load_state_dict(queue.state_dict())
    assert again.vectors.tolist() == [[2, 4], [6, 8]] and again.ids.tolist() == [7, 8]


@pytest.mark.parametrize(
    ("vectors", "ids"), [(torch.ones(2, 3), torch.ones(2)), (torch.ones(2, 2), torch.ones(3)), (torch.ones(2), 0)]
)
def test_queue_refuses_other_shapes(vectors: torch.Tensor, ids: object) -> None:
    with pytest.raises(UserError, match=r"^queue: vectors.*expected \(n, 2\).*\(n,\)"):
        Queue(4, 2).add(vectors, torch.as_tensor(ids))


@pytest.mark.parametrize("momentum", [0, 0.5, 0.995])
def test_weights_follow_by_the_formula(momentum: float) -> None:
    torch.manual_seed(0)
    target, source = (nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)) for _ in range(2))
    source(torch.randn(6, 3))
    before = [weight.detach().clone() for weight in target.parameters()]
    places = [weight.data_ptr() for weight in target.parameters()]
    momentum_update(target, source, momentum=momentum)
    for now, then, other in zip(target.parameters(), before, source.parameters(), strict=True):
        expected = momentum * then.double() + (1 - momentum) * other.detach().double()
        torch.testing.assert_close(now.detach().double(), expected, rtol=1e-6, atol=1e-7)
    assert [weight.data_ptr() for weight in target.parameters()] == places, "in place"
    assert all(weight.grad is None for weight in [*target.parameters(), *source.parameters()])
    assert target[1].running_mean.tolist() == source[1].running_mean.tolist()
    assert target[1].num_batches_tracked == 1


def test_after_many_steps_it_has_the_sum_of_a_series() -> None:
    """Against a source that stands still, n steps leave momentum ** n of the difference."""
    target, source = nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False)
    nn.init.zeros_(target.weight)
    nn.init.ones_(source.weight)
    for _ in range(300):
        momentum_update(target, source, momentum=0.995)
    assert target.weight.item() == pytest.approx(1 - 0.995**300, rel=1e-5)


def test_a_source_in_half_precision_is_followed_in_single() -> None:
    target, source = nn.Linear(2, 2), nn.Linear(2, 2).bfloat16()
    momentum_update(target, source, momentum=0)
    assert target.weight.dtype == torch.float32 and target.weight.tolist() == source.weight.tolist()


def test_modules_that_do_not_match() -> None:
    with pytest.raises(UserError, match="a copy of the other"):
        momentum_update(nn.Linear(1, 1), nn.Linear(1, 1, bias=False), momentum=0.5)
    with pytest.raises(UserError, match="a copy of the other"):
        momentum_update(nn.Linear(1, 2), nn.Linear(2, 1), momentum=0.5)
    with pytest.raises(UserError, match=r"torch.bfloat16.*float32"):
        momentum_update(nn.Linear(1, 1).bfloat16(), nn.Linear(1, 1), momentum=0.5)


def test_a_follower_shares_what_is_frozen_and_never_drops_out() -> None:
    module = nn.Sequential(nn.Embedding(9, 4), nn.Dropout(0.5), nn.Linear(4, 4))
    module[0].requires_grad_(False)
    follower = MomentumEncoder(module)
    whole = nn.ModuleList([module, follower]).train()
    assert module[1].training and not follower.copy[1].training
    assert follower.copy[0].weight is module[0].weight
    assert not np.shares_memory(follower.copy[2].weight.numpy(), module[2].weight.detach().numpy())
    assert [name for name, weight in whole.named_parameters() if weight.requires_grad] == ["0.2.weight", "0.2.bias"]
    with torch.no_grad():
        module[2].weight.add_(1)
    before = follower.copy[2].weight.clone()
    momentum_update(follower.copy, module, momentum=0.5)
    torch.testing.assert_close(follower.copy[2].weight, before + 0.5)

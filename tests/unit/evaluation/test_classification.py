"""The vote of the nearest neighbours against collections.Counter, which MINERS uses."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedbed.evaluation.classification import vote
from seedbed.io import UserError


def test_majority_then_nearest() -> None:
    labels = [
        ["joy", "anger", "anger"],  # a majority beats the nearest
        ["joy", "anger", "fear"],  # all tie: the nearest
        ["fear", "joy", "anger"],
    ]
    assert vote(labels).tolist() == ["anger", "joy", "fear"]


def test_a_tie_goes_to_the_label_met_first_not_to_the_nearer_majority() -> None:
    assert vote([[2, 1, 1, 2]]).tolist() == [2]
    assert vote([[0, 2, 1, 1, 2]]).tolist() == [2]


@given(st.integers(1, 12).flatmap(lambda k: st.lists(st.lists(st.integers(0, 4), min_size=k, max_size=k), min_size=1)))
def test_agrees_with_counter(labels: list[list[int]]) -> None:
    assert vote(labels).tolist() == [Counter(row).most_common(1)[0][0] for row in labels]


@pytest.mark.parametrize("labels", [[1, 2], np.empty((3, 0)), 1])
def test_labels_have_two_axes(labels: np.ndarray) -> None:
    with pytest.raises(UserError, match="expected"):
        vote(labels)

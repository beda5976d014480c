"""Accuracy by hand; the vote of the nearest neighbours against collections.Counter, which MINERS uses."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedbed.evaluation.classification import score, vote
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


TEST = pd.DataFrame({"id": list("abcd"), "label": ["yes", "no", "no", "yes"]})


def test_accuracy_and_its_items() -> None:
    found = score(TEST, [[2, 1], [0, 3], [1, 1], [5, 4]], ["yes", "no"])
    assert found.main == found.metrics["accuracy"] == 0.75
    # yes: precision 2/3, recall 1; no: precision 1, recall 1/2
    assert found.metrics["macro_f1"] == pytest.approx((0.8 + 2 / 3) / 2)
    assert found.items["predicted"].tolist() == ["yes", "no", "yes", "yes"]
    assert found.items["correct"].tolist() == [1, 1, 0, 1] and found.items["gold"].equals(TEST["label"])


@pytest.mark.parametrize(
    ("scores", "fault"), [(np.zeros((4, 3)), "4 items and 2 labels"), (np.full((4, 2), np.nan), "not finite")]
)
def test_scores_that_cannot_be_used(scores: np.ndarray, fault: str) -> None:
    with pytest.raises(UserError, match=fault):
        score(TEST, scores, ["yes", "no"])

"""Overlaps are means with intervals, the same for synthetic triplets and for an NLI corpus."""

import numpy as np
import pandas as pd
import pytest

from seedbed.triplets.overlap import by_row, dice, summary


def test_each_pair_has_its_mean_and_count():
    rows = [("a b", "a b", "c d"), ("a b", "a c", "c d e")]
    table = pd.DataFrame(rows, columns=["anchor", "positive", "negative"])
    found = {side: summary(by_row(table, side)) for side in ("positive", "negative")}
    assert found["positive"]["mean"] == pytest.approx(np.mean([dice("a b", "a b"), dice("a b", "a c")]))
    assert found["positive"]["n"] == found["negative"]["n"] == 2
    assert found["negative"] == {"n": 2, "mean": 0, "low": 0, "high": 0, "q25": 0, "q50": 0, "q75": 0}


def test_the_interval_is_that_of_the_normal_approximation_for_many_rows_and_the_same_twice():
    values = list(np.random.default_rng(3).beta(2, 5, 2000))
    found = summary(values)
    margin = 1.96 * np.std(values) / np.sqrt(len(values))
    assert found["low"] == pytest.approx(np.mean(values) - margin, abs=0.1 * margin + 1e-4)
    assert found["high"] == pytest.approx(np.mean(values) + margin, abs=0.1 * margin + 1e-4)
    assert found == summary(values)


def test_one_row_has_no_interval():
    assert summary([0.5]) == {"n": 1, "mean": 0.5, "low": None, "high": None, "q25": 0.5, "q50": 0.5, "q75": 0.5}

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


def test_overlap_is_of_words_whatever_their_case_punctuation_and_number():
    assert dice("The dog saw the cat.", "A cat, the DOG!") == pytest.approx(2 * 3 / (4 + 4))
    assert dice("", "a") == dice("", "") == 0 and dice("A!", "a") == 1


@pytest.mark.parametrize(
    ("one", "same", "other"),
    [
        ("วันนี้อากาศดีมากเราจึงไปเดินเล่น", "วันนี้อากาศดีเราไปเดินเล่น", "รถไฟขบวนสุดท้ายออกตอนเที่ยงคืน"),
        ("今日は天気がいいので散歩に行きます", "今日は天気がいいから散歩に行く", "最終電車は真夜中に出発します"),
        ("今天天气很好我们去散步", "今天天气好我们去散散步", "最后一班火车在半夜出发"),
    ],
)
def test_in_scripts_without_blanks_sentences_that_say_something_else_share_little(one, same, other):
    assert dice(one, one) == 1
    assert dice(one, same) > 0.5 and dice(one, other) < 0.15


def test_overlap_in_scripts_without_blanks_is_of_pairs_of_characters_with_their_marks():
    assert dice("ครูที่ดี", "ครูดี") == pytest.approx(2 * 1 / (3 + 2))  # ค-รู, รู-ที่, ที่-ดี and ค-รู, รู-ดี
    assert dice("猫", "猫 iPhone") == pytest.approx(2 * 1 / (1 + 2))


def test_one_row_has_no_interval():
    assert summary([0.5]) == {"n": 1, "mean": 0.5, "low": None, "high": None, "q25": 0.5, "q50": 0.5, "q75": 0.5}

"""Scores of answers against the official script of SQuAD 2.0, whose functions stand here as they are there."""

from __future__ import annotations

import collections
import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedbed.evaluation.metrics.spans import exact_match, f1, normalised


def normalize_answer(s: str) -> str:
    def remove_articles(text: str) -> str:
        regex = re.compile(r"\b(a|an|the)\b", re.UNICODE)
        return re.sub(regex, " ", text)

    def white_space_fix(text: str) -> str:
        return " ".join(text.split())

    def remove_punc(text: str) -> str:
        exclude = set(string.punctuation)
        return "".join(ch for ch in text if ch not in exclude)

    return white_space_fix(remove_articles(remove_punc(s.lower())))


def compute_exact(a_gold: str, a_pred: str) -> int:
    return int(normalize_answer(a_gold) == normalize_answer(a_pred))


def compute_f1(a_gold: str, a_pred: str) -> float:
    gold_toks = normalize_answer(a_gold).split() if a_gold else []
    pred_toks = normalize_answer(a_pred).split() if a_pred else []
    common = collections.Counter(gold_toks) & collections.Counter(pred_toks)
    num_same = sum(common.values())
    if len(gold_toks) == 0 or len(pred_toks) == 0:
        return int(gold_toks == pred_toks)
    if num_same == 0:
        return 0
    precision = 1.0 * num_same / len(pred_toks)
    recall = 1.0 * num_same / len(gold_toks)
    return (2 * precision * recall) / (precision + recall)


answers = st.lists(
    st.sampled_from(["the", "The", "A", "an", "cat", "Cat,", "sat.", "mat", "theme", "--", " ", "é", "’", "a-b"]),
    max_size=6,
).map(" ".join) | st.text(max_size=12)


@given(answers, st.lists(answers, min_size=1, max_size=3))
def test_are_squads_in_english(answer: str, golds: list[str]) -> None:
    assert normalised(answer, "eng") == normalize_answer(answer)
    assert exact_match(answer, golds, "eng") == max(compute_exact(gold, answer) for gold in golds)
    assert f1(answer, golds, "eng") == pytest.approx(max(compute_f1(gold, answer) for gold in golds))


def test_articles_are_englishs_alone() -> None:
    """Of Swahili "a", and of Hausa "an", nothing is taken."""
    assert normalised("The  A-Team, an 'A'!", "eng") == "ateam"
    assert normalised("The  A-Team, an 'A'!", "swh") == "the ateam an a"
    assert exact_match("an ce", ["ce"], "hau") == 0 and exact_match("an ice", ["ice"], "eng") == 1
    assert f1("an ce", ["ce"], "hau") == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("answer", "golds", "expected"),
    [
        ("Dar es Salaam", ["dar es salaam."], 1),
        ("jiji la Dar es Salaam", ["Dar es Salaam"], 2 * (3 / 5) * 1 / (3 / 5 + 1)),
        ("es es", ["es"], 2 / 3),
        ("es", ["es es es", "mji"], 1 / 2),
        ("mji", ["Dodoma"], 0),
        ("", ["Dodoma"], 0),
        ("...", ["!"], 1),
    ],
)
def test_f1_by_hand(answer: str, golds: list[str], expected: float) -> None:
    assert f1(answer, golds, "swh") == pytest.approx(expected)
    assert exact_match(answer, golds, "swh") == (expected == 1)


def test_a_word_is_a_character_in_scripts_without_blanks() -> None:
    """As in MLQA's official script for Chinese, which splits at each of its characters."""
    assert f1("北京大学", ["北京"], "zho") == pytest.approx(2 * 2 / (4 + 2))
    assert 0 < f1("กรุงเทพมหานคร", ["กรุงเทพ"], "tha") < 1
    assert f1("BERT 模型", ["模型"], "zho") == pytest.approx(2 * 2 / (3 + 2))

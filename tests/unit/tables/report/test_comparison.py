"""Where languages stand: in order, each at its own place of the axis."""

from __future__ import annotations

import pytest

from seedbed.tables.report.comparison import comparisons


def best(code: str, value: float, task: str = "sts", *, interval: bool = True, overlap: bool = True) -> dict:
    score = {"value": value} | ({"low": value - 10, "high": value + 5} if interval else {})
    others = {"base": {"value": value - 15}} | ({"word overlap": {"value": value + 8}} if overlap else {})
    test = {"task": task, "metric": "spearman", "score": score, "others": others}
    return {"language": code, "name": code.title(), "recipe": "xllora", "backbone": "e5", "base": "base", "test": test}


def test_languages_are_ordered_on_an_axis_that_holds_every_number():
    (group,) = comparisons([best("hau", 20), best("ind", 60)], {"hau": "Afro-Asiatic"})
    assert (group.task, group.metric, group.start, group.end) == ("sts", "spearman", 0, 70)
    high, low = group.marks
    assert [(one.name, one.family, one.value, one.base, one.overlap) for one in (high, low)] == [
        ("Ind", "", 60, 45, 68),
        ("Hau", "Afro-Asiatic", 20, 5, 28),
    ]
    assert (low.at, low.left, low.width, low.base_at, low.overlap_at) == pytest.approx(
        (28.57, 14.29, 21.43, 7.14, 40), abs=0.01
    )


def test_each_task_has_an_axis_of_its_own():
    groups = comparisons([best("hau", 20), best("kin", 90, "bitext")], {})
    assert [(group.task, [one.name for one in group.marks]) for group in groups] == [
        ("sts", ["Hau"]),
        ("bitext", ["Kin"]),
    ]


def test_without_interval_or_word_overlap_a_language_has_its_score_alone():
    ((mark,),) = (group.marks for group in comparisons([best("hau", 20, interval=False, overlap=False)], {}))
    assert (mark.low, mark.overlap, mark.overlap_at, mark.width) == (None, None, None, 0) and mark.left == mark.at


def test_scores_below_zero_have_a_place():
    (group,) = comparisons([best("hau", -3)], {})
    assert group.start == -20 and group.end == 10
    assert all(0 <= place <= 100 for mark in group.marks for place in (mark.at, mark.left, mark.base_at))

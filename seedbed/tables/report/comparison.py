"""Comparison of languages: the score of each one's best encoder with its interval, and of that before training."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from seedbed.evaluation.metrics import lexical

STEP = 10
"""Points to which the ends of an axis are rounded."""


class Mark(NamedTuple):
    """One language on the axis of its group; positions are in per cent of its length."""

    name: str
    family: str
    recipe: str
    backbone: str
    value: float
    low: float | None
    high: float | None
    base: float | None
    overlap: float | None
    at: float
    left: float
    width: float
    base_at: float | None
    overlap_at: float | None


class Comparison(NamedTuple):
    """The languages that are compared by one metric of one task, the highest first."""

    task: str
    metric: str
    start: int
    end: int
    marks: list[Mark]


def comparisons(best: Iterable[Mapping[str, Any]], families: Mapping[str, str]) -> list[Comparison]:
    """The languages of each task and metric, in order of first appearance.

    Args:
        best: `best` of manifests, see `best.choose_encoder` and `best.report`; scores in points.
        families: language code -> its family, where known.
    """
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for one in (one for one in best if one["test"]):
        groups.setdefault((one["test"]["task"], one["test"]["metric"]), []).append(one)
    return [_comparison(*named, members, families) for named, members in groups.items()]


def _comparison(task: str, metric: str, members: list[Mapping[str, Any]], families: Mapping[str, str]) -> Comparison:
    every = [number for one in members for number in _numbers(one) if number is not None]
    start, end = int(min(every) // STEP * STEP), int(-(-max(every) // STEP) * STEP)
    length = max(end - start, STEP)
    ordered = sorted(members, key=lambda one: -one["test"]["score"]["value"])
    marks = [_mark(one, families.get(one["language"], ""), start, length) for one in ordered]
    return Comparison(task, metric, start, start + length, marks)


def _numbers(one: Mapping[str, Any]) -> tuple[float | None, ...]:
    """What has a place on the axis: a language's score, its interval, the score before training, and that by words;
    None: there is none.
    """
    score = one["test"]["score"]
    return score["value"], score.get("low"), score.get("high"), _other(one, one["base"]), _other(one, *lexical.NAMES)


def _other(one: Mapping[str, Any], *names: str) -> float | None:
    """The score of the first of these that is among the others; None: none is."""
    return next((one["test"]["others"][name]["value"] for name in names if name in one["test"]["others"]), None)


def _mark(one: Mapping[str, Any], family: str, start: int, length: int) -> Mark:
    def place(value: float | None) -> float | None:
        return None if value is None else round(100 * (value - start) / length, 2)

    value, low, high, base, overlap = _numbers(one)
    left, right = place(value if low is None else low), place(value if high is None else high)
    return Mark(
        name=one["name"],
        family=family,
        recipe=one["recipe"],
        backbone=one["backbone"],
        value=value,
        low=low,
        high=high,
        base=base,
        overlap=overlap,
        at=place(value),
        left=left,
        width=round(right - left, 2),
        base_at=place(base),
        overlap_at=place(overlap),
    )

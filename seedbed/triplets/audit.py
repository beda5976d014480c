"""Audit of triplets: which may be used for training, and why others are rejected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from seedbed.blocks import Blocks, Seen, select_rows
from seedbed.corpora.select.contamination import EvaluationTexts
from seedbed.corpora.select.language_id import LanguageId
from seedbed.corpora.shape.clean import comparable, script_share, words
from seedbed.generators.writing.triplets import REFUSED
from seedbed.io import UserError
from seedbed.triplets.overlap import by_row, summary
from seedbed.triplets.settings import Audit
from seedbed.triplets.switching import WordCheck, latin_share, other_script

TARGETS = ("positive", "negative")


@dataclass(frozen=True)
class Expected:
    """The language and script that a generated text should be in."""

    in_pivot: bool
    """Whether in the pivot language instead of the anchor's."""
    script: str
    """ISO 15924 code."""


def audit(
    triplets: Callable[[], Blocks],
    target: Expected,
    identify: LanguageId | None,
    seen: EvaluationTexts,
    rules: Audit,
    vocabulary: WordCheck | None = None,
) -> tuple[Blocks, Blocks, dict[str, Any]]:
    """Split triplets into those that pass all checks and those that do not.

    Args:
        triplets: iterates over `id`, `anchor`, `positive`, `negative`, and maybe `positive_finished` and
            `negative_finished`; it is called three times.
        target: the language and script of positives and negatives.
        identify: distinguishes the anchors' language from the pivot language; None: not checked.
        seen: sentences of the evaluation sets.
        rules: settings of the checks.
        vocabulary: finds foreign and unlikely words in positives and negatives; None: not checked.

    Returns:
        The rows that pass, the others with a `reason`, and a report of counts and lexical overlaps.

    Raises:
        UserError: too few rows pass.
    """
    found = []
    shared: dict[str, list[np.ndarray]] = {side: [] for side in TARGETS}
    before = {side: Seen() for side in ("anchor", "positive")}
    for block in triplets():
        reason = _reasons(block, target, identify, seen, rules, vocabulary)
        for side in before:
            # In one batch the repetition would be another row's negative and its own positive at once.
            left = reason == ""
            reason[left] = np.where(before[side].new(map(comparable, block[side][left])), "", f"{side}: repeated")
        found.append(reason)
        for side in TARGETS:
            shared[side].append(by_row(block[reason == ""], side))
    return split_by_reason(triplets, np.concatenate(found), shared, rules)


def split_by_reason(
    triplets: Callable[[], Blocks], reasons: np.ndarray, shared: dict[str, list[np.ndarray]], rules: Audit
) -> tuple[Blocks, Blocks, dict[str, Any]]:
    """Split triplets by the reasons against them.

    Args:
        triplets: iterates over the triplets; it is called twice.
        reasons: (rows,), "" for rows that pass.
        shared: lexical overlaps of the rows that pass, by column.
        rules: their max_lost and min_rows are used.

    Returns:
        The rows that pass, the others with a `reason`, and a report of counts and lexical overlaps.

    Raises:
        UserError: too few rows pass.
    """
    dropped = Counter(reasons[reasons != ""])
    kept = len(reasons) - dropped.total()
    if kept < rules.min_rows or dropped.total() > rules.max_lost * len(reasons):
        common = ", ".join(f"{name} {count}" for name, count in dropped.most_common(3))
        raise UserError(
            f"audit: {kept} of {len(reasons)} triplets pass (most dropped: {common}); the generator does not write "
            "this language well enough, or the rules under `audit:` are too strict for it"
        )
    overlaps = {side: np.concatenate(values) for side, values in shared.items()}
    dice = {f"anchor-{side}": summary(values) for side, values in overlaps.items() if len(values)}
    report = {"read": len(reasons), "kept": kept, "dropped": dict(sorted(dropped.items())), "dice": dice}
    return select_rows(triplets(), reasons == ""), _rejected(triplets(), reasons), report


def _reasons(
    triplets: pd.DataFrame,
    target: Expected,
    identify: LanguageId | None,
    seen: EvaluationTexts,
    rules: Audit,
    vocabulary: WordCheck | None,
) -> np.ndarray:
    """The reason for which each row alone does not pass; "" for those that do."""
    reason, refusals = np.full(len(triplets), "", dtype=object), tuple(map(_plain, rules.refusals))

    def drop(rows: pd.Series, why: str) -> None:
        reason[(reason == "") & rows.to_numpy(bool)] = why

    for side in TARGETS:
        text = triplets[side]
        if f"{side}_finished" in triplets.columns:
            drop(triplets[f"{side}_finished"] == REFUSED, f"{side}: refused by the server")
        drop(text.map(comparable) == "", f"{side}: empty")
        if rules.finished and f"{side}_finished" in triplets.columns:
            drop(triplets[f"{side}_finished"] == "false", f"{side}: cut at the length limit")
        drop(text.map(_plain).str.startswith(refusals), f"{side}: refusal, preamble or echo")
        drop(text.map(comparable) == triplets["anchor"].map(comparable), f"{side}: equals the anchor")
        drop(text.map(repetition) > rules.max_repetition, f"{side}: repeats itself")
        drop(text.map(lambda value: script_share(value, target.script)) < rules.script_share, f"{side}: script")
        if identify is not None:
            drop(pd.Series(identify.in_language(list(text)), index=text.index) == target.in_pivot, f"{side}: language")
        if rules.other_script:
            drop(text.map(lambda value: other_script(value, target.script)), f"{side}: word in another script")
        drop(text.map(lambda value: latin_share(value, target.script)) > rules.latin_words, f"{side}: Latin words")
        if vocabulary is not None:
            foreign, unlikely = zip(*map(vocabulary.foreign, text, triplets["anchor"]), strict=True)
            drop(pd.Series(foreign, index=text.index), f"{side}: foreign word")
            drop(pd.Series(unlikely, index=text.index), f"{side}: unlikely word")
        drop(length_ratio(triplets["anchor"], text) > rules.length_ratio, f"{side}: length")
    drop(triplets["positive"].map(comparable) == triplets["negative"].map(comparable), "positive equals negative")
    for side in ("anchor", "positive", "negative"):
        drop(triplets[side].map(seen.repeats), f"{side}: in an evaluation set")
    return reason


def _plain(text: str) -> str:
    """A text as beginnings are compared: case-folded, with straight apostrophes."""
    return text.replace("’", "'").casefold()


def _rejected(triplets: Blocks, reasons: np.ndarray) -> Blocks:
    start = 0
    for block in triplets:
        reason = reasons[start : start + len(block)]
        yield block[reason != ""].assign(reason=reason[reason != ""])
        start += len(block)


def repetition(text: str) -> float:
    """Share of the most frequent word in a text of six words or more, else 0."""
    parts = words(text)
    return max(Counter(parts).values()) / len(parts) if len(parts) >= 6 else 0.0


def length_ratio(a: pd.Series, b: pd.Series) -> pd.Series:
    """Characters of the longer text divided by those of the shorter, row by row."""
    lengths = pd.concat([a.str.len(), b.str.len()], axis=1).clip(lower=1)
    return lengths.max(axis=1) / lengths.min(axis=1)

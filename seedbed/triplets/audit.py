"""Which triplets may train an encoder, and why the others may not."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import pandas as pd

from seedbed.corpora.clean import comparable, script_share, words
from seedbed.corpora.contamination import EvaluationTexts
from seedbed.corpora.language_id import LanguageId
from seedbed.io import UserError
from seedbed.triplets.settings import Audit

TARGETS = ("positive", "negative")


@dataclass(frozen=True)
class Expected:
    """What a text should be written in."""

    in_pivot: bool
    """In the pivot language rather than in the anchor's."""
    script: str
    """ISO 15924."""


def audit(
    triplets: pd.DataFrame, target: Expected, identify: LanguageId | None, seen: EvaluationTexts, rules: Audit
) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, Any]]:
    """Split triplets into those that pass and those that do not.

    Args:
        triplets: `id`, `anchor`, `positive`, `negative`, and maybe `positive_finished`, `negative_finished`.
        target: what positives and negatives should be written in.
        identify: tells the anchors' language from the pivot; None: not checked.
        seen: sentences of the evaluation sets.

    Returns:
        The rows that pass, the others with a `reason`, and the counts and lexical overlaps.

    Raises:
        UserError: too few rows pass.
    """
    reason = pd.Series("", index=triplets.index)

    def drop(rows: pd.Series, why: str) -> None:
        reason[(reason == "") & rows] = why

    for side in TARGETS:
        text = triplets[side]
        drop(text.map(comparable) == "", f"{side}: empty")
        if rules.finished and f"{side}_finished" in triplets.columns:
            drop(triplets[f"{side}_finished"] == "false", f"{side}: cut at the length limit")
        drop(text.str.casefold().str.startswith(tuple(rules.refusals)), f"{side}: refusal, preamble or echo")
        drop(text.map(comparable) == triplets["anchor"].map(comparable), f"{side}: equals the anchor")
        drop(text.map(repetition) > rules.max_repetition, f"{side}: repeats itself")
        drop(text.map(lambda value: script_share(value, target.script)) < rules.script_share, f"{side}: script")
        if identify is not None:
            drop(pd.Series(identify.in_language(list(text)), index=text.index) == target.in_pivot, f"{side}: language")
        drop(length_ratio(triplets["anchor"], text) > rules.length_ratio, f"{side}: length")
    drop(triplets["positive"].map(comparable) == triplets["negative"].map(comparable), "positive equals negative")
    for side in ("anchor", "positive", "negative"):
        drop(triplets[side].map(seen.repeats), f"{side}: in an evaluation set")
    for side in ("anchor", "positive"):
        # In one batch the repetition would be another row's negative and its own positive at once.
        drop(triplets[side].where(reason == "").map(comparable, na_action="ignore").duplicated(), f"{side}: repeated")

    kept, rejected = triplets[reason == ""], triplets[reason != ""].assign(reason=reason[reason != ""])
    _require(kept, rejected, rules)
    overlaps = {
        f"anchor-{side}": _summary([dice(a, b) for a, b in zip(kept["anchor"], kept[side], strict=True)])
        for side in TARGETS
    }
    counts = {name: int(count) for name, count in rejected["reason"].value_counts().sort_index().items()}
    return kept, rejected, {"read": len(triplets), "kept": len(kept), "dropped": counts, "dice": overlaps}


def _require(kept: pd.DataFrame, rejected: pd.DataFrame, rules: Audit) -> None:
    total = len(kept) + len(rejected)
    if len(kept) < rules.min_rows or len(rejected) > rules.max_lost * total:
        common = ", ".join(f"{name} {count}" for name, count in rejected["reason"].value_counts().head(3).items())
        raise UserError(
            f"audit: {len(kept)} of {total} triplets pass (most dropped: {common}); the generator does not write "
            "this language well enough, or the rules under `audit:` are too strict for it"
        )


def dice(a: str, b: str) -> float:
    """Lexical overlap of two sentences: Dice coefficient of their case-folded word sets (paper 000, figure 5)."""
    first, second = set(words(a)), set(words(b))
    return 2 * len(first & second) / (len(first) + len(second)) if first or second else 0.0


def repetition(text: str) -> float:
    """Share of the commonest word in a text of six words or more, else 0."""
    parts = words(text)
    return max(Counter(parts).values()) / len(parts) if len(parts) >= 6 else 0.0


def length_ratio(a: pd.Series, b: pd.Series) -> pd.Series:
    """Characters of the longer text over those of the shorter, row by row."""
    lengths = pd.concat([a.str.len(), b.str.len()], axis=1).clip(lower=1)
    return lengths.max(axis=1) / lengths.min(axis=1)


def _summary(values: list[float]) -> dict[str, float]:
    series = pd.Series(values)
    quartiles = {f"q{int(q * 100)}": round(float(series.quantile(q)), 4) for q in (0.25, 0.5, 0.75)}
    return {"mean": round(float(series.mean()), 4), **quartiles}

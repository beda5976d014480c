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
from seedbed.triplets.overlap import dice as dice  # its home for whoever looks here
from seedbed.triplets.overlap import overlaps
from seedbed.triplets.settings import Audit
from seedbed.triplets.switching import WordCheck, latin_share, other_script

TARGETS = ("positive", "negative")


@dataclass(frozen=True)
class Expected:
    """What a text should be written in."""

    in_pivot: bool
    """In the pivot language rather than in the anchor's."""
    script: str
    """ISO 15924."""


def audit(
    triplets: pd.DataFrame,
    target: Expected,
    identify: LanguageId | None,
    seen: EvaluationTexts,
    rules: Audit,
    vocabulary: WordCheck | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, Any]]:
    """Split triplets into those that pass and those that do not.

    Args:
        triplets: `id`, `anchor`, `positive`, `negative`, and maybe `positive_finished`, `negative_finished`.
        target: what positives and negatives should be written in.
        identify: tells the anchors' language from the pivot; None: not checked.
        seen: sentences of the evaluation sets.
        vocabulary: finds words of the other language and unlikely ones in positives and negatives; None: not checked.

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
    for side in ("anchor", "positive"):
        # In one batch the repetition would be another row's negative and its own positive at once.
        drop(triplets[side].where(reason == "").map(comparable, na_action="ignore").duplicated(), f"{side}: repeated")

    kept, rejected = triplets[reason == ""], triplets[reason != ""].assign(reason=reason[reason != ""])
    _require(kept, rejected, rules)
    counts = {name: int(count) for name, count in rejected["reason"].value_counts().sort_index().items()}
    return kept, rejected, {"read": len(triplets), "kept": len(kept), "dropped": counts, "dice": overlaps(kept)}


def _require(kept: pd.DataFrame, rejected: pd.DataFrame, rules: Audit) -> None:
    total = len(kept) + len(rejected)
    if len(kept) < rules.min_rows or len(rejected) > rules.max_lost * total:
        common = ", ".join(f"{name} {count}" for name, count in rejected["reason"].value_counts().head(3).items())
        raise UserError(
            f"audit: {len(kept)} of {total} triplets pass (most dropped: {common}); the generator does not write "
            "this language well enough, or the rules under `audit:` are too strict for it"
        )


def repetition(text: str) -> float:
    """Share of the commonest word in a text of six words or more, else 0."""
    parts = words(text)
    return max(Counter(parts).values()) / len(parts) if len(parts) >= 6 else 0.0


def length_ratio(a: pd.Series, b: pd.Series) -> pd.Series:
    """Characters of the longer text over those of the shorter, row by row."""
    lengths = pd.concat([a.str.len(), b.str.len()], axis=1).clip(lower=1)
    return lengths.max(axis=1) / lengths.min(axis=1)

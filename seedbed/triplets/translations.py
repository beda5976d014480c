"""Audit of a translated corpus: which rows may be used for training; ids do not change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from seedbed.blocks import Blocks, Lookup
from seedbed.corpora.select.contamination import EvaluationTexts
from seedbed.corpora.select.language_id import LanguageId
from seedbed.corpora.settings import COLUMNS
from seedbed.corpora.shape.clean import comparable
from seedbed.triplets.audit import split_by_reason
from seedbed.triplets.faults import Expected, Reasons, cut, empty, length, of_words, tested
from seedbed.triplets.overlap import by_row
from seedbed.triplets.settings import Audit

SIDES = COLUMNS["paraphrases"]


def audit_translations(
    translated: Callable[[], Blocks],
    source: Blocks,
    script: str,
    identify: LanguageId | None,
    seen: EvaluationTexts,
    rules: Audit,
) -> tuple[Blocks, Blocks, dict[str, Any]]:
    """Split translated rows into those that pass all checks and those that do not.

    An empty negative is allowed if the source has none.

    Args:
        translated: iterates over `id`, `anchor`, `positive`, `negative`, and maybe `anchor_finished`,
            `positive_finished`, `negative_finished`; it is called three times.
        source: `id` and the same columns in the source language.
        script: ISO 15924 code of the translations.
        identify: distinguishes the translations' language from the source's; None: not checked.
        seen: sentences of the evaluation sets.
        rules: `finished`, `language_id`, `script_share`, `other_script`, `latin_words`, `length_ratio` (of translation
            and source), `max_repetition`, `max_lost` and `min_rows` are used.

    Returns:
        The rows that pass, the others with a `reason`, and a report of counts and lexical overlaps.

    Raises:
        UserError: too few rows pass.
    """
    originals = Lookup(source, lambda block: list(block["id"]))
    found, shared = [], {side: [] for side in SIDES[1:]}
    for block in translated():
        reason = _reasons(block, _originals_of(block, originals), script, identify, seen, rules)
        found.append(reason)
        kept = block[reason == ""]
        for side in shared:
            shared[side].append(by_row(kept[kept[side] != ""], side))
    return split_by_reason(translated, np.concatenate(found), shared, rules)


def _originals_of(block: pd.DataFrame, originals: Lookup) -> pd.DataFrame:
    """The rows of the source with the ids of a block, in its order; without an id where the source has no such row."""
    lacking = ("",) * len(originals.columns)
    rows = [row or lacking for row in originals.find(block["id"])]
    return pd.DataFrame(rows, columns=originals.columns, index=block.index, dtype=str)


def _reasons(
    rows: pd.DataFrame,
    source: pd.DataFrame,
    script: str,
    identify: LanguageId | None,
    seen: EvaluationTexts,
    rules: Audit,
) -> np.ndarray:
    """Why each row does not pass; "" for those that do."""
    reasons, target = Reasons(len(rows)), Expected(in_pivot=False, script=script)
    reasons.add(source["id"] == "", "no such row in the source")
    for side in SIDES:
        text, original = rows[side], source[side]
        there = (original != "") | (text != "")
        faults = [
            (original == "", "none in the source"),
            cut(rows, side, rules),
            empty(text),
            (text.map(comparable) == original.map(comparable), "a copy of the source"),
            *of_words(text, target, identify, rules),
            length(text, original, rules),
            tested(text, seen),
        ]
        for faulty, why in faults:
            reasons.add(there & faulty, f"{side}: {why}")
    return reasons.found

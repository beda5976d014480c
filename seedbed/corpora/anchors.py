"""Choosing the sentences that triplets are built around."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from seedbed.blocks import Blocks, sample, taken
from seedbed.corpora.clean import script_share
from seedbed.corpora.contamination import EvaluationTexts
from seedbed.corpora.language_id import LanguageId
from seedbed.corpora.settings import Anchors
from seedbed.io import UserError

LEAST_SCRIPT = 0.7
"""Share of an anchor's letters in the language's script; names and loans in another script are common."""


def select(
    corpus: Callable[[], Blocks], identify: LanguageId | None, tests: list[str], script: str, anchors: Anchors
) -> tuple[Blocks, dict[str, Any]]:
    """Draw anchors from a corpus: in the language, in its script, and in no evaluation set.

    Args:
        corpus: begins to read `id`, `text`, the language's sentences; it is called twice.
        identify: tells the language from the pivot; None: the language is the pivot, or nobody asks.
        tests: every sentence of the language's evaluation sets, both sides.
        script: ISO 15924 code.

    Returns:
        Anchors (`id`, `text`) in the corpus's order, and the counts of what was dropped and why.

    Raises:
        UserError: nothing is left.
    """
    seen = EvaluationTexts(tests)
    dropped: Counter[str] = Counter()
    kept = []
    for block in corpus():
        reason = _reasons(block["text"], seen, identify, script if anchors.language_id else "")
        dropped.update(reason[reason != ""])
        kept.append(reason == "")
    left = np.concatenate(kept)
    if not left.any():
        raise UserError(f"anchors: none of {len(left)} sentences is left ({dict(dropped)})")
    rows = int(left.sum())
    drawn = left.copy()
    drawn[left] = sample(rows, anchors.count, anchors.seed)
    count = int(drawn.sum())
    audit = {"read": len(left), "dropped": dict(sorted(dropped.items())), "not drawn": rows - count, "kept": count}
    return (block[["id", "text"]] for block in taken(corpus(), drawn)), audit


def _reasons(texts: pd.Series, seen: EvaluationTexts, identify: LanguageId | None, script: str) -> np.ndarray:
    """Why each text can be no anchor; "" for those that can."""
    reason = np.full(len(texts), "", dtype=object)
    reason[texts.map(seen.repeats).to_numpy(bool)] = "in an evaluation set"
    if identify is not None:
        reason[(reason == "") & ~identify.in_language(list(texts))] = "other language"
    if script:
        share = texts.map(lambda text: script_share(text, script)).to_numpy()
        reason[(reason == "") & (share < LEAST_SCRIPT)] = "script"
    return reason

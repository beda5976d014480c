"""Choosing the sentences that triplets are built around."""

from __future__ import annotations

from typing import Any

import pandas as pd

from seedbed.corpora.clean import script_share
from seedbed.corpora.contamination import EvaluationTexts
from seedbed.corpora.language_id import LanguageId
from seedbed.corpora.settings import Anchors
from seedbed.io import UserError

LEAST_SCRIPT = 0.7
"""Share of an anchor's letters in the language's script; names and loans in another script are common."""


def select(
    corpus: pd.DataFrame, pivot: pd.DataFrame | None, tests: list[str], script: str, anchors: Anchors
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Draw anchors from a corpus: in the language, in its script, and in no evaluation set.

    Args:
        corpus: `id`, `text`: the language's sentences.
        pivot: the pivot language's; None: the language is the pivot, and there is none to tell it from.
        tests: every sentence of the language's evaluation sets, both sides.
        script: ISO 15924 code.

    Returns:
        Anchors (`id`, `text`) in the corpus's order, and the counts of what was dropped and why.

    Raises:
        UserError: nothing is left.
    """
    seen = EvaluationTexts(tests)
    reason = pd.Series("", index=corpus.index)
    reason[corpus["text"].map(seen.repeats)] = "in an evaluation set"
    if anchors.language_id and pivot is not None:
        identify = LanguageId(list(corpus["text"]), list(pivot["text"]))
        reason[(reason == "") & ~identify.in_language(list(corpus["text"]))] = "other language"
    if anchors.language_id:
        reason[(reason == "") & (corpus["text"].map(lambda text: script_share(text, script)) < LEAST_SCRIPT)] = "script"
    kept = corpus[reason == ""]
    if kept.empty:
        raise UserError(f"anchors: none of {len(corpus)} sentences is left ({dict(reason.value_counts())})")
    drawn = kept.sample(min(anchors.count, len(kept)), random_state=anchors.seed).sort_index()
    dropped = {name: int(count) for name, count in reason[reason != ""].value_counts().sort_index().items()}
    audit = {"read": len(corpus), "dropped": dropped, "not drawn": len(kept) - len(drawn), "kept": len(drawn)}
    return drawn[["id", "text"]].reset_index(drop=True), audit

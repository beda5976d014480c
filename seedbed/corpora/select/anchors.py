"""Choosing the sentences that triplets are built around."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from seedbed.blocks import Blocks, sample, taken
from seedbed.corpora.select.contamination import EvaluationTexts
from seedbed.corpora.select.language_id import LanguageId
from seedbed.corpora.settings import Anchors
from seedbed.corpora.shape.clean import script_share
from seedbed.io import UserError

LEAST_SCRIPT = 0.7
"""Share of an anchor's letters in the language's script; names and loans in another script are common."""


def select(
    corpus: Callable[[], Blocks], identify: LanguageId | None, tests: list[str], script: str, anchors: Anchors
) -> tuple[Blocks, dict[str, Any]]:
    """Draw anchors from a corpus: in the language, in its script, and in no evaluation set.

    Args:
        corpus: begins to read `id`, `text`, the language's sentences; it is called twice.
        identify: tells the language from the pivot; None: not checked.
        tests: every sentence of the language's evaluation sets, both sides.
        script: ISO 15924 code.

    Returns:
        Anchors (`id`, `text`) in the corpus's order, and the counts of what was dropped and why.

    Raises:
        UserError: nothing is left.
    """
    seen, fits = EvaluationTexts(tests), identify and identify.in_language
    script = script if anchors.language_id else ""
    drawn, audit = draw(corpus, lambda block: reasons(block["text"], seen, fits, script), anchors.count, anchors.seed)
    if not audit["kept"]:
        raise UserError(f"anchors: none of {audit['read']} sentences is left ({audit['dropped']})")
    return (block[["id", "text"]] for block in drawn), audit


def draw(
    corpus: Callable[[], Blocks], reasons: Callable[[pd.DataFrame], np.ndarray], count: int, seed: int
) -> tuple[Blocks, dict[str, Any]]:
    """Draw so many rows of a table, or all if it has fewer, of those that nothing speaks against.

    Args:
        corpus: begins to read the table; it is called twice.
        reasons: why each row of a block cannot be taken; "" for those that can.

    Returns:
        The rows in their order, and the counts of those read, dropped by reason, not drawn and kept.
    """
    dropped: Counter[str] = Counter()
    kept = []
    for block in corpus():
        reason = reasons(block)
        dropped.update(reason[reason != ""])
        kept.append(reason == "")
    left = np.concatenate(kept)
    rows = int(left.sum())
    drawn = left.copy()
    drawn[left] = sample(rows, count, seed)
    chosen = int(drawn.sum())
    audit = {"read": len(left), "dropped": dict(sorted(dropped.items())), "not drawn": rows - chosen, "kept": chosen}
    return taken(corpus(), drawn), audit


def reasons(
    texts: pd.Series, seen: EvaluationTexts, fits: Callable[[Sequence[str]], np.ndarray] | None, script: str
) -> np.ndarray:
    """Why each text cannot be taken; "" for those that can.

    Args:
        fits: booleans (n,): whether each text is in the right language; None: not checked.
        script: ISO 15924 code; empty: not checked.
    """
    reason = np.full(len(texts), "", dtype=object)
    reason[texts.map(seen.repeats).to_numpy(bool)] = "in an evaluation set"
    if fits is not None:
        reason[(reason == "") & ~fits(list(texts))] = "other language"
    if script:
        share = texts.map(lambda text: script_share(text, script)).to_numpy()
        reason[(reason == "") & (share < LEAST_SCRIPT)] = "script"
    return reason

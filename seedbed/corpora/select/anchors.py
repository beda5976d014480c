"""Selection of anchors, the sentences for which triplets are generated."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from seedbed.blocks import Blocks, sample, select_rows
from seedbed.corpora.select.contamination import EvaluationTexts
from seedbed.corpora.select.language_id import LanguageId
from seedbed.corpora.settings import Anchors
from seedbed.corpora.shape.clean import script_share
from seedbed.io import UserError

LEAST_SCRIPT = 0.7
"""Minimum share of an anchor's letters in the language's script; names and loans in another script are common."""


def select(
    corpus: Callable[[], Blocks], identify: LanguageId | None, seen: EvaluationTexts, script: str, anchors: Anchors
) -> tuple[Blocks, dict[str, Any]]:
    """Sample anchors from a corpus: in the language, in its script, and not in an evaluation set.

    Args:
        corpus: iterates over `id` and `text` of the language's sentences; it is called twice.
        identify: distinguishes the language from the pivot language; None: not checked.
        script: ISO 15924 code.

    Returns:
        Anchors (`id`, `text`) in the corpus's order, and counts of dropped rows by reason.

    Raises:
        UserError: no sentence is left.
    """
    fits = identify and identify.in_language
    script = script if anchors.language_id else ""
    drawn, audit = draw(corpus, lambda block: reasons(block["text"], seen, fits, script), anchors.count, anchors.seed)
    if not audit["kept"]:
        raise UserError(f"anchors: none of {audit['read']} sentences is left ({audit['dropped']})")
    return (block[["id", "text"]] for block in drawn), audit


def draw(
    corpus: Callable[[], Blocks], reasons: Callable[[pd.DataFrame], np.ndarray], count: int, seed: int
) -> tuple[Blocks, dict[str, Any]]:
    """Sample rows of a table that have no reason against them; all of them if there are no more than `count`.

    Args:
        corpus: iterates over the table; it is called twice.
        reasons: a block -> for each row why it cannot be taken, "" if it can.

    Returns:
        The rows in their order, and the counts of rows: read, dropped by reason, not sampled, kept.
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
    return select_rows(corpus(), drawn), audit


def reasons(
    texts: pd.Series, seen: EvaluationTexts, fits: Callable[[Sequence[str]], np.ndarray] | None, script: str
) -> np.ndarray:
    """Why each text cannot be taken; "" if it can.

    Args:
        fits: texts -> booleans (n,), whether each is in the right language; None: not checked.
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

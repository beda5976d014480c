"""Selection of seed pairs, the only parallel text of a training, and removing their sentences from pools."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas as pd

from seedbed.blocks import Blocks
from seedbed.corpora.select.anchors import draw, reasons
from seedbed.corpora.select.contamination import EvaluationTexts
from seedbed.corpora.select.language_id import LanguageId
from seedbed.corpora.settings import SeedPairs
from seedbed.corpora.shape.clean import comparable
from seedbed.io import UserError

IN_PAIRS = "in a seed pair"
"""Reason for dropping a sentence of a pool."""


def select(
    corpus: Callable[[], Blocks],
    identify: LanguageId | None,
    seen: EvaluationTexts,
    scripts: tuple[str, str],
    pairs: SeedPairs,
) -> tuple[Blocks, dict[str, Any]]:
    """Sample translation pairs whose texts differ, are in their language and script, and are not in an evaluation set.

    Source: paper 001, section 4.1, which states only the number of pairs.

    Args:
        corpus: iterates over `id`, `text` and `pivot`; it is called twice.
        identify: distinguishes the language from the pivot language; None: not checked.
        scripts: ISO 15924 codes of the language and of the pivot language.

    Returns:
        Pairs (`id`, `text`, `pivot`) in the corpus's order, and counts of dropped pairs by their first reason.

    Raises:
        UserError: fewer pairs are left than requested.
    """
    fits = {"text": identify.in_language, "pivot": lambda texts: ~identify.in_language(texts)} if identify else {}
    sides = dict(zip(("text", "pivot"), scripts if pairs.language_id else ("", ""), strict=True))

    def why(block: pd.DataFrame) -> np.ndarray:
        equal = block["text"].map(comparable) == block["pivot"].map(comparable)
        found = np.where(equal, "equal sides", "").astype(object)
        for side, script in sides.items():
            reason = reasons(block[side], seen, fits.get(side), script)
            new = (found == "") & (reason != "")
            found[new] = [f"{side}: {one}" for one in reason[new]]
        return found

    drawn, audit = draw(corpus, why, pairs.count, pairs.seed)
    if audit["kept"] < pairs.count:
        raise UserError(
            f"seed_pairs: {audit['kept']} of {audit['read']} pairs are left, and count is {pairs.count} (dropped: "
            f"{audit['dropped']}); give more parallel text, or a smaller count"
        )
    return (block[["id", "text", "pivot"]] for block in drawn), audit


def without(pool: Blocks, sentences: Iterable[str], counts: Counter[str]) -> Blocks:
    """Iterate over the rows of a pool whose `text` is not among given sentences, up to case and punctuation.

    Otherwise a sentence's nearest neighbour in a pool that contains it would be itself.

    Args:
        sentences: sentences of the pairs, in the pool's language.
        counts: dropped rows are added here under IN_PAIRS.
    """
    own = {comparable(sentence) for sentence in sentences}
    for block in pool:
        found = block["text"].map(comparable).isin(own)
        counts[IN_PAIRS] += int(found.sum())
        yield block[~found]

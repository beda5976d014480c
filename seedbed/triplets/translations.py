"""Audit of a translated corpus: which rows may be used for training; ids do not change."""

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

from seedbed.blocks import Blocks, Lookup
from seedbed.corpora.settings import COLUMNS
from seedbed.corpora.shape.clean import comparable
from seedbed.triplets.audit import Audited, split_by_reason
from seedbed.triplets.faults import Checks, Fault, empty, first_faults


def audit_translations(translated: Callable[[], Blocks], source: Blocks, checks: Checks) -> Audited:
    """Split translated rows into those that pass all checks and those that do not.

    An empty negative is allowed if the source has none.

    Args:
        translated: iterates over `id`, `anchor`, `positive`, `negative`, and maybe `anchor_finished`,
            `positive_finished`, `negative_finished`; it is called three times.
        source: `id` and the same columns in the source language.
        checks: the checks of translations; `length_ratio` is that of translation and source.

    Raises:
        UserError: as `split_by_reason`.
    """
    originals = Lookup(source, lambda block: list(block["id"]))

    def reasons(block: pd.DataFrame) -> np.ndarray:
        return first_faults(_faults(block, _originals_of(block, originals), checks))

    return split_by_reason(translated, reasons, checks.rules)


def _originals_of(block: pd.DataFrame, originals: Lookup) -> pd.DataFrame:
    """The rows of the source with the ids of a block, in its order; without an id where the source has no such row."""
    lacking = ("",) * len(originals.columns)
    rows = [row or lacking for row in originals.find(block["id"])]
    return pd.DataFrame(rows, columns=originals.columns, index=block.index, dtype=str)


def _faults(rows: pd.DataFrame, source: pd.DataFrame, checks: Checks) -> Iterator[Fault]:
    """What is wrong with each row."""
    yield source["id"] == "", "no such row in the source"
    for side in COLUMNS["paraphrases"]:
        text, original = rows[side], source[side]
        there = (original != "") | (text != "")
        faults = [
            (original == "", "none in the source"),
            checks.cut(rows, side),
            empty(text),
            (text.map(comparable) == original.map(comparable), "a copy of the source"),
            *checks.of_words(text),
            checks.length(text, original),
            checks.tested(text),
        ]
        for faulty, why in faults:
            yield there & faulty, f"{side}: {why}"

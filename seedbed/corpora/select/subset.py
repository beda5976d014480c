"""Reproducible subsets of a table, which depend only on the rows' ids: for anchors, generation and training."""

from functools import reduce

import pandas as pd

from seedbed.blocks import Blocks
from seedbed.io import fingerprint

SENTENCES = 20_000
"""Sentences of each language for language identification; more change nothing."""


def sentences(corpus: Blocks) -> pd.DataFrame:
    """The sentences of a corpus that language identification is fitted on; applied to its own result it changes
    nothing.
    """
    first = subset(next(corpus := iter(corpus)), SENTENCES)
    return reduce(lambda kept, block: subset(pd.concat([kept, block], ignore_index=True), SENTENCES), corpus, first)


def subset(table: pd.DataFrame, rows: int) -> pd.DataFrame:
    """At most `rows` rows of a table (0: all), those whose ids have the lowest hashes, in the table's order.

    A corpus may be sorted by its texts, so its first rows are not a sample. Whether a row is selected depends on its id
    and on `rows` only: a smaller subset is part of a larger one, also after an audit dropped rows.
    """
    if not rows or rows >= len(table):
        return table
    places = table["id"].map(place_of)
    return table.loc[places.nsmallest(rows).index.sort_values()]


def place_of(row: str) -> int:
    """The hash of a row's id by which subsets are selected, from 0 to below 2^60."""
    return int(fingerprint(row)[:15], 16)

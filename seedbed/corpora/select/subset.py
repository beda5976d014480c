"""A part of a table that is the same wherever it is drawn: for anchors, what is written of them, and what trains."""

from __future__ import annotations

from functools import reduce

import pandas as pd

from seedbed.blocks import Blocks
from seedbed.io import fingerprint

SENTENCES = 20_000
"""Sentences of each of two languages that tell them apart; more change nothing."""


def sentences(corpus: Blocks) -> pd.DataFrame:
    """The sentences of a corpus that its language is told by; of what this gives, the same."""
    first = subset(next(corpus := iter(corpus)), SENTENCES)
    return reduce(lambda kept, block: subset(pd.concat([kept, block], ignore_index=True), SENTENCES), corpus, first)


def subset(table: pd.DataFrame, rows: int | None) -> pd.DataFrame:
    """At most `rows` rows of a table, those whose ids have the least hashes, in the table's order.

    A corpus may be sorted by its texts, so that its first rows are no sample. A row's place in the draw depends on its
    id alone: those of a smaller number are among those of a larger one, and so are the rows that an audit leaves.

    Args:
        rows: None: all.
    """
    if rows is None or rows >= len(table):
        return table
    places = table["id"].map(place_of)
    return table.loc[places.nsmallest(rows).index.sort_values()]


def place_of(row: str) -> int:
    """The place of a row's id in every draw, from 0 to below 2^60."""
    return int(fingerprint(row)[:15], 16)

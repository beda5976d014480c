"""Pairs of consecutive sentences of documents."""

from collections import Counter

import pandas as pd

from seedbed.blocks import Blocks
from seedbed.corpora.read.columns import FILE, column_of, origin_of
from seedbed.corpora.settings import Source
from seedbed.io import UserError


def by_file(blocks: Blocks, source: Source, file: str) -> Blocks:
    """The rows of one of a source's files or sets, with its name in column FILE if it is a document of `followed`."""
    if not source.following or source.following.within or source.explode:
        return blocks
    return (block.assign(**{FILE: file}) for block in blocks)


def followed(blocks: Blocks, source: Source, counts: Counter[str]) -> Blocks:
    """Add columns from the next row of the same document, as `source.following` says.

    Args:
        blocks: rows; documents may continue from one block to the next.
        counts: last rows of documents, which are dropped, are added here.

    Raises:
        UserError: a column is missing, or would be overwritten.
    """
    if not (how := source.following):
        return blocks

    def pairs() -> Blocks:
        last: pd.DataFrame | None = None
        place = 0  # of the last row within its document
        for block in blocks:
            if clash := sorted({*how.columns} & {*block}):
                raise UserError(f"{origin_of(source)}: following: there is a column {clash[0]!r}; give another name")
            rows = block if last is None else pd.concat([last, block], ignore_index=True)
            documents = _documents(rows, source)
            goes_on = (documents == documents.shift(-1)).to_numpy()
            added = {new: column_of(rows, old, source).shift(-1) for new, old in how.columns.items()}
            counts["last of a document"] += int((~goes_on[:-1]).sum())
            last = rows[-1:]
            runs = (documents != documents.shift()).cumsum()
            places = rows.groupby(runs.to_numpy()).cumcount().to_numpy() + place * (runs == 1).to_numpy()
            place = int(places[-1]) if len(places) else place
            found = rows.assign(**added)[goes_on & (places % 2 == 0) if how.disjoint else goes_on]
            yield found.drop(columns=FILE, errors="ignore")
        counts["last of a document"] += 0 if last is None else len(last)

    return pairs()


def _documents(rows: pd.DataFrame, source: Source) -> pd.Series:
    """Which document each row is of."""
    if source.following.within:
        return column_of(rows, source.following.within, source)
    if source.explode:
        return rows["id"].str.replace(r"\.[0-9]+$", "", regex=True)
    return rows[FILE] if FILE in rows.columns else pd.Series("", index=rows.index)

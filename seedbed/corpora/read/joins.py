"""Joining two readings of a source, by ids or by columns."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pandas as pd

from seedbed.blocks import Blocks, Lookup, Seen, peek
from seedbed.corpora.read.columns import column_of, origin_of
from seedbed.corpora.settings import Join, Source
from seedbed.io import UserError


def joined(blocks: Blocks, other: Blocks, column: str, source: Source, counts: Counter[str]) -> Blocks:
    """Add the columns of one entry of `source.join`, from the first matching row of the other reading.

    Args:
        other: the other reading, of the source that `source.joined` gives; all of it is read at once.
        column: the entry's name.
        counts: rows without a match are added here.

    Raises:
        UserError: a column to match by is missing, an added column exists already, or rows that are matched by position
            differ in number.
    """
    changes, matching = source.joined(column)
    ours, theirs = (list(matching.by), list(matching.by.values())) if matching.by else (["id"], ["id"])
    mine, its = _Placed(), _Placed()
    first, other = peek(other)
    other = (pd.DataFrame({name: column_of(block, name, changes) for name in first}) for block in other)
    table = Lookup(its.watched(other), lambda block: _keys(block, theirs, source))
    names = [name for name in table.columns if name not in ("id", *theirs)] if matching.by else [table.columns[1]]
    added = names if matching.by else [column]

    def matched() -> Blocks:
        first, rows = peek(blocks)
        if clash := sorted({*added} & {*first}):
            raise UserError(f"{origin_of(source)}: two columns {clash[0]!r} after the join; map one under another name")
        places, asked = [table.columns.index(name) for name in names], Seen()
        for block in mine.watched(rows):
            keys = _keys(block, ours, source)
            found = table.find(keys)
            if matching.keep == "all":
                asked.new(keys)
            # As an array: of a block without rows a list would choose columns.
            matches = block[np.array([row is not None for row in found], dtype=bool)]
            counts["without a match"] += len(block) - len(matches)
            values = [[row[place] for place in places] for row in found if row is not None]
            yield pd.concat([matches, pd.DataFrame(values, columns=added, index=matches.index, dtype=str)], axis=1)
        # One that is missing would shift all after it.
        if not matching.by and mine.are and its.are and mine.rows != its.rows:
            raise UserError(
                f"{origin_of(source)} has {mine.rows} rows and {origin_of(changes)} {its.rows}; rows that are matched "
                "by their places must be as many, or have ids"
            )
        if matching.keep == "all":
            yield from _others(table, asked, matching, [*first.columns, *added], source, counts)

    return matched()


class _Placed:
    """Whether rows have their places for ids, as those have whose file has none."""

    def __init__(self) -> None:
        self.rows, self.are = 0, True

    def watched(self, blocks: Blocks) -> Blocks:
        """The same blocks."""
        for block in blocks:
            places = range(self.rows + 1, self.rows + len(block) + 1)
            self.are = self.are and list(block["id"]) == list(map(str, places))
            self.rows += len(block)
            yield block


def _keys(block: pd.DataFrame, names: Sequence[str], source: Source) -> list[str]:
    """What rows are matched by."""
    return [repr(cells) for cells in zip(*(column_of(block, name, source) for name in names), strict=True)]


def _others(
    table: Lookup, asked: Seen, matching: Join, columns: list[str], source: Source, counts: Counter[str]
) -> Blocks:
    """The rows of the other table that match none of ours, with `+` and their id; our columns are empty."""
    keys = {theirs: ours for ours, theirs in matching.by.items() if ours != "id"}
    for block in table.blocks():
        new = asked.new(_keys(block, list(matching.by.values()), source))
        more = block[new].assign(id="+" + block["id"][new])
        more = more.assign(**{ours: block[theirs][new] for theirs, ours in keys.items()})
        counts["read"] += len(more)
        yield more.reindex(columns=columns, fill_value="")

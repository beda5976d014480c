"""Two readings of a source become one: rows that are matched by their ids, or by columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pandas as pd

from seedbed.blocks import Blocks, Lookup, Seen, peeked
from seedbed.corpora.columns import column_of, origin_of
from seedbed.corpora.settings import Join, Source
from seedbed.io import UserError


def joined(
    blocks: Blocks, other: Blocks, column: str, how: tuple[Source, Join], source: Source, counts: Counter[str]
) -> Blocks:
    """The rows with what one entry of `source.join` adds.

    Args:
        other: the other reading, all of which is read at once.
        how: `source.joined(column)`.

    Raises:
        UserError: a column that rows are matched by is not there, or one that is added is there already; or rows that
            are matched by their places are not as many.
    """
    changes, matching = how
    placed = _Placed()
    if matching.by:
        ours, theirs = list(matching.by), list(matching.by.values())
        table = Lookup(other, lambda block: _keys(block, theirs, source))
        added = {name: name for name in table.columns if name not in ("id", *theirs)}
    else:
        ours = ["id"]
        table = Lookup(placed.watched(other), lambda block: _keys(block, ["id"], source))
        added = {table.columns[1]: column}
    return _matched(blocks, table, placed, ours, added, (source, changes, matching), counts)


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


def _matched(
    blocks: Blocks,
    table: Lookup,
    theirs: _Placed,
    ours: list[str],
    added: dict[str, str],
    settings: tuple[Source, Source, Join],
    counts: Counter[str],
) -> Blocks:
    """The rows that a row of the other table matches, with columns of the first that does."""
    source, changes, matching = settings
    first, blocks = peeked(blocks)
    if clash := sorted(set(added.values()) & set(first)):
        raise UserError(f"{origin_of(source)}: two columns {clash[0]!r} after the join; map one under another name")
    places, asked = [table.columns.index(name) for name in added], Seen()
    mine = _Placed()
    for block in mine.watched(blocks):
        keys = _keys(block, ours, source)
        found = table.find(keys)
        if matching.keep == "all":
            asked.new(keys)
        matches = block[[row is not None for row in found]]
        counts["without a match"] += len(block) - len(matches)
        values = [[row[place] for place in places] for row in found if row is not None]
        columns = pd.DataFrame(values, columns=list(added.values()), index=matches.index, dtype=str)
        yield pd.concat([matches, columns], axis=1)
    if not matching.by:
        _require_aligned(mine, theirs, source, changes)
    if matching.keep == "all":
        yield from _others(table, asked, matching, [*first.columns, *added.values()], source, counts)


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


def _require_aligned(ours: _Placed, theirs: _Placed, source: Source, changes: Source) -> None:
    """Rows that have their places for ids must be as many: one that is missing would shift all after it."""
    if ours.are and theirs.are and ours.rows != theirs.rows:
        raise UserError(
            f"{origin_of(source)} has {ours.rows} rows and {origin_of(changes)} {theirs.rows}; rows that are matched "
            "by their places must be as many, or have ids"
        )

"""The columns of a source's files become ours: named, divided, rewritten, split into buckets."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from typing import Any

import pandas as pd

from seedbed.blocks import Blocks, together
from seedbed.corpora.settings import Source
from seedbed.io import UserError


def renamed(blocks: Blocks, source: Source, counts: Counter[str]) -> Blocks:
    """Divide cells, filter rows, rename columns to ours, and give rows without an id their number; all are counted."""
    if source.divide:  # quotes are literal if all cells have them
        blocks = iter([together(blocks)])
    before = 0
    for block in blocks:
        table = columns_of(block, source, before)
        before += len(table)
        counts["read"] += len(table)
        yield table


def columns_of(table: pd.DataFrame, source: Source, before: int) -> pd.DataFrame:
    """The rows of one block.

    Args:
        before: rows of the blocks before it.
    """
    table = table.reset_index(drop=True)
    for column, parts in source.divide.items():
        table = table.join(_divided(column_of(table, column, source), parts, source))
    for column, allowed in source.where.items():
        values = column_of(table, column, source)
        exact = values.isin(allowed)
        for prefix in (value[:-1] for value in allowed if value.endswith("*")):
            exact |= values.str.startswith(prefix)
        table = table[exact]
    if "id" not in table.columns and "id" not in source.columns:
        table = table.assign(id=[str(before + number) for number in range(1, len(table) + 1)])
    parts = {part: part for parts in source.divide.values() for part in parts}
    every = {name: name for name in table.columns if name != ""}  # spreadsheets leave columns without a name
    names = {"id": "id"} | (parts | source.columns if source.columns else every)
    chosen = {ours: column_of(table, theirs, source).to_numpy() for ours, theirs in names.items()}
    table = pd.DataFrame(chosen, dtype=str)
    return table[["id", *(name for name in table.columns if name != "id")]]


def _divided(cells: pd.Series, names: list[str], source: Source) -> pd.DataFrame:
    """The texts of each cell, a line break or tab apart, in columns of their own."""
    parts = cells.str.strip().str.split(r"\s*[\n\t]\s*", regex=True)
    if len(wrong := parts[parts.map(len) != len(names)]):
        raise UserError(
            f"{origin_of(source)}: row {wrong.index[0] + 1}, column {cells.name!r}: {len(wrong.iloc[0])} texts "
            f"a line break or tab apart; `divide` expects {len(names)} ({', '.join(names)})"
        )
    table = pd.DataFrame(parts.tolist(), index=cells.index, columns=names, dtype=str)
    quoted = table.apply(lambda texts: texts.str.fullmatch(r'".*"')).all(axis=None)
    return table.apply(lambda texts: texts.str[1:-1]) if quoted else table


def column_of(table: pd.DataFrame, name: str | int | list[str], source: Source) -> pd.Series:
    """A column, or several with blanks between.

    Raises:
        UserError: there is none of this name, or there are several.
    """
    if isinstance(name, list):
        return pd.concat([column_of(table, part, source) for part in name], axis=1).agg(" ".join, axis=1).str.strip()
    if name not in table.columns:
        one = f"a file of {source.member!r} has" if source.member else "it has"
        raise UserError(f"{origin_of(source)}: no column {name!r}; {one} {', '.join(map(str, table.columns))}")
    if isinstance(cells := table[name], pd.DataFrame):
        raise UserError(f"{origin_of(source)}: {cells.shape[1]} columns are called {name!r}; rename all but one")
    return cells.astype(str)


def replaced(cells: pd.Series, changes: dict[str, str]) -> pd.Series:
    """Cells with what each expression matches replaced, in the order of the expressions."""
    for expression, text in changes.items():
        cells = cells.map(lambda cell, found=re.compile(expression), text=text: found.sub(text, cell))
    return cells


def origin_of(source: Source) -> str:
    """What messages call a source."""
    return source.hub or source.file or source.archive or ", ".join(source.package or {})


def in_buckets(table: pd.DataFrame, source: Source) -> pd.DataFrame:
    """The rows of the source's buckets: by the pivot side, so that all translations of a sentence are in one split.

    Raises:
        UserError: there is no column but `id`.
    """
    first, last = source.buckets
    if (first, last) == (0, 100):
        return table
    if table.shape[1] < 2:
        raise UserError(f"{origin_of(source)}: no column but `id`, so nothing to split by `buckets:`")
    key = table["pivot"] if "pivot" in table.columns else table.iloc[:, 1]
    return table[key.map(bucket).between(first, last - 1)]


def bucket(text: str) -> int:
    """A number in 0..99 that depends on the words of a text alone."""
    words: Any = " ".join(text.casefold().split()).encode()
    return int(hashlib.sha256(words).hexdigest(), 16) % 100

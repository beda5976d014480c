"""From a source's columns to ours: renaming, dividing, rewriting, and splitting rows into buckets."""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator

import pandas as pd

from seedbed.blocks import Blocks, concatenate
from seedbed.corpora.changes import SCRIPTS
from seedbed.corpora.settings import SPLIT_BY, Source
from seedbed.io import UserError
from seedbed.urls import without_secrets

FILE = "\0file"
"""A column of a reading alone, which says of what file each row is; no file has one of this name."""


def renamed(blocks: Blocks, source: Source, counts: Counter[str]) -> Blocks:
    """Divide cells, filter rows and rename columns; rows without an id get their number.

    Args:
        blocks: rows with the source's columns.
        source: its settings `divide`, `where` and `columns` are used.
        counts: rows are added here as `read`; those of sets are read before, and no longer `skipped`.
    """
    if source.divide:  # quotes are literal if all cells have them
        blocks = iter([concatenate(blocks)])
    before = 0
    for block in blocks:
        table = _columns_of(block, source, before)
        before += len(table)
        if source.sets:
            counts["skipped"] -= len(table)
        else:
            counts["read"] += len(table)
        yield table


def _columns_of(table: pd.DataFrame, source: Source, before: int) -> pd.DataFrame:
    """The rows of one block with our columns; `before` rows are in earlier blocks."""
    table = table.reset_index(drop=True)
    for column, parts in source.divide.items():
        if clash := sorted({*parts} & {*table}):
            raise UserError(f"{origin_of(source)}: divide: there is a column {clash[0]!r}; give another name")
        table = table.join(_divided(column_of(table, column, source), parts, source))
    for column, allowed in source.where.items():
        values = column_of(table, column, source).str.normalize("NFC")
        exact = values.isin(allowed)
        for prefix in (value[:-1] for value in allowed if value.endswith("*")):
            exact |= values.str.startswith(prefix)
        table = table[exact]
    if "id" not in table.columns and "id" not in source.columns:
        table = table.assign(id=[str(before + number) for number in range(1, len(table) + 1)])
    parts = {part: part for parts in source.divide.values() for part in parts}
    every = {name: name for name in table.columns if name != ""}  # spreadsheets leave columns without a name
    names = {"id": "id"} | (parts | source.columns if source.columns else every)
    names |= {FILE: FILE} if FILE in table.columns else {}
    chosen = {ours: column_of(table, theirs, source).to_numpy() for ours, theirs in names.items()}
    return pd.DataFrame(chosen, dtype=str)


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
    """A column by name or position, or several joined by blanks.

    Raises:
        UserError: no such column, or several of this name.
    """
    if isinstance(name, list):
        first, *others = (column_of(table, part, source) for part in name)
        return first.str.cat(others, sep=" ").str.strip()
    if name not in table.columns:
        one = f"a file of {source.member!r} has" if source.member else "it has"
        names = ", ".join(str(column)[:80] for column in table.columns[:30] if column != FILE)
        more = ", ..." if len(table.columns) > 30 else ""
        raise UserError(f"{origin_of(source)}: no column {name!r}; {one} {names}{more}")
    if isinstance(cells := table[name], pd.DataFrame):
        raise UserError(f"{origin_of(source)}: {cells.shape[1]} columns are called {name!r}; rename all but one")
    return cells.astype(str)


def replaced(cells: pd.Series, changes: dict[str, str]) -> pd.Series:
    """Cells after replacing the matches of each regular expression, in order."""
    for expression, text in changes.items():
        cells = cells.map(lambda cell, found=re.compile(expression), text=text: found.sub(text, cell))
    return cells


def changed(table: pd.DataFrame, source: Source) -> pd.DataFrame:
    """Apply a source's `replace`, `transliterate` and `explode` to rows."""
    for column, changes in source.replace.items():
        table = table.assign(**{column: replaced(column_of(table, column, source), changes)})
    for column, scripts in source.transliterate.items():
        table = table.assign(**{column: transliterated(column_of(table, column, source), scripts)})
    for column, expression in source.explode.items():
        table = exploded(table, column, column_of(table, column, source), expression)
    return table


def transliterated(cells: pd.Series, scripts: str) -> pd.Series:
    """Cells in another script of their language; `scripts` is one of `changes.SCRIPTS`."""
    from umsc import UgMultiScriptConverter

    return cells.map(UgMultiScriptConverter(*SCRIPTS[scripts]))


def exploded(table: pd.DataFrame, column: str, cells: pd.Series, expression: str) -> pd.DataFrame:
    """Split cells at the matches of a regular expression: one row for each part that is not blank, with its number
    after the id.
    """
    parts = [[part for part in _between(expression, cell) if part.strip()] for cell in cells]
    rows = table.iloc[[row for row, found in enumerate(parts) for _ in found]].reset_index(drop=True)
    numbers = [str(number) for found in parts for number in range(1, len(found) + 1)]
    ids = pd.Series([f"{row}.{number}" for row, number in zip(rows["id"], numbers, strict=True)], dtype=str)
    texts = pd.Series([part for found in parts for part in found], dtype=str)
    return rows.assign(**{"id": ids, column: texts})


def _between(expression: str, text: str) -> Iterator[str]:
    """The parts of a text between the matches; `re.split` would take the expression's groups for parts too."""
    end = 0
    for found in re.finditer(expression, text):
        yield text[end : found.start()]
        end = found.end()
    yield text[end:]


def origin_of(source: Source) -> str:
    """The name of a source in messages."""
    if source.sets:
        return ", ".join(map(origin_of, source.sets.values()))
    return source.hub or source.file or without_secrets(source.archive or "") or ", ".join(source.package or {})


def in_buckets(table: pd.DataFrame, source: Source) -> pd.DataFrame:
    """The rows in a source's `buckets`.

    The text in column `buckets_by` decides; without this setting, the first text of SPLIT_BY that is not blank. The
    pivot text comes first, so that all translations of a sentence are in one split.

    Raises:
        UserError: no such column, or no column but `id`.
    """
    first, last = source.buckets
    if (first, last) == (0, 100):
        return table
    if source.buckets_by:
        return table[column_of(table, source.buckets_by, source).map(bucket).between(first, last - 1)]
    if table.shape[1] < 2:
        raise UserError(f"{origin_of(source)}: no column but `id`, so nothing to split by `buckets:`")
    names = [name for name in SPLIT_BY if name in table.columns] or [table.columns[1]]
    key = table[names[0]]
    for name in names[1:]:
        key = key.where(key != "", table[name])
    return table[key.map(bucket).between(first, last - 1)]


def bucket(text: str) -> int:
    """A number in 0..99 of a text, in which case, blanks and the Unicode form do not count; punctuation does."""
    text = unicodedata.normalize("NFC", text)
    return int(hashlib.sha256(" ".join(text.casefold().split()).encode()).hexdigest(), 16) % 100

"""Tables that a user has in addition to a text: pairs, triplets, translations, a test set."""

import codecs
import csv
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd

from seedbed import settings
from seedbed.corpora.read.columns import in_buckets
from seedbed.corpora.read.forms import parse, text_of
from seedbed.corpora.settings import ENDINGS, Source
from seedbed.corpora.shape.clean import comparable
from seedbed.init.encodings import require_utf8
from seedbed.io import UserError

COLUMNS = {
    "pairs": ["anchor", "positive"],
    "triplets": ["anchor", "positive", "negative"],
    "parallel": ["text", "pivot"],
    "test": ["sentence1", "sentence2", "score"],
}
"""Type of a user's table -> its columns."""
OWN = {"pairs": ["anchor"], "triplets": ["anchor"], "parallel": ["text"], "test": ["sentence1", "sentence2"]}
"""Type of a table -> its columns that are in the text's language."""
ENDS = (1, 4, 5, 10, 100)
"""Where usual scales of graded pairs end."""
SHOWN = 30
"""Characters of a column's name, or of a cell, in a message."""
DIVIDED = {"csv": (",", "commas"), "tsv": ("\t", "tabs")}
"""Form -> what divides the cells of a row, and how that is called."""
OTHERS = ",;|\t"
"""What divides them in files of other names."""
EXCEL = "sep="
"""What Excel may write before the header."""
QUOTED = r'"(?:[^"]|"")*"'
"""A cell as spreadsheets and pandas quote it."""
HALVES = ((0, 50), (50, 100))
"""Buckets of a test set: those that choose, those that report."""
HALVED_BY = "sentence1"
"""The column of graded pairs that says the bucket: the first column of a file may be the score."""


def form_of(path: Path) -> str:
    """The form of a file as its name says it, one of the values of ENDINGS; empty: its name does not say it."""
    return ENDINGS.get(path.suffix.removeprefix(".").lower(), "")


def is_table(path: Path) -> bool:
    """Whether a file's name says that it is a table, and no text."""
    return form_of(path) not in ("", "text")


def read(path: Path, columns: list[str]) -> pd.DataFrame:
    """Read a whole table that has the given columns.

    Raises:
        UserError: no such file, no table, no row, in another encoding or form or divided by other marks than its name
            says, a column is missing or occurs twice, a row has no id or that of another, a quotation in a CSV does not
            end with its cell, or a TSV is quoted.
    """
    require_file(path, f"a table with the columns {', '.join(columns)}")
    if not is_table(path):
        raise UserError(f"{path}: expected .tsv, .csv, .jsonl or .parquet, with the columns {', '.join(columns)}")
    _require_written(path)
    table = pd.concat([pd.DataFrame(), *parse(str(path), path.open("rb"), Source(file=str(path)))], ignore_index=True)
    if missing := [name for name in columns if name not in table.columns]:
        raise UserError(
            f"{path}: no column {missing[0]!r}; its columns are {_brief(table.columns)}; expected "
            f"{', '.join(columns)}, named in its first line"
        )
    if twice := [name for name in (*columns, "id") if (table.columns == name).sum() > 1]:
        raise UserError(f"{path}: several columns are called {twice[0]!r}; rename all but one")
    if table.empty:
        raise UserError(f"{path}: no row in it; expected one at least, with {', '.join(columns)}")
    if "id" in table.columns:
        _require_ids(path, table["id"].fillna(""))
    if form_of(path) == "tsv":
        _require_unquoted(path, table[columns])
    return table


def _require_ids(path: Path, ids: pd.Series) -> None:
    """Require that every row has an id of its own, as a run does: blanks around it are no part of it."""
    own = ids.str.strip()
    if (blank := own == "").any():
        raise UserError(f"{path}: row {first(blank)} has no id; give every row one, or leave the column out")
    if (twice := own.duplicated()).any():
        raise UserError(
            f"{path}: id {ids[twice].iloc[0]!r} appears in several rows; make ids unique, or leave the column out"
        )


def _require_unquoted(path: Path, table: pd.DataFrame) -> None:
    """Require that the quotation marks of a TSV are its texts': a run reads them so, and doubled ones too."""
    cells = table[table.apply(lambda texts: texts.str.contains('"', regex=False))].stack().dropna()
    doubled = cells[cells.str.contains('""', regex=False)]
    if len(doubled) and cells.str.fullmatch(QUOTED).all():
        raise UserError(
            f"{path}: row {doubled.index[0][0] + 1}: its cells are quoted, like {doubled.iloc[0][:SHOWN]!r}, which a "
            ".tsv does not undo; save it with commas, as .csv"
        )


def require_file(path: Path, expected: str) -> None:
    """Require that a path leads to a file, not to a pipe, which could block and can be read only once.

    Args:
        expected: what the file should be, for the message.

    Raises:
        UserError: it is no file.
    """
    if not path.is_file():
        what = "a folder" if path.is_dir() else "a pipe or a device, no file" if path.exists() else "no such file"
        raise UserError(f"{path}: {what}; expected {expected}")


def _require_written(path: Path) -> None:
    """Require that a table that is a text is in UTF-8, and written as its name says."""
    form = form_of(path)
    if form in ("parquet", "gettext"):
        return
    require_utf8(path)
    with path.open("rb") as stream:
        head = next((line for line in stream if line.strip(codecs.BOM_UTF8 + b" \t\r\n")), b"")
    begin = head.decode("utf-8-sig", "replace").strip()
    if not begin:
        raise UserError(f"{path}: empty; expected a table with the names of its columns")
    if form == "jsonl" and begin.startswith("["):
        raise UserError(f"{path}: begins as one list of JSON; name it .json, or write each row as {{...}} on a line")
    if form == "json" and begin.startswith("{"):
        raise UserError(
            f"{path}: begins with an object, not with a list of them; if it has one on each line, name it .jsonl"
        )
    if form in DIVIDED:
        _require_divided(path, form, begin)
    if form == "csv":
        _require_closed(path)


def _require_divided(path: Path, form: str, head: str) -> None:
    """Require that the cells of a header are divided by what the file's name says."""
    mark, called = DIVIDED[form]
    if head.startswith(EXCEL):
        raise UserError(f"{path}: its first line is {head!r}, by which Excel knows what divides cells; take it out")
    if mark not in head and (other := next((one for one in OTHERS if one in head), "")):
        ending = next((ending for ending, (own, _) in DIVIDED.items() if own == other), "")
        remedy = f"name it .{ending}" if ending else f"save it with {called}"
        raise UserError(f"{path}: its columns are divided by {other!r}, not by {called}; {remedy}")


def _require_closed(path: Path) -> None:
    """Require that each quotation of a CSV ends with its cell: else a run reads the rows after it as a part of it."""
    with path.open("rb") as stream:
        rows, before = csv.reader(_lines(stream, path), strict=True), 0
        try:
            for _ in rows:
                before = rows.line_num
        except csv.Error as error:
            raise UserError(
                f"{path}: the row that begins in line {before + 1} has a quotation that does not end with its cell "
                f"({error}); close it there, and double quotation marks within it"
            ) from None


def _lines(stream: BinaryIO, path: Path) -> Iterator[str]:
    for part in text_of(stream, str(path)):
        yield from part.replace("\r", "\n").removesuffix("\n").split("\n")


def _brief(names: Iterable[Any]) -> str:
    """The first names of columns, or what stands in their place: of a long one its beginning."""
    names = list(names)
    shown = [repr(name if len(str(name)) <= SHOWN else f"{str(name)[:SHOWN]} ...") for name in names[: settings.SHOWN]]
    return ", ".join([*shown, "..."] if len(names) > settings.SHOWN else shown)


def halves_of(file: Path, table: pd.DataFrame) -> list[pd.DataFrame]:
    """The graded pairs that choose, and those that report: `id`, `sentence1` and `score`.

    Raises:
        UserError: a cell is blank, a pair is there twice, most pairs are a sentence and itself, a score is no finite
            number, or a half has too few pairs or one score alone.
    """
    pairs = table[["sentence1", "sentence2"]].fillna("").map(comparable)
    if (blank := (pairs == "").any(axis=1)).any():
        raise UserError(f"{file}: row {first(blank)} lacks a sentence; fill it in, or take the row out")
    if (twice := pairs.duplicated()).any():
        row = first(twice)
        before = first((pairs == pairs.iloc[row - 1]).all(axis=1))
        raise UserError(
            f"{file}: row {row} has the sentences of row {before}, and {twice.sum()} of {len(pairs)} rows repeat one "
            "before them; keep one of each"
        )
    require_unlike(file, pairs["sentence1"] == pairs["sentence2"], "sentence2 is sentence1", "pairs of two sentences")
    scores = pd.to_numeric(table["score"], errors="coerce").astype(float)
    if not (known := np.isfinite(scores)).all():
        row = first(~known)
        given = str(table["score"].iloc[row - 1])[:SHOWN]
        raise UserError(f"{file}: row {row}: the score {given!r} is no number; expected one like 0.5")
    graded = pd.DataFrame({"id": table.index, "sentence1": table["sentence1"], "score": scores})
    halves = [in_buckets(graded, Source(file=str(file), buckets=rows, buckets_by=HALVED_BY)) for rows in HALVES]
    for half, use in zip(halves, ("chooses", "reports"), strict=True):
        if half["score"].nunique() < 2:
            raise UserError(
                f"{file}: the half of its {len(table)} pairs that {use} has not two different scores; give more pairs, "
                "alike and unlike"
            )
    return halves


def require_unlike(file: Path, equal: pd.Series, what: str, right: str) -> None:
    """Require that two columns differ in most rows.

    Args:
        equal: booleans, the rows in which they do not.
        what: how the columns are equal, for the message.
        right: what to give instead, for the message.

    Raises:
        UserError: they are equal in more than half of the rows.
    """
    if equal.mean() > 1 / 2:
        raise UserError(
            f"{file}: row {first(equal)}: {what} again, as in {equal.sum()} of {len(equal)} rows; give {right}"
        )


def scale_of(scores: pd.Series) -> tuple[float, float]:
    """The scale of graded pairs: from 0 or the least score to the first of ENDS that is not exceeded."""
    most = float(scores.max())
    return min(0.0, float(scores.min())), next((float(end) for end in ENDS if most <= end), most)


def first(wrong: pd.Series) -> int:
    """The number, from 1, of the first row that is true; at least one row must be."""
    return int(wrong.to_numpy().argmax()) + 1

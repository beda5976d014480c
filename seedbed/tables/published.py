"""The papers' own numbers, which are printed next to ours."""

import csv
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from seedbed.io import UserError
from seedbed.names import languages_of
from seedbed.settings import suggest
from seedbed.tables.specs import Column, Paper

AVERAGE = "avg"
"""The language code of averages over languages, in the papers' CSVs and in ours."""
KEY = ("slug", "backbone", "language", "task", "metric")
"""Columns that identify a number."""
COLUMNS = ("system", *KEY, "value", "std", "note")
NAME = "|"
"""Separator of these columns in a name."""


@dataclass(frozen=True)
class Printed:
    """A number as the paper prints it, in points."""

    system: str
    """The row's name in the paper."""
    value: float
    sd: float
    """Standard deviation over seeds; NaN: not printed."""
    note: str


class Published:
    """The numbers of one CSV with the COLUMNS; without a paper there are none.

    Raises:
        UserError: no such file, not CSV in UTF-8, a missing column or slug, a repeated number, or one that is none.
    """

    def __init__(self, paper: Paper | None, folder: Path) -> None:
        self.paper = paper
        self.cells: dict[tuple[str, ...], Printed] = {}
        for line, row in _records(folder / paper.csv) if paper else ():
            key = tuple(row[name] for name in KEY)
            if key in self.cells:
                raise UserError(f"{folder / paper.csv}: {', '.join(key)} appears twice; give each number once")
            notes = [part for part in row["note"].split(";") if part and part not in paper.skip_notes]
            if row["value"]:
                value, sd = (_number(row, name, f"{folder / paper.csv}: line {line}") for name in ("value", "std"))
                self.cells[key] = Printed(row["system"], value, sd, "; ".join(notes))
        slugs = {key[0] for key in self.cells}
        if paper and (lost := sorted(set(paper.slugs.values()) - slugs)):
            raise UserError(f"{folder / paper.csv}: no slug {lost[0]!r}; {suggest(lost[0], sorted(slugs))}")

    def cell(self, column: Column, recipe: str, backbone: str, language: str) -> Printed | None:
        """The number of a recipe, backbone (by the paper's name), language and column; None if the paper has none."""
        return self.cells.get(self.key(column, recipe, backbone, language)) if self.paper else None

    def key(self, column: Column, recipe: str, backbone: str, language: str) -> tuple[str, ...]:
        """The KEY of a number, whether the paper has it or not."""
        slug, named = self.paper.slugs.get(recipe, recipe), self.paper.backbones
        backbone = backbone if named is None else named.get(recipe, "")
        printed = ["-".join(reversed(languages_of(language))), language]  # papers name a pair in any order
        found = [(slug, backbone, one, column.paper_task, column.metric) for one in printed]
        return next((key for key in found if key in self.cells), found[-1])

    def average(
        self, column: Column, recipe: str, backbone: str, averaged: Sequence[tuple[str, str]]
    ) -> Printed | None:
        """The paper's average if it is over exactly these cells; else the mean of its numbers if it has all of them;
        else None.

        If the paper prints averages only, its average over whatever cells.

        Args:
            backbone: the paper's name of the backbone; AVERAGE for an average over backbones.
            averaged: what is averaged: (the paper's name of the backbone, language).
        """
        if not self.paper:
            return None
        printed = self.cell(column, recipe, backbone, AVERAGE)
        known = self._averaged(column, recipe, backbone)
        if not known:
            return printed
        ours = Counter(self.key(column, recipe, *each) for each in averaged)
        if not ours.keys() <= known:
            return None
        if printed and ours.keys() == known and len({*ours.values()}) == 1:
            return printed
        mean = math.fsum(self.cells[key].value for key in ours.elements()) / ours.total()
        return Printed(
            "", mean, math.nan, f"mean of the paper's {_cells_in_words(averaged, named=backbone == AVERAGE)}"
        )

    def _averaged(self, column: Column, recipe: str, backbone: str) -> set[tuple[str, ...]]:
        """The cells that the paper averages over; for AVERAGE those of all its backbones."""
        slug, encoder, _, *measured = self.key(column, recipe, backbone, AVERAGE)
        own = {key for key in self.cells if key[0] == slug and [*key[3:]] == measured and key[2] != AVERAGE}
        return {key for key in own if key[1] == encoder or (encoder == AVERAGE and key[1] != AVERAGE)}


def _cells_in_words(averaged: Sequence[tuple[str, str]], *, named: bool) -> str:
    """`XLM-R, mmBERT, hau, ind`; where backbones have unequal languages, `XLM-R (hau, ind), mmBERT (hau)`.

    Args:
        averaged: (backbone, language).
        named: whether backbones are named too.
    """
    languages: dict[str, list[str]] = {}
    for backbone, language in averaged:
        languages.setdefault(backbone, []).append(language)
    first, *others = languages.values()
    if all({*each} == {*first} for each in others):
        return ", ".join([*(languages if named else ()), *dict.fromkeys(first)])
    return ", ".join(f"{backbone} ({', '.join(dict.fromkeys(each))})" for backbone, each in languages.items())


def _number(row: dict[str, str], column: str, where: str) -> float:
    """The number in a cell; NaN where it is empty."""
    text = row[column]
    try:
        number = float(text or "nan")
    except ValueError:
        number = math.nan
    if text and not math.isfinite(number):
        raise UserError(f"{where}: {column} is {text!r}, no number; correct it, or leave it empty")
    return number


def _records(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """The number of the line that each row of the paper's CSV ends in, and the row."""
    if not path.is_file():
        raise UserError(f"{path}: no such file; expected the paper's numbers as CSV")
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            rows = csv.DictReader(stream, strict=True)
            if missing := [name for name in COLUMNS if name not in (rows.fieldnames or ())]:
                has = ", ".join(rows.fieldnames or ()) or "nothing"
                raise UserError(f"{path}: no column {missing[0]!r}; it has {has}")
            for row in rows:
                if None in row or None in row.values():
                    line, count = rows.line_num, len(rows.fieldnames)
                    raise UserError(
                        f"{path}: line {line}: not the {count} fields of the header; quote texts with commas"
                    )
                yield rows.line_num, row
    except UnicodeDecodeError:
        raise UserError(f"{path}: not UTF-8; convert it") from None
    except csv.Error as error:
        raise UserError(f"{path}: not CSV ({error}); expected the paper's numbers, each quote closed") from None

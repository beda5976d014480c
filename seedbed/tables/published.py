"""The papers' own numbers, which are printed next to ours."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from seedbed.io import UserError
from seedbed.names import languages_of
from seedbed.settings import suggest
from seedbed.tables.specs import Column, Paper

AVERAGE = "avg"
"""The language code of averages over languages, in the papers' CSVs and in ours."""
KEY = ("slug", "backbone", "language", "task", "metric")
"""Columns that identify a number."""
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
    """The numbers of one CSV with the columns system, slug, backbone, language, task, metric, value, std, note.

    Args:
        paper: the CSV and how to look numbers up in it; None: no numbers.
        folder: the folder of CSVs.

    Raises:
        UserError: no such file, a missing column or slug, or a repeated number.
    """

    def __init__(self, paper: Paper | None, folder: Path) -> None:
        """Read the paper's CSV."""
        self.paper = paper
        self.cells: dict[tuple[str, ...], Printed] = {}
        for row in _records(folder / paper.csv) if paper else []:
            key = tuple(row[name] for name in KEY)
            if key in self.cells:
                raise UserError(f"{folder / paper.csv}: {', '.join(key)} appears twice; give each number once")
            notes = [part for part in row["note"].split(";") if part and part not in paper.skip_notes]
            if row["value"]:
                value, sd = float(row["value"]), float(row["std"] or "nan")
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
            column: the column.
            recipe: the recipe.
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


def _records(path: Path) -> list[dict[str, str]]:
    if not path.is_file():
        raise UserError(f"{path}: no such file; expected the paper's numbers as CSV")
    # Everything as text: `nan` is a language (Min Nan Chinese), and an empty cell a number that the text lost.
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    if missing := [name for name in ("system", *KEY, "value", "std", "note") if name not in table.columns]:
        raise UserError(f"{path}: no column {missing[0]!r}; it has {', '.join(table.columns)}")
    return table.to_dict("records")

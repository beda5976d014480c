"""A paper's own numbers, to be printed beside ours."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from seedbed.io import UserError
from seedbed.tables.specs import Paper

AVERAGE = "avg"
"""The language of averages over languages, in the papers' CSVs and in ours."""


@dataclass(frozen=True)
class Printed:
    """A number as the paper prints it, in points."""

    value: float
    sd: float
    """Over its seeds; NaN: not printed."""
    note: str


class Published:
    """The numbers of one CSV: system, slug, backbone, language, task, metric, value, std, note."""

    def __init__(self, paper: Paper | None, folder: Path) -> None:
        """Read the paper's CSV; without a paper there is no number.

        Raises:
            UserError: no such file, or it lacks a column.
        """
        self.keys = paper.keys if paper else {}
        self.cells: dict[tuple[str, ...], Printed] = {}
        for row in _records(folder / paper.csv, [*paper.keys, "value", "std", "note"]) if paper else []:
            notes = [part for part in row["note"].split(";") if part and part not in paper.skip_notes]
            if row["value"]:
                printed = Printed(float(row["value"]), float(row["std"] or "nan"), "; ".join(notes))
                self.cells[tuple(row[key] for key in self.keys)] = printed

    def cell(self, **facts: str) -> Printed | None:
        """The number of a recipe, backbone, language, task and metric, if the paper has it."""
        return self.cells.get(tuple(facts[fact] for fact in self.keys.values()))

    def average(self, languages: Iterable[str], **facts: str) -> Printed | None:
        """The printed average if it is over these languages, else the mean of their numbers, if all are there."""
        ours = {language: self.cell(language=language, **facts) for language in languages}
        if None in ours.values():
            return None
        if set(ours) == self._languages(**facts):
            return self.cell(language=AVERAGE, **facts)
        mean = sum(printed.value for printed in ours.values()) / len(ours)
        return Printed(mean, math.nan, f"mean of the paper's {', '.join(ours)}")

    def _languages(self, **facts: str) -> set[str]:
        """Languages that the paper averages over."""
        place = list(self.keys.values()).index("language")
        known = {key[place] for key in self.cells} - {AVERAGE}
        return {language for language in known if self.cell(language=language, **facts)}


def _records(path: Path, columns: list[str]) -> list[dict[str, str]]:
    if not path.is_file():
        raise UserError(f"{path}: no such file; expected the paper's numbers as CSV")
    # Everything as text: `nan` is a language (Min Nan Chinese), and an empty cell a number that the text lost.
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    if missing := [name for name in columns if name not in table.columns]:
        raise UserError(f"{path}: no column {missing[0]!r}; it has {', '.join(table.columns)}")
    return table.to_dict("records")

"""Comparing a run's numbers with a study's published ones, each within its tolerance."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from pydantic import NonNegativeFloat

from seedbed.io import UserError, atomic
from seedbed.settings import Settings
from seedbed.tables import tabulate
from seedbed.tables.best import read_best
from seedbed.tables.specs import Spec

ROW = ["backbone", "column", "recipe", "language"]
"""Columns that identify a row of a table."""
NUMBERS = "numbers:"
"""Line of a reference file below which everything is generated."""


class Number(Settings):
    """A number of a table as it is printed."""

    value: float | None = None
    """The number."""
    low: float | None = None
    """Lower end of its interval."""
    high: float | None = None
    """Upper end of its interval."""
    n: int | None = None
    """Number of test items, which must be equal."""


Numbers = dict[str, dict[str, dict[str, dict[str, dict[str, Number]]]]]
"""Table -> backbone -> column -> recipe -> language -> number."""


class Reference(Spec):
    """The numbers of a finished run, and by how much another run may differ."""

    command: str
    """The command that makes the numbers."""
    tolerances: dict[str, NonNegativeFloat]
    """Recipe -> points by which the same code may differ on another machine."""
    numbers: Numbers
    """By table, backbone, column, recipe and language."""
    best: dict[str, dict[str, Any]] = {}
    """Folder -> what `choose_best` reported about its encoder; docs/getting-started.md prints it."""


def compared(reference: Reference, tables: Mapping[str, Path], *, exact: bool = False) -> pd.DataFrame:
    """All numbers of a reference with those of a run: their place, `expected`, `found` and `tolerance`.

    Rows that the reference lacks are left out; a number that the run lacks is empty.

    Args:
        tables: name -> CSV of the run.
        exact: without tolerance, as on the machine that made the reference.

    Raises:
        UserError: a recipe without tolerance, or a table that is missing or cannot be read.
    """
    rows = []
    for name, numbers in reference.numbers.items():
        if name not in tables:
            raise UserError(f"table {name}: not among {', '.join(tables)}; the reference has numbers of it")
        table = tabulate.read(tables[name]).set_index(ROW)
        for place, number in _cells(numbers):
            if place[2] not in reference.tolerances:
                raise UserError(f"tolerances: none for recipe {place[2]!r}; say how far a run may be from its numbers")
            for what, expected in number.model_dump(exclude_none=True).items():
                found = table.loc[place, what] if place in table.index else float("nan")
                tolerance = 0.0 if exact or what == "n" else reference.tolerances[place[2]]
                rows.append([name, *place, what, expected, found, tolerance])
    return pd.DataFrame(rows, columns=["table", *ROW, "number", "expected", "found", "tolerance"])


def differing(numbers: pd.DataFrame) -> list[str]:
    """A line for each number that is missing or outside its tolerance."""
    distance = (numbers["found"] - numbers["expected"]).abs().round(6)
    return [_line(row) for row in numbers[~(distance <= numbers["tolerance"])].itertuples()]


def otherwise_chosen(reference: Reference, best: Sequence[Path]) -> list[str]:
    """A line for each best encoder of another recipe or backbone than in the reference.

    Args:
        best: folders of the run's best encoders.

    Raises:
        UserError: a manifest of an encoder that was not chosen.
    """
    found = {str(folder): _encoder(read_best(folder)) for folder in best}
    expected = {folder: _encoder(chosen) for folder, chosen in reference.best.items()}
    return [
        f"{folder}: {found.get(folder, 'missing')}, expected {one}"
        for folder, one in expected.items()
        if found.get(folder) != one
    ]


def _encoder(chosen: Mapping[str, Any]) -> str:
    return f"{chosen['recipe']} of {chosen['backbone']}"


def _line(row: Any) -> str:
    """A line of the report: where a number is, its value, and the expected one."""
    found = "missing" if pd.isna(row.found) else f"{row.found:g}"
    within = f" within {row.tolerance:g}" if row.tolerance else ""
    place = f"{row.table}, {row.column}, {row.backbone}, {row.recipe}, {row.language}"
    return f"{place}: {row.number} is {found}, expected {row.expected:g}{within}"


def write(file: Path, tables: Mapping[str, Path], best: Sequence[Path] = ()) -> None:
    """Replace a reference's numbers by a run's; everything above the line `numbers:` is unchanged.

    Args:
        tables: name -> CSV of the run.
        best: folders of the run's best encoders; without any, those of the reference are unchanged.

    Raises:
        UserError: not a reference, a table that cannot be read, or a manifest of an encoder that was not chosen.
    """
    before = Reference.load(file)
    head = file.read_text(encoding="utf-8").partition(f"\n{NUMBERS}")[0]
    numbers = {name: _nested(tabulate.read(path)) for name, path in tables.items()}
    chosen = {str(folder): read_best(folder) for folder in best} or before.best
    found = {"numbers": numbers} | ({"best": chosen} if chosen else {})
    text = yaml.safe_dump(found, default_flow_style=None, sort_keys=False, width=120)
    with atomic(file) as temporary:
        temporary.write_text(f"{head}\n{text}", encoding="utf-8")


def _cells(numbers: Mapping[str, object]) -> Iterator[tuple[tuple[str, ...], Number]]:
    """Each number of a table, and where it is in the table."""
    for name, inner in numbers.items():
        if isinstance(inner, Number):
            yield (name,), inner
        else:
            yield from (((name, *place), number) for place, number in _cells(inner))


def _nested(table: pd.DataFrame) -> dict[str, dict]:
    """A table as a reference has it."""
    found: dict[str, dict] = {}
    for row in table.to_dict("records"):
        inner = found
        for name in ROW[:-1]:
            inner = inner.setdefault(row[name], {})
        number = Number(**{what: row[what] for what in Number.model_fields if pd.notna(row[what])})
        inner[row[ROW[-1]]] = number.model_dump(exclude_none=True)
    return found

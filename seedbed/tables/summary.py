"""A table across its columns: averages over languages, a row for each backbone and method, as MINERS prints its own."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from seedbed.tables.cells import cell, grid, paper_cell, systems
from seedbed.tables.published import AVERAGE


def summary(table: pd.DataFrame, shown: Sequence[str] | None = None) -> str:
    """What the numbers are, and the grid of averages in Markdown.

    Args:
        shown: only these columns; None for all.
    """
    averages = table[(table["language"] == AVERAGE) & table["column"].isin(shown or table["column"])]
    return "\n\n".join([_legend(table, averages), _grid(averages)])


def _legend(table: pd.DataFrame, averages: pd.DataFrame) -> str:
    level = table["level"].iloc[0]
    measured = table[table["language"] != AVERAGE].drop_duplicates(["column", "language"])
    told = "; ".join(_told(column, rows) for column, rows in measured.groupby("column", sort=False))
    lines = [
        f"Averages over languages, x 100. Measured: {told}. In brackets, the {level:.0%} bootstrap interval over seeds "
        "and items; languages are not resampled. Bold: the best of a column."
    ]
    if averages["p_adjusted"].notna().any():
        baseline = dict(zip(table["recipe"], table["method"], strict=True)).get(table["baseline"].iloc[0], "")
        lines.append(f"▲ ▼: above or below {baseline} of the same backbone (p < {1 - level:.2g}).")
    if averages["paper"].notna().any():
        lines.append("In italics below a row: the paper's number.")
    noted = averages[averages["paper_note"] != ""]
    lines += [
        f"† {', '.join(rows['column'].unique())}: {note}." for note, rows in noted.groupby("paper_note", sort=False)
    ]
    return " ".join(lines)


def _told(column: str, rows: pd.DataFrame) -> str:
    """`Tatoeba: f1@1 forward, 112 languages, 88,000 items`."""
    languages = f"{len(rows)} language{'s' if len(rows) > 1 else ''}"
    return f"{column}: {rows['metric'].iloc[0]}, {languages}, {int(rows['n'].sum()):,} items"


def _grid(averages: pd.DataFrame) -> str:
    columns = list(averages["column"].unique())
    best = dict(averages.groupby("column")["value"].max().map("{:z.1f}".format))
    names = systems(averages)
    lines = [["System", *columns]]
    for system, rows in averages.groupby(["backbone", "recipe"], sort=False):
        own = {row["column"]: row for _, row in rows.iterrows()}
        cells = [own.get(column) for column in columns]
        lines.append([names[system], *("" if row is None else cell(row, best[row["column"]]) for row in cells)])
        if rows["paper"].notna().any():
            lines.append(["*paper*", *("" if row is None else paper_cell(row) for row in cells)])
    return grid(lines)

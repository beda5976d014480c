"""The paper's own table in Markdown: each number with ours, their difference and a verdict."""

from typing import Any

import pandas as pd

from seedbed.evaluation.significance import percent
from seedbed.tables.cells import grid, signed
from seedbed.tables.published import KEY, NAME, Published
from seedbed.tables.specs import TableSpec
from seedbed.tables.tabulate import NOT_REPRODUCED, NOT_RUN, REPRODUCED

MARKS = {REPRODUCED: " ✓", NOT_REPRODUCED: " ✗"}


def papers_numbers(table: pd.DataFrame, spec: TableSpec, published: Published) -> list[str]:
    """Every number that the paper prints in a table, with ours where there is one, as parts of a page in Markdown."""
    printed = _printed(table, spec, published)
    if printed.empty:
        return []
    counts = printed["verdict"].value_counts()
    told = ", ".join(f"{counts.get(kind, 0)} {kind}" for kind in (REPRODUCED, NOT_REPRODUCED, NOT_RUN))
    level = table["level"].iloc[0]
    text = (
        f"Of the {len(printed)} numbers that the paper prints here: {told}. Reproduced: the paper's number is within "
        f"our {percent(level)}% interval over seeds and items. A number of ours on other data, over other languages, "
        "or of another encoder, is no attempt at the paper's, which counts as not run."
    )
    if printed["ours"].str.len().max() > 1:
        text += " Where several rows of ours have one number of the paper, all are here, and all must reproduce it."
    decimals = {column.metric: column.measured.decimals for column in spec.columns}
    grids = []
    if (printed["verdict"] != NOT_RUN).any():
        for (task, metric, backbone), rows in printed.groupby(["task", "metric", "backbone"], sort=False):
            title = " ".join(filter(None, (task, metric, backbone)))
            grids += [f"### {title}", _paper_grid(rows, decimals[metric])]
    return ["## The paper's numbers, and ours", text, *grids]


def _printed(table: pd.DataFrame, spec: TableSpec, published: Published) -> pd.DataFrame:
    """A row for each of the paper's cells: its number, the rows of `ours` that have it, and their verdict."""
    attempts = dict([*table[table["verdict"] != ""].groupby("paper_cell", sort=False)])
    rows = [
        {"system": cell.system, "paper": cell.value, **_attempted(attempts.get(NAME.join(key)))}
        | dict(zip(KEY, key, strict=True))
        for key, cell in published.cells.items()
        if (key[KEY.index("task")], key[KEY.index("metric")]) in spec.printed
    ]
    return pd.DataFrame(rows, columns=["system", "paper", "ours", "verdict", *KEY])


def _attempted(rows: pd.DataFrame | None) -> dict[str, Any]:
    """The rows of ours that have one number of the paper, and whether all reproduce it."""
    if rows is None:
        return {"ours": [], "verdict": NOT_RUN}
    return {
        "ours": rows.to_dict("records"),
        "verdict": REPRODUCED if (rows["verdict"] == REPRODUCED).all() else NOT_REPRODUCED,
    }


def _paper_grid(rows: pd.DataFrame, decimals: int) -> str:
    languages = list(rows["language"].unique())
    lines = [["Method", *languages]]
    for system, cells in rows.groupby("system", sort=False):
        by_language = {cell["language"]: cell for _, cell in cells.iterrows()}
        lines.append([str(system), *(_compared(by_language.get(language), decimals) for language in languages)])
    return grid(lines)


def _compared(cell: pd.Series | None, decimals: int) -> str:
    """`72.3 → 71.9 (-0.4) ✓`, or the paper's number alone."""
    if cell is None:
        return ""
    ours = [
        f"{row['value']:z.{decimals}f} ({signed(row['delta'], decimals)}){MARKS[row['verdict']]}"
        for row in cell["ours"]
    ]
    return " → ".join(filter(None, [f"{cell['paper']:.{decimals}f}", ", ".join(ours)]))

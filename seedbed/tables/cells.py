"""Cells of Markdown tables: a number with its interval, and the paper's below it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from seedbed import markdown
from seedbed.evaluation.metrics import Metric
from seedbed.evaluation.significance import rejects
from seedbed.tables.published import AVERAGE

NAMED = 3
"""Up to this many languages, the numbers of training rows are listed one by one; else the lowest and the highest."""


def grid(lines: Iterable[Sequence[str]]) -> str:
    """A Markdown table; the first row is the heading, and all columns but the first are right-aligned."""
    first, *rest = lines
    return markdown.table(first, rest, right=len(first) - 1)


def cell(row: pd.Series, best: str | None, decimals: int = 1) -> str:
    """A number with its interval, such as `**71.3** [68.2, 74.1] ▲`; without an interval (NaN), with n instead.

    Args:
        row: a row of a table, see `tabulate.COLUMNS`.
        best: the best number of its column, as printed, which is bold; None: none.
    """
    value = f"{row['value']:z.{decimals}f}"
    value = f"**{value}**" if value == best else value
    if pd.isna(row["low"]):
        return f"{value} (n = {row['n']:.0f})"
    return f"{value} {interval(row, decimals)}{mark(row)}"


def difference(row: Mapping[str, Any], decimals: int = 1) -> str:
    """A difference with its interval, such as `+1.9 [0.3, 3.5] ▲`."""
    if pd.isna(row["difference_low"]):
        return signed(row["difference"], decimals)
    return f"{with_interval(row, decimals)}{mark(row)}"


def with_interval(row: Mapping[str, Any], decimals: int = 1) -> str:
    """A difference with its interval, without a mark: `-0.0 [-0.1, -0.0]`."""
    low, high = (signed(row[name], decimals).removeprefix("+") for name in ("difference_low", "difference_high"))
    return f"{signed(row['difference'], decimals)} [{low}, {high}]"


def signed(value: float, decimals: int = 1) -> str:
    """A difference with its sign, also where it is rounded to nothing: `-0.0`; of equal numbers `+0.0`."""
    return f"{value + 0.0:+.{decimals}f}"  # -0.0 + 0.0 is 0.0


def mark(row: Mapping[str, Any]) -> str:
    """The sign of a significant difference, up or down; empty if it is not."""
    return (" ▲" if row["difference"] > 0 else " ▼") if significant(row) else ""


def interval(row: Mapping[str, Any], decimals: int = 1) -> str:
    """The interval of a number, such as `[68.2, 74.1]`."""
    return f"[{row['low']:z.{decimals}f}, {row['high']:z.{decimals}f}]"


def best_of(rows: pd.DataFrame, metric: Metric) -> str:
    """The best number of some rows, as `cell` prints it."""
    return f"{rows['value'].agg('min' if metric.lower else 'max'):z.{metric.decimals}f}"


def significant(row: Mapping[str, Any]) -> bool:
    """Whether a row's difference is significant at its level; not if nothing was tested."""
    return rejects(row["p_adjusted"], row["level"])


def methods_of(table: pd.DataFrame) -> dict[str, str]:
    """Recipe -> its printed name; of classifiers of one kind, which have names of their own, all names."""
    rows = table.drop_duplicates(["recipe", "method"])
    return {str(recipe): ", ".join(own) for recipe, own in rows.groupby("recipe", sort=False)["method"]}


def systems(table: pd.DataFrame) -> dict[tuple[str, str], str]:
    """(backbone, recipe) -> its name on pages and figures: its backbone, and its method if there are several.

    A baseline classifier's name is used once, instead of both.
    """
    rows = table.drop_duplicates(["backbone", "recipe"])
    several = rows.loc[rows["method"] != rows["backbone"], "recipe"].nunique() > 1
    return {
        (row["backbone"], row["recipe"]): f"{row['backbone']}, {row['method']}"
        if several and row["method"] != row["backbone"]
        else row["backbone"]
        for row in rows.to_dict("records")
    }


def without_lone_average(table: pd.DataFrame) -> pd.DataFrame:
    """A table without the average of a single language, which adds nothing."""
    languages = table.loc[table["language"] != AVERAGE, "language"]
    return table[table["language"] != AVERAGE] if languages.nunique() == 1 else table


def trained_on(rows: pd.DataFrame) -> dict[str, str]:
    """Recipe -> the number of its encoders' training rows: `64`; `hau 6, ind 36`; or, for many languages, `6 to 64`.

    Recipes without a known number are left out.
    """
    known = rows[rows["rows"].notna()].groupby("recipe", sort=False)
    return {str(recipe): _counts(each["language"].tolist(), each["rows"].tolist()) for recipe, each in known}


def _counts(languages: Sequence[str], rows: Sequence[float]) -> str:
    if len({*rows}) == 1:
        return f"{rows[0]:,.0f}"
    if len(rows) <= NAMED:
        return ", ".join(f"{language} {count:,.0f}" for language, count in zip(languages, rows, strict=True))
    return f"{min(rows):,.0f} to {max(rows):,.0f}"


def languages_of(table: pd.DataFrame) -> list[str]:
    """The languages of a table in its order, the average last."""
    return sorted(table["language"].unique(), key=lambda language: language == AVERAGE)


def paper_cell(row: pd.Series, decimals: int = 1) -> str:
    """The paper's number with its standard deviation, in italics; empty if it has none."""
    if pd.isna(row["paper"]):
        return ""
    sd = "" if pd.isna(row["paper_sd"]) else f" ± {row['paper_sd']:.{decimals}f}"
    return f"*{row['paper']:.{decimals}f}{sd}*" + ("†" if row["paper_note"] else "")

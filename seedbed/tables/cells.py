"""One cell of a page: a number with its interval, and the paper's below it."""

from collections.abc import Iterable, Sequence

import pandas as pd

from seedbed.tables.published import AVERAGE

NAMED = 3
"""Languages whose counts of training rows stand one by one in a cell; of more of them, the fewest and the most."""


def grid(lines: Iterable[Sequence[str]]) -> str:
    """Rows of a Markdown table, of which the first is the heading; numbers stand to the right."""
    first, *rest = lines
    ruled = [first, ["---", *["---:"] * (len(first) - 1)], *rest]
    return "\n".join(f"| {' | '.join(line)} |" for line in ruled)


def cell(row: pd.Series, best: str | None) -> str:
    """`**71.3** [68.2, 74.1] ▲`; fewer than ten items have no interval, so their number is told."""
    value = f"{row['value']:z.1f}"
    value = f"**{value}**" if value == best else value
    if pd.isna(row["low"]):
        return f"{value} (n = {row['n']:.0f})"
    mark = (" ▲" if row["difference"] > 0 else " ▼") if row["p_adjusted"] < 1 - row["level"] else ""
    return f"{value} [{row['low']:z.1f}, {row['high']:z.1f}]{mark}"


def systems(table: pd.DataFrame) -> dict[tuple[str, str], str]:
    """(backbone, recipe) -> what a page or figure calls it: its backbone, and its method if there are several.

    A baseline classifier has its own name in the place of a method's, and needs it once.
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
    """A table, or a part of one, without the average of a single language, which says nothing new."""
    languages = table.loc[table["language"] != AVERAGE, "language"]
    return table[table["language"] != AVERAGE] if languages.nunique() == 1 else table


def trained_on(rows: pd.DataFrame) -> dict[str, str]:
    """Recipe -> the rows that its encoders were trained on, as `64`, `hau 6, ind 36` or, of many languages, `6 to 64`.

    Recipes of which that is not known are left out.
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
    """The languages of a table in its order, their average last."""
    return sorted(table["language"].unique(), key=lambda language: language == AVERAGE)


def paper_cell(row: pd.Series) -> str:
    if pd.isna(row["paper"]):
        return ""
    sd = "" if pd.isna(row["paper_sd"]) else f" ± {row['paper_sd']:.1f}"
    return f"*{row['paper']:.1f}{sd}*" + ("†" if row["paper_note"] else "")

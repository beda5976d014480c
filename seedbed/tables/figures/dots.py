"""Dots with intervals for each recipe and language, a panel for each backbone and column."""

from collections.abc import Mapping
from itertools import product
from statistics import fmean
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from seedbed.tables.cells import best_of, languages_of, methods_of, significant, without_lone_average
from seedbed.tables.figures.specs import Dots
from seedbed.tables.figures.style import (
    BAND,
    INK,
    PALE,
    Margins,
    axis_label,
    colours,
    draw_interval,
    named,
    wrapped,
    write_around,
    write_beside,
)
from seedbed.tables.published import AVERAGE
from seedbed.tables.specs import metric_of

MARGINS = Margins(head=0.72, foot=0.78, left=1.3, right=0.35, between=0.62)
GAP = 1.6
"""Distance between two languages, in dots."""
BETWEEN = 0.14
"""Distance between two panels, in their width."""
POINTS = 72
"""Points of an inch."""
ROWS = "training rows"
"""Heading of the numbers of training rows."""

Places = Mapping[tuple[str, str], float]
"""(language, recipe) -> its position on the y axis, in dots from the top."""


def draw(table: pd.DataFrame, spec: Dots, names: Mapping[str, str]) -> Figure:
    """Plot a table; the numbers of training rows are left of the first panel, where known."""
    panels = table.groupby(["backbone", "column"], sort=False)
    table = pd.concat([without_lone_average(part) for _, part in panels])
    backbones, columns = table["backbone"].unique(), table["column"].unique()
    places, shades = _places(table), colours(table["recipe"], spec)
    methods = methods_of(table)
    labels = [named(language, names) for language in languages_of(table)]
    margins = MARGINS.beside(labels, spec.width, _pad(table) / POINTS)
    inside = (spec.width - margins.left - margins.right) / (len(columns) + BETWEEN * (len(columns) - 1))
    titles = {
        (backbone, column): wrapped(column if backbone == AVERAGE else f"{column}, {backbone}", inside)
        for backbone, column in product(backbones, columns)
    }
    height = spec.spacing * (max(places.values()) + GAP)
    figure = margins.canvas(spec, [*methods.values()], height, len(backbones), titles.values())
    figure.subplots_adjust(wspace=BETWEEN)
    grid = figure.subplots(len(backbones), len(columns), squeeze=False, sharex="col", sharey=True)
    _name_languages(grid[0, 0], places, names)
    for backbone, row in zip(backbones, grid, strict=True):
        for column, axes in zip(columns, row, strict=True):
            _panel(axes, table[(table["backbone"] == backbone) & (table["column"] == column)], places, shades)
            axes.set_title(titles[backbone, column])
        _name_rows(row[0], table[table["backbone"] == backbone], places)
    write_around(figure, table, spec, {methods[recipe]: shade for recipe, shade in shades.items()})
    return figure


def _places(table: pd.DataFrame) -> Places:
    """Languages from top to bottom, their average last, and recipes within each."""
    recipes = table["recipe"].unique()
    return {
        (language, recipe): row * (len(recipes) + GAP) + place
        for row, language in enumerate(languages_of(table))
        for place, recipe in enumerate(recipes)
    }


def _name_languages(axes: Axes, places: Places, names: Mapping[str, str]) -> None:
    """Label the y axis that all panels share."""
    heights: dict[str, list[float]] = {}
    for (language, _), height in places.items():
        heights.setdefault(language, []).append(height)
    axes.set_yticks([fmean(each) for each in heights.values()], [named(language, names) for language in heights])
    axes.set_ylim(max(places.values()) + GAP / 2, -GAP / 2)


def _name_rows(axes: Axes, table: pd.DataFrame, places: Places) -> None:
    """Write the rows that encoders of one backbone were trained on between a language's name and its dots."""
    known = table[table["rows"].notna()].drop_duplicates(["language", "recipe"])
    for row in known.to_dict("records"):
        place = places[row["language"], row["recipe"]]
        write_beside(axes, place, f"{row['rows']:,.0f}", left=True, fontsize=6.5, color=PALE)
    if len(known):
        write_beside(axes, -GAP / 2, ROWS, left=True, fontsize=6, color=PALE)
        axes.tick_params(axis="y", pad=_pad(known))


def _pad(table: pd.DataFrame) -> float:
    """Points between the languages' names and a panel, where numbers of training rows are; none are known: 0."""
    lengths = [len(f"{count:,.0f}") for count in table["rows"].dropna()]
    return 8 + 4.2 * max(lengths) if lengths else 0


def _panel(axes: Axes, block: pd.DataFrame, places: Places, colours: Mapping[str, str]) -> None:
    """Draw one backbone and column."""
    for language, rows in block.groupby("language", sort=False):
        heights = [places[str(language), recipe] for recipe in rows["recipe"]]
        edges = (min(heights) - GAP / 2, max(heights) + GAP / 2)
        if language == AVERAGE:
            axes.axhspan(*edges, color=BAND, zorder=0)
        axes.vlines(rows.loc[rows["recipe"] == rows["baseline"], "value"], *edges, color=PALE, lw=0.9, ls=":", zorder=1)
        metric = metric_of(rows["protocol"].iloc[0], rows["metric"].iloc[0])
        best = best_of(rows, metric)
        for height, row in zip(heights, rows.to_dict("records"), strict=True):
            _dot(axes, height, row, colours[row["recipe"]])
            value = f"{row['value']:z.{metric.decimals}f}"
            style = {"color": INK, "fontweight": "bold"} if value == best else {"color": PALE}
            write_beside(axes, height, value, fontsize=6.5, **style)
    axes.grid(axis="x")
    axes.tick_params(labelbottom=True)
    for row in block.iloc[:1].to_dict("records"):
        axes.set_xlabel(axis_label(row))


def _dot(axes: Axes, height: float, row: Mapping[str, Any], colour: str) -> None:
    """A score on its interval: a triangle if it differs from the baseline. NaN draws nothing."""
    marker = ("^" if row["difference"] > 0 else "v") if significant(row) else "o"
    draw_interval(axes, height, row["low"], row["high"], colour)
    axes.plot(row["paper"], height, "o", ms=4.6, color=colour, mfc="white", zorder=3)
    axes.plot(row["value"], height, marker, ms=5.6, color=colour, mec="white", mew=0.5, zorder=4)

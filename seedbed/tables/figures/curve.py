"""Curves of the score over a quantity (number of triplets, lambda), a panel for each backbone and column."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from seedbed.tables.figures.specs import Curve
from seedbed.tables.figures.style import axis_label, colours, named, ordered, write_around

PANEL = 2.6
"""Inches of a panel's height, with its titles."""


def draw(table: pd.DataFrame, spec: Curve, names: Mapping[str, str]) -> Figure:
    """Plot a table whose recipes are points of curves.

    Each backbone and column has a panel. Each language and series has a line with its interval as a band; the paper's
    numbers are hollow points.
    """
    panels = list(table.groupby(["backbone", "column"], sort=False))
    lines = [(language, series) for language in table["language"].unique() for series in spec.series]
    several = len(spec.series) > 1
    labels = {line: named(line[0], names) + (f", {line[1]}" if several else "") for line in lines}
    shades = colours(labels.values(), spec)
    height = 1.5 + PANEL * len(panels)
    figure = Figure(figsize=(spec.width, height))
    grid = figure.subplots(len(panels), 1, squeeze=False)
    figure.subplots_adjust(left=0.8 / spec.width, right=0.97, top=1 - 1.0 / height, bottom=0.8 / height, hspace=0.5)
    for axes, ((backbone, column), block) in zip(grid[:, 0], panels, strict=True):
        for language, series in lines:
            rows = block[block["language"] == language].set_index("recipe")
            _line(axes, rows, spec.series[series], shades[labels[language, series]])
        axes.set_title(f"{column}, {backbone}")
        axes.set_xlabel(spec.x_label)
        axes.set_ylabel(axis_label(block.iloc[0]))
        axes.set_xscale("log" if spec.log_x else "linear")
        axes.grid(axis="both")
    write_around(figure, table, spec, shades)
    return figure


def _line(axes: Axes, rows: pd.DataFrame, places: Mapping[str, float], colour: str) -> None:
    """One curve; recipes that the table lacks are left out."""
    x, values = ordered(rows, places)
    if x:
        axes.fill_between(x, values["low"], values["high"], color=colour, alpha=0.18, lw=0)
        axes.plot(x, values["value"], "o-", color=colour, ms=4.5, lw=1.4)
        axes.plot(x, values["paper"], "o", color=colour, mfc="white", ms=4.5)

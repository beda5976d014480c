"""Curves of the score over a quantity (number of triplets, lambda), a panel for each backbone and column."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from seedbed.tables.figures.specs import Curve
from seedbed.tables.figures.style import Margins, axis_label, named, ordered, styles, wrapped, write_around

MARGINS = Margins(head=0.78, foot=0.8, left=0.8, right=0.29, between=0.9)
PANEL = 1.8
"""Inches of a panel's height."""


def draw(table: pd.DataFrame, spec: Curve, names: Mapping[str, str]) -> Figure:
    """Plot a table whose recipes are points of curves.

    Each backbone and column has a panel. Each language and series has a line with its interval as a band; the paper's
    numbers are hollow points.
    """
    panels = list(table.groupby(["backbone", "column"], sort=False))
    lines = [(language, series) for language in table["language"].unique() for series in spec.series]
    several = len(spec.series) > 1
    labels = {line: named(line[0], names) + (f", {line[1]}" if several else "") for line in lines}
    looks = styles(labels.values(), spec)
    inside = spec.width - MARGINS.left - MARGINS.right
    titles = [wrapped(f"{column}, {backbone}", inside) for (backbone, column), _ in panels]
    figure = MARGINS.canvas(spec, looks, PANEL, len(panels), titles)
    grid = figure.subplots(len(panels), 1, squeeze=False)
    for axes, title, (_, block) in zip(grid[:, 0], titles, panels, strict=True):
        for language, series in lines:
            rows = block[block["language"] == language].set_index("recipe")
            _line(axes, rows, spec.series[series], *looks[labels[language, series]])
        axes.set_title(title)
        axes.set_xlabel(spec.x_label)
        axes.set_ylabel(axis_label(block.iloc[0]))
        axes.set_xscale("log" if spec.log_x else "linear")
        axes.grid(axis="both")
    colours, marks = ({label: look[part] for label, look in looks.items()} for part in (0, 1))
    write_around(figure, table, spec, colours, marks)
    return figure


def _line(axes: Axes, rows: pd.DataFrame, places: Mapping[str, float], colour: str, marker: str) -> None:
    """One curve; recipes that the table lacks are left out."""
    x, values = ordered(rows, places)
    if x:
        axes.fill_between(x, values["low"], values["high"], color=colour, alpha=0.18, lw=0)
        axes.plot(x, values["value"], f"{marker}-", color=colour, ms=4.5, lw=1.4)
        axes.plot(x, values["paper"], marker, color=colour, mfc="white", ms=4.5)

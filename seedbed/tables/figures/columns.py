"""Columns of a table as points of lines (k): averages over languages, a line for each backbone."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from seedbed.tables.cells import systems
from seedbed.tables.figures.style import MARKERS, PALE, Margins, colours, write_around
from seedbed.tables.published import AVERAGE
from seedbed.tables.specs import FigureSpec

MARGINS = Margins(head=0.75, foot=0.85, left=0.62, right=0.2, between=0.85)
PANEL, BESIDE = 2.3, 0.42
"""Inches of a panel's height, and from one panel to the next."""
ACROSS = 5
"""Panels in a row."""


def draw(table: pd.DataFrame, spec: FigureSpec, names: Mapping[str, str]) -> Figure:
    """Draw a table: panels whose columns it lacks are left out, as are single points.

    Args:
        table: as `tabulate.read` gives it.
        names: nothing here has a language.
    """
    means = table[table["language"] == AVERAGE]
    panels = {title: places for title, places in spec.panels.items() if means["column"].isin(list(places)).any()}
    lines = systems(means)
    shades = colours(lines.values(), spec)
    marks = {label: MARKERS[place % len(MARKERS)] for place, label in enumerate(shades)}
    rows, across = -(-len(panels) // ACROSS), min(ACROSS, len(panels))
    figure = MARGINS.canvas(spec, len(lines), PANEL, rows)
    inside = (spec.width - MARGINS.left - MARGINS.right - (across - 1) * BESIDE) / across
    figure.subplots_adjust(wspace=BESIDE / inside)
    grid = figure.subplots(rows, across, squeeze=False).ravel()
    for axes, (title, places) in zip(grid, panels.items(), strict=False):
        for (backbone, recipe), label in lines.items():
            own = means[(means["backbone"] == backbone) & (means["recipe"] == recipe)].set_index("column")
            _line(axes, own, places, shades[label], marks[label])
        axes.set_title(title)
        axes.set_xlabel(spec.x_label)
        axes.set_xticks(sorted(set(places.values())))
        axes.tick_params(labelcolor=PALE)
        axes.margins(x=0.1)
        axes.grid(axis="y")
    for axes in grid[::across]:
        axes.set_ylabel(spec.y_label)
    for axes in grid[len(panels) :]:
        axes.remove()
    write_around(figure, table, spec, shades, marks)
    return figure


def _line(axes: Axes, own: pd.DataFrame, places: Mapping[str, float], colour: str, marker: str) -> None:
    """One system's points; columns that it lacks are left out."""
    points = sorted((place, column) for column, place in places.items() if column in own.index)
    if not points:
        return
    x, values = [place for place, _ in points], own.loc[[column for _, column in points]]
    axes.fill_between(x, values["low"], values["high"], color=colour, alpha=0.16, lw=0)
    axes.plot(x, values["value"], marker=marker, color=colour, ms=5, mec="white", mew=0.5, lw=1.4)

"""Means over the languages of a family or script, with standard deviations: a panel for each backbone."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from seedbed.tables.cells import systems
from seedbed.tables.figures.specs import Groups
from seedbed.tables.figures.style import Margins, colours, draw_interval, marks_of, wrapped, write_around
from seedbed.tables.published import AVERAGE

MARGINS = Margins(head=0.85, foot=0.85, left=1.65, right=0.2, between=0.75)
ACROSS = 5
"""Panels in a row."""
BETWEEN = 0.08
"""Distance between two panels, in their width."""
ROW = 1.2
"""Distance between two groups beyond their dots, in dots."""
UNKNOWN = "not known"
"""Group of languages that the registry does not have."""


def draw(table: pd.DataFrame, spec: Groups, names: Mapping[str, str]) -> Figure:
    """Plot a table: rows are groups of languages, sorted by the last column; each column is a dot in a row. In
    brackets, how many languages a dot is the mean of: `2 to 3` where dots differ in it.

    Args:
        names: language -> its group.
    """
    rows = table[table["language"] != AVERAGE]
    rows = rows.assign(group=rows["language"].map(lambda code: names.get(code) or UNKNOWN))
    columns, panels = list(rows["column"].unique()), systems(rows)
    shades, marks = colours(columns, spec), marks_of(columns)
    means = rows.groupby(["group", "column"])["value"].mean().unstack()
    order = means[columns[-1]].sort_values(ascending=False, kind="stable").index  # without that column: last
    heights = {group: place * (len(columns) + ROW) for place, group in enumerate(order)}
    counts = rows.groupby(["group", "backbone", "recipe", "column"])["language"].nunique()
    sizes = {group: " to ".join(map(str, sorted({own.min(), own.max()}))) for group, own in counts.groupby("group")}
    down, across = -(-len(panels) // ACROSS), min(ACROSS, len(panels))
    labels = [f"{group} ({sizes[group]})" for group in heights]
    margins = MARGINS.beside(labels, spec.width)
    inside = (spec.width - margins.left - margins.right) / (across + BETWEEN * (across - 1))
    panels = {system: wrapped(label, inside) for system, label in panels.items()}
    height = spec.spacing * (len(columns) + ROW) * len(order)
    figure = margins.canvas(spec, columns, height, down, panels.values())
    figure.subplots_adjust(wspace=BETWEEN)
    grid = figure.subplots(down, across, squeeze=False, sharex=True, sharey=True).ravel()
    middle = (len(columns) - 1) / 2
    for axes, ((backbone, recipe), label) in zip(grid, panels.items(), strict=False):
        own = rows[(rows["backbone"] == backbone) & (rows["recipe"] == recipe)]
        for place, column in enumerate(columns):
            _dots(axes, own[own["column"] == column], heights, place, shades[column], marks[column])
        axes.set_title(label)
        axes.set_xlabel(spec.x_label)
        axes.tick_params(labelbottom=True)
        axes.locator_params(axis="x", nbins=5)  # long numbers would run into one another
        axes.grid(axis="x")
    for axes in grid[len(panels) :]:
        axes.set_visible(False)  # removed, it would take the ticks that all share
    grid[0].set_yticks([height + middle for height in heights.values()], labels)
    grid[0].set_ylim(max(heights.values()) + len(columns) - 1 + ROW, -ROW)
    write_around(figure, table, spec, shades, marks)
    return figure


def _dots(axes: Axes, rows: pd.DataFrame, heights: Mapping[str, float], place: int, colour: str, marker: str) -> None:
    """One column's mean and standard deviation over the languages of each group; one language has no deviation."""
    for group, values in rows.groupby("group", sort=False)["value"]:
        mean, height = values.mean(), heights[str(group)] + place
        if len(values) > 1:
            sd = values.std(ddof=1)
            draw_interval(axes, height, mean - sd, mean + sd, colour, lw=1.8)
        axes.plot(mean, height, marker, ms=4.4, color=colour, mec="white", mew=0.5, zorder=3)

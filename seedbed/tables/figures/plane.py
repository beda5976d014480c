"""One column against another (alignment, uniformity), a panel for each backbone and language."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure

from seedbed.tables.cells import methods_of
from seedbed.tables.figures.specs import Plane
from seedbed.tables.figures.style import PALE, Margins, colours, named, wrapped, write_around

MARGINS = Margins(head=0.78, foot=0.8, left=0.7, right=0.29, between=0.9)
PANEL, ACROSS = 1.6, 4
"""Inches of a panel's height, and panels in a row."""
BETWEEN = 0.42
"""Distance between two panels, in their width."""


def draw(table: pd.DataFrame, spec: Plane, names: Mapping[str, str]) -> Figure:
    """Plot a table of two columns: each recipe is a point, the first column its y, the second its x."""
    y, x = table["column"].unique()[:2]
    wide = table.pivot(index=["backbone", "language", "recipe"], columns="column", values=["value", "low", "high"])
    panels = list(dict.fromkeys(zip(table["backbone"], table["language"], strict=True)))
    shades = colours(table["recipe"], spec)
    rows, across = -(-len(panels) // ACROSS), min(ACROSS, len(panels))
    inside = (spec.width - MARGINS.left - MARGINS.right) / (across + BETWEEN * (across - 1))
    titles = [wrapped(f"{named(language, names)}, {backbone}", inside) for backbone, language in panels]
    methods = methods_of(table)
    legend = {methods[recipe]: shade for recipe, shade in shades.items()}
    figure = MARGINS.canvas(spec, legend, PANEL, rows, titles)
    figure.subplots_adjust(wspace=BETWEEN)
    grid = figure.subplots(rows, across, squeeze=False).ravel()
    for axes, title, (backbone, language) in zip(grid, titles, panels, strict=False):
        for recipe, point in wide.loc[(backbone, language)].iterrows():
            at = (point["value", x], point["value", y])
            axes.plot([at[0]] * 2, [point["low", y], point["high", y]], color=shades[recipe], lw=2.2, alpha=0.45)
            axes.plot(*at, "o", color=shades[recipe], ms=5.6, mec="white", mew=0.5)
        axes.set_title(title)
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        axes.tick_params(labelcolor=PALE)
        axes.grid(axis="both")
        axes.locator_params(nbins=5)  # long numbers would run into one another
    for axes in grid[len(panels) :]:
        axes.remove()
    write_around(figure, table, spec, legend)
    return figure

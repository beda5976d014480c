"""One column against another (alignment, uniformity), a panel for each backbone and language."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure

from seedbed.tables.cells import methods_of
from seedbed.tables.figures.specs import Plane
from seedbed.tables.figures.style import PALE, colours, named, write_around

PANEL, ACROSS = 2.5, 4
"""Inches of a panel's height, and panels in a row."""


def draw(table: pd.DataFrame, spec: Plane, names: Mapping[str, str]) -> Figure:
    """Plot a table of two columns: each recipe is a point, the first column its y, the second its x."""
    y, x = table["column"].unique()[:2]
    wide = table.pivot(index=["backbone", "language", "recipe"], columns="column", values=["value", "low", "high"])
    panels = list(dict.fromkeys(zip(table["backbone"], table["language"], strict=True)))
    shades = colours(table["recipe"], spec)
    rows = -(-len(panels) // ACROSS)
    height = 1.6 + PANEL * rows
    figure = Figure(figsize=(spec.width, height))
    grid = figure.subplots(rows, min(ACROSS, len(panels)), squeeze=False).ravel()
    figure.subplots_adjust(
        left=0.7 / spec.width, right=0.97, top=1 - 1.0 / height, bottom=0.8 / height, hspace=0.6, wspace=0.42
    )
    for axes, (backbone, language) in zip(grid, panels, strict=False):
        for recipe, point in wide.loc[(backbone, language)].iterrows():
            at = (point["value", x], point["value", y])
            axes.plot([at[0]] * 2, [point["low", y], point["high", y]], color=shades[recipe], lw=2.2, alpha=0.45)
            axes.plot(*at, "o", color=shades[recipe], ms=5.6, mec="white", mew=0.5)
        axes.set_title(f"{named(language, names)}, {backbone}")
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        axes.tick_params(labelcolor=PALE)
        axes.grid(axis="both")
        axes.locator_params(nbins=5)  # long numbers would run into one another
    for axes in grid[len(panels) :]:
        axes.remove()
    methods = methods_of(table)
    write_around(figure, table, spec, {methods[recipe]: shade for recipe, shade in shades.items()})
    return figure

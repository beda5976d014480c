"""Shares of a whole: a row for each part, with a dot and interval for each recipe, and the share by chance."""

from collections.abc import Mapping
from itertools import product

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from seedbed.tables.cells import languages_of, methods_of
from seedbed.tables.figures.specs import Shares
from seedbed.tables.figures.style import BAND, PALE, Margins, colours, draw_interval, wrapped, write_around
from seedbed.tables.published import AVERAGE

MARGINS = Margins(head=0.85, foot=0.85, left=1.5, right=0.25, between=0.8)
GAP = 1.2
"""Distance between two parts beyond their dots, in dots."""
BETWEEN = 0.25
"""Inches between two panels."""


def draw(table: pd.DataFrame, spec: Shares, names: Mapping[str, str]) -> Figure:
    """Plot a table: a row of panels for each backbone; panels and parts that it lacks are left out."""
    whole = _of_average(table)
    titles = [title for title, parts in spec.panels.items() if whole["column"].isin(list(parts)).any()]
    parts = list(dict.fromkeys(part for title in titles for part in _shown(whole, spec, title).values()))
    backbones, shades = list(whole["backbone"].unique()), colours(whole["recipe"], spec)
    heights = {part: place * (len(shades) + GAP) for place, part in enumerate(parts)}
    margins = MARGINS.beside(parts, spec.width)
    inside = (spec.width - margins.left - margins.right - BETWEEN * (len(titles) - 1)) / len(titles)
    called = {
        (backbone, title): wrapped(title if len(backbones) == 1 else f"{title}, {backbone}", inside)
        for backbone, title in product(backbones, titles)
    }
    methods = methods_of(whole)
    legend = {methods[recipe]: shade for recipe, shade in shades.items()} | {"uniform": PALE}
    height = spec.spacing * (len(shades) + GAP) * len(parts)
    figure = margins.canvas(spec, legend, height, len(backbones), called.values())
    figure.subplots_adjust(wspace=BETWEEN / inside)
    grid = figure.subplots(len(backbones), len(titles), squeeze=False, sharex=True, sharey=True)
    for backbone, row in zip(backbones, grid, strict=True):
        for title, axes in zip(titles, row, strict=True):
            own = whole[whole["backbone"] == backbone].set_index("column")
            _panel(axes, own, _shown(whole, spec, title), spec.uniform[title], heights, shades)
            axes.set_title(called[backbone, title])
            axes.set_xlabel(spec.x_label)
    middle = (len(shades) - 1) / 2
    grid[0, 0].set_yticks([height + middle for height in heights.values()], list(heights))
    grid[0, 0].set_ylim(max(heights.values()) + len(shades) - 1 + GAP, -GAP)
    grid[0, 0].set_xlim(left=0)
    write_around(figure, whole, spec, legend, {"uniform": ""})
    return figure


def _of_average(table: pd.DataFrame) -> pd.DataFrame:
    """Averages over languages; of one language its own numbers."""
    languages = languages_of(table)
    return table[table["language"] == (AVERAGE if AVERAGE in languages else languages[0])]


def _shown(whole: pd.DataFrame, spec: Shares, title: str) -> dict[str, str]:
    """Column -> part of a panel, of those that the table has."""
    return {column: part for column, part in spec.panels[title].items() if (whole["column"] == column).any()}


def _panel(
    axes: Axes,
    own: pd.DataFrame,
    parts: Mapping[str, str],
    uniform: str,
    heights: Mapping[str, float],
    shades: Mapping[str, str],
) -> None:
    """The dots of one backbone; hollow ones are the paper's. What a choice at random gives is one line, and of recipes
    that differ in it a band."""
    even = own.loc[own.index == uniform, "value"]
    if len(even):
        axes.axvspan(even.min(), even.max(), color=BAND, zorder=0)
        axes.axvline(even.mean(), color=PALE, lw=1.2, ls=":", zorder=1)
    for column, part in parts.items():
        for row in own[own.index == column].to_dict("records"):
            height = heights[part] + list(shades).index(row["recipe"])
            colour = shades[row["recipe"]]
            draw_interval(axes, height, row["low"], row["high"], colour)
            axes.plot(row["paper"], height, "o", ms=4.6, color=colour, mfc="white", zorder=3, clip_on=False)
            axes.plot(row["value"], height, "o", ms=5.2, color=colour, mec="white", mew=0.5, zorder=4, clip_on=False)
    axes.grid(axis="x")
    axes.tick_params(labelbottom=True)

"""Pairs of dots: two columns of a table on one line, for each encoder and language, with panels side by side."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from seedbed.tables.cells import languages_of, signed, without_lone_average
from seedbed.tables.figures.specs import Pairs
from seedbed.tables.figures.style import (
    BAND,
    INK,
    PALE,
    Margins,
    colours,
    draw_interval,
    named,
    write_around,
    write_beside,
)
from seedbed.tables.published import AVERAGE
from seedbed.tables.specs import metric_of

MARGINS = Margins(head=0.85, foot=0.85, left=1.85, right=0.42)
"""Every panel of the row has both, for its names and differences."""
ROW = 1.6
"""Distance between two lines, in the spacing of dots."""
GAP = 0.9
"""Additional distance between two languages, or backbones, in lines."""

Line = tuple[str, str, str]
"""(language, backbone, recipe)."""


def draw(table: pd.DataFrame, spec: Pairs, names: Mapping[str, str]) -> Figure:
    """Plot a table: two columns of one encoder and language are on one line; panels without data are left out."""
    parts = {title: table[table["column"].isin(list(sides))] for title, sides in spec.pairs.items()}
    panels = {title: without_lone_average(part) for title, part in parts.items() if len(part)}
    sides = list(dict.fromkeys(side for each in spec.pairs.values() for side in each.values()))
    shades = colours(sides, spec)
    places = {title: _places(part) for title, part in panels.items()}
    deepest = max(max(each.values()) for each in places.values())
    several = any(part["backbone"].nunique() > 1 for part in panels.values())
    lines = [line for each in places.values() for line in each]
    headings = [f"{named(language, names)}, {backbone}" if several else "" for language, backbone, _ in lines]
    margins = MARGINS.beside([*table["method"], *headings], spec.width / len(panels))
    figure = margins.canvas(spec, sides, spec.spacing * ROW * (deepest + 2))
    between = margins.left + margins.right
    figure.subplots_adjust(wspace=between / (spec.width / len(panels) - between))
    grid = figure.subplots(1, len(panels), squeeze=False, sharex=True)[0]
    for axes, (title, part) in zip(grid, panels.items(), strict=True):
        own = {column: shades[side] for column, side in spec.pairs[title].items()}
        _panel(axes, title, part, places[title], own, names)
        axes.set_ylim(deepest + 0.7, -1.6)  # a line is as high in a panel of few
        axes.set_xlabel(spec.x_label)
    if all((part["value"] >= 0).all() for part in panels.values()):
        grid[0].set_xlim(left=0)  # after all panels, which share the axis: a limit stops it from growing
    write_around(figure, table, spec, shades)
    return figure


def _places(part: pd.DataFrame) -> dict[Line, float]:
    """Lines from top to bottom: languages, their average last, backbones within each, and recipes within these."""
    lines = list(dict.fromkeys(zip(part["language"], part["backbone"], part["recipe"], strict=True)))
    languages = languages_of(part)
    lines.sort(key=lambda line: languages.index(line[0]))
    groups = list(dict.fromkeys(line[:2] for line in lines))
    return {line: place + (GAP + 1) * groups.index(line[:2]) for place, line in enumerate(lines)}


def _panel(
    axes: Axes,
    title: str,
    part: pd.DataFrame,
    places: Mapping[Line, float],
    shades: Mapping[str, str],
    names: Mapping[str, str],
) -> None:
    """Draw one panel: languages as headings but for the title's, with the backbone if there are several; methods as
    labels, each with its pair of dots.

    Args:
        shades: column -> colour, in the order of the spec.
    """
    methods = {(row["backbone"], row["recipe"]): row["method"] for row in part.to_dict("records")}
    several = part["backbone"].nunique() > 1
    axes.set_title(title)
    axes.set_yticks(list(places.values()), [methods[backbone, recipe] for _, backbone, recipe in places])
    for language, backbone in dict.fromkeys(line[:2] for line in places):
        heights = [height for line, height in places.items() if line[:2] == (language, backbone)]
        if language == AVERAGE:
            axes.axhspan(min(heights) - 1.4, max(heights) + 0.6, color=BAND, zorder=0)
        heading = [name] if (name := named(language, names)) != title else []
        heading += ["over backbones" if backbone == AVERAGE else backbone] if several else []
        if heading:
            write_beside(axes, min(heights) - 1, ", ".join(heading), left=True, fontweight="bold", color=INK)
    for line, rows in part.groupby(["language", "backbone", "recipe"], sort=False):
        _pair(axes, places[line], rows.to_dict("records"), shades)
    axes.grid(axis="x")


def _pair(axes: Axes, height: float, rows: list[dict[str, Any]], shades: Mapping[str, str]) -> None:
    """Dots on their intervals, the way from one to the other, and the spec's first less its second in digits."""
    order = list(shades)
    rows = sorted(rows, key=lambda row: order.index(row["column"]))
    values = [row["value"] for row in rows]
    axes.plot(values, [height] * len(values), color=PALE, lw=0.9, zorder=1)
    for row in rows:
        shade = shades[row["column"]]
        draw_interval(axes, height, row["low"], row["high"], shade, lw=5, alpha=0.35)
        axes.plot(row["value"], height, "o", ms=5.6, color=shade, mec="white", mew=0.5, zorder=3)
    if len(values) == 2:
        decimals = metric_of(rows[0]["protocol"], rows[0]["metric"]).decimals
        write_beside(axes, height, signed(values[0] - values[1], decimals), fontsize=7, color=INK)

"""Lines over the columns of a table (k, layers), one for each system: averages over languages, or each language."""

from collections.abc import Iterator, Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from seedbed.tables.cells import languages_of, methods_of, systems
from seedbed.tables.figures.specs import Columns
from seedbed.tables.figures.style import PALE, Margins, colours, marks_of, named, ordered, wrapped, write_around
from seedbed.tables.published import AVERAGE

MARGINS = Margins(head=0.75, foot=0.85, left=0.62, right=0.2, between=0.85)
GAP, TICK = 0.42, 0.22
"""Inches from one panel to the next, and of a number below one."""


def draw(table: pd.DataFrame, spec: Columns, names: Mapping[str, str]) -> Figure:
    """Plot a table; panels whose columns it lacks are left out. A system with a single point has a marker, no line."""
    panels = list(_panels(table, spec, names))
    lines, above = _called(table, spec)
    shades = colours(lines.values(), spec)
    marks = marks_of(shades)
    rows, across = -(-len(panels) // spec.across), min(spec.across, len(panels))
    inside = (spec.width - MARGINS.left - MARGINS.right - (across - 1) * GAP) / across
    panels = [(wrapped(title, inside), places, shown) for title, places, shown in panels]
    figure = MARGINS.canvas(spec, lines.values(), spec.height, rows, [title for title, _, _ in panels])
    figure.subplots_adjust(wspace=GAP / inside)
    grid = figure.subplots(rows, across, squeeze=False).ravel()
    for axes, (title, places, shown) in zip(grid, panels, strict=False):
        for (backbone, recipe), label in lines.items():
            own = shown[(shown["backbone"] == backbone) & (shown["recipe"] == recipe)].set_index("column")
            _line(axes, own, places, shades[label], marks[label])
        axes.set_title(title)
        axes.set_xlabel(spec.x_label)
        ticks = sorted({places[column] for column in shown["column"]})
        axes.set_xticks(ticks[:: -(-len(ticks) // max(1, int(inside / TICK)))])
        axes.tick_params(labelcolor=PALE)
        axes.margins(x=0.1)
        axes.grid(axis="y")
    for axes in grid[::across]:
        axes.set_ylabel(spec.y_label)
    for axes in grid[len(panels) :]:
        axes.remove()
    write_around(figure, table, spec.model_copy(update={"title": above}), shades, marks)
    return figure


def _called(table: pd.DataFrame, spec: Columns) -> tuple[dict[tuple[str, str], str], str]:
    """(backbone, recipe) -> what its line is called, and the title: a backbone that all have is named there, once."""
    lines, backbones = systems(table), table["backbone"].unique()
    if len(lines) == 1 or len(backbones) > 1:
        return lines, spec.title
    methods = methods_of(table)
    return {line: methods[line[1]] for line in lines}, f"{spec.title}, {backbones[0]}"


def _panels(
    table: pd.DataFrame, spec: Columns, names: Mapping[str, str]
) -> Iterator[tuple[str, Mapping[str, float], pd.DataFrame]]:
    """Title, places of the columns and rows of each panel that a table has something for."""
    for title, places in spec.panels.items():
        rows = table[table["column"].isin(list(places))]
        for language in languages_of(rows) if spec.by_language else [AVERAGE]:
            shown = rows[rows["language"] == language]
            if len(shown):
                parts = (title, named(language, names) if spec.by_language else "")
                yield ", ".join(part for part in parts if part), places, shown


def _line(axes: Axes, own: pd.DataFrame, places: Mapping[str, float], colour: str, marker: str) -> None:
    """One system's points, and the paper's, hollow and without a band; columns that it lacks are left out."""
    x, values = ordered(own, places)
    if values["paper"].notna().any():
        hollow = {"mfc": "white", "mew": 0.8, "ms": 3.6, "zorder": 1.9}
        axes.plot(x, values["paper"], marker=marker, color=colour, lw=0.8, ls=":", **hollow)
    if x:
        axes.fill_between(x, values["low"], values["high"], color=colour, alpha=0.16, lw=0)
        axes.plot(x, values["value"], marker=marker, color=colour, ms=5, mec="white", mew=0.5, lw=1.4)

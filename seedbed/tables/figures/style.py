"""Shared parts of figures: fonts, colours, title, legend and note, and writing files."""

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from textwrap import fill
from typing import Any, NamedTuple, Self

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from seedbed.evaluation.significance import alpha, percent
from seedbed.io import atomic
from seedbed.tables.cells import methods_of
from seedbed.tables.figures.specs import FigureSpec
from seedbed.tables.published import AVERAGE
from seedbed.tables.specs import metric_of

INK, PALE, BAND = "#222222", "#666666", "#F1F3F5"
STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans",  # matplotlib brings it, so every machine draws the same
    "font.size": 8.5,
    "text.color": INK,
    "axes.axisbelow": True,
    "axes.edgecolor": "#BBBBBB",
    "axes.labelcolor": PALE,
    "axes.spines.left": False,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.6,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "xtick.color": PALE,
    "ytick.color": INK,
    "ytick.major.size": 0,
    "svg.fonttype": "path",
    "svg.hashsalt": "seedbed",  # without it the ids in the SVG are random
}
EDGE, LINE, TITLE = 0.12, 0.22, 0.15
"""Inches from the figure's edge to its texts, and height of a line of the legend and of a panel's title."""
LEGEND_COLUMNS = 6
"""At most; of long labels fewer fit."""
SMALL, BOLD = 0.066, 0.085
"""Inches of a letter of a note or legend, and of a panel's title."""
LABEL = 0.07
"""Inches of a letter of a row's label."""
MARK = 0.42
"""Inches of a legend's entry without its label."""
MARKERS = "osD^vPX"
"""Shapes: seven, so that with eight colours combinations repeat late."""


def axis_label(row: Mapping[str, Any]) -> str:
    """The name of a table row's metric for an axis, with the factor of its values in tables."""
    metric = metric_of(row["protocol"], row["metric"])
    return metric.heading(row["metric"]) + (" × 100" if metric.points == 100 else "")


def save(figure: Figure, svg: Path, png: Path, dpi: int) -> None:
    """Write a figure as SVG and PNG; equal figures give equal bytes."""
    with matplotlib.rc_context(STYLE):
        with atomic(svg) as temporary:
            figure.savefig(temporary, format="svg", metadata={"Date": None, "Creator": None})
        with atomic(png) as temporary:
            figure.savefig(temporary, format="png", dpi=dpi, metadata={"Software": None})


def colours(names: Iterable[str], spec: FigureSpec) -> dict[str, str]:
    """Name -> colour; a palette that is too short repeats."""
    return {name: spec.palette[place % len(spec.palette)] for place, name in enumerate(dict.fromkeys(names))}


def styles(names: Iterable[str], spec: FigureSpec) -> dict[str, tuple[str, str]]:
    """Name -> colour and marker; when the palette repeats, the marker changes."""
    shades = colours(names, spec)
    marks = [MARKERS[place // len(spec.palette) % len(MARKERS)] for place in range(len(shades))]
    return dict(zip(shades, zip(shades.values(), marks, strict=True), strict=True))


class Margins(NamedTuple):
    """Inches above the rows of panels, below them, at their sides, and between the rows."""

    head: float
    foot: float
    left: float
    right: float
    between: float = 0.0

    def beside(self, labels: Iterable[str], inches: float, further: float = 0.0) -> Self:
        """The margins with a left one in which labels of rows fit, at most half of a panel's width.

        Args:
            inches: of a panel with its margins.
            further: inches between the labels and the panel.
        """
        room = LABEL * max(map(len, labels), default=0) + EDGE + further
        return self._replace(left=max(self.left, min(room, inches / 2)))

    def canvas(
        self, spec: FigureSpec, labels: Collection[str], panel: float, rows: int = 1, titles: Iterable[str] = ()
    ) -> Figure:
        """An empty figure for panels.

        Args:
            labels: the entries of the legend.
            panel: height of a panel, in inches.
            titles: of the panels, see `wrapped`; further lines of theirs are higher margins.
        """
        more = TITLE * max((title.count("\n") for title in titles), default=0)
        head = self.head + more + LINE * -(-len(labels) // legend_columns(labels, spec.width - 2 * EDGE))
        between = self.between + more
        height = head + rows * panel + (rows - 1) * between + self.foot
        figure = Figure(figsize=(spec.width, height))
        figure.subplots_adjust(
            left=self.left / spec.width,
            right=1 - self.right / spec.width,
            top=1 - head / height,
            bottom=self.foot / height,
            hspace=between / panel,
        )
        return figure


def legend_columns(labels: Collection[str], inches: float, most: int = LEGEND_COLUMNS) -> int:
    """How many entries of a legend fit side by side into a width, at most `most`."""
    lengths, count = [len(label) for label in labels], most
    while count > 1:
        columns = np.array_split(lengths, min(count, max(len(lengths), 1)))  # as matplotlib fills them
        if sum(SMALL * column.max(initial=0) + MARK for column in columns) <= inches:
            break
        count -= 1
    return count


def wrapped(title: str, inches: float) -> str:
    """A panel's title in lines that are no longer than the panel is wide."""
    return fill(title, max(1, int(inches / BOLD)), break_on_hyphens=False)


def named(language: str, names: Mapping[str, str]) -> str:
    """A language's label: its name, else its code; "Average" for the average."""
    return "Average" if language == AVERAGE else names.get(language, language)


def ordered(rows: pd.DataFrame, places: Mapping[str, float]) -> tuple[list[float], pd.DataFrame]:
    """Positions on the x axis from left to right, and the rows of these positions in the same order.

    Args:
        rows: a table whose index has names.
        places: name -> position; names that the table lacks are left out.
    """
    points = sorted((place, name) for name, place in places.items() if name in rows.index)
    return [place for place, _ in points], rows.loc[[name for _, name in points]]


def write_beside(axes: Axes, height: float, text: str, *, left: bool = False, **style: Any) -> None:
    """Write a text next to a panel, on its right or left."""
    place = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points", "va": "center"}
    at = {"xy": (0, height), "xytext": (-4, 0), "ha": "right"} if left else {"xy": (1, height), "xytext": (3, 0)}
    axes.annotate(text, **at, **place, **style)


def draw_interval(
    axes: Axes, height: float, low: float, high: float, colour: str, *, lw: float = 2.2, alpha: float = 0.45
) -> None:
    """Draw an interval of the x axis as a pale bar; NaN draws nothing."""
    axes.plot([low, high], [height] * 2, color=colour, lw=lw, alpha=alpha, solid_capstyle="butt", zorder=2)


def marks_of(names: Iterable[str]) -> dict[str, str]:
    """Name -> marker; of more names than MARKERS they repeat."""
    return {name: MARKERS[place % len(MARKERS)] for place, name in enumerate(names)}


def write_title_and_note(figure: Figure, title: str, note: str) -> None:
    """Write a figure's title above it, and its note below."""
    width, height = figure.get_size_inches()
    figure.text(EDGE / width, 1 - EDGE / height, title, va="top", fontsize=12, fontweight="bold")
    lines = fill(note, int((width - 2 * EDGE) / SMALL))
    figure.text(EDGE / width, EDGE / height, lines, va="bottom", fontsize=7.5, color=PALE)


def write_around(
    figure: Figure,
    table: pd.DataFrame,
    spec: FigureSpec,
    legend: Mapping[str, str],
    markers: Mapping[str, str] | None = None,
) -> None:
    """Write title, legend and note.

    Args:
        legend: label -> colour.
        markers: label -> marker; without one, a dot.
    """
    width, height = figure.get_size_inches()
    first, methods = table.iloc[0], methods_of(table)
    figure.legend(
        handles=[
            Line2D([], [], marker=(markers or {}).get(label, "o"), ms=5.6, lw=2.2, color=colour, label=label)
            for label, colour in legend.items()
        ],
        loc="upper left",
        bbox_to_anchor=(EDGE / width, 1 - (EDGE + 1.5 * LINE) / height),
        borderaxespad=0,
        borderpad=0,
        ncols=legend_columns(legend, width - 2 * EDGE),
        handlelength=1.5,
        columnspacing=1.4,
    )
    note = spec.note.format(
        level=f"{percent(first['level'])}%",
        alpha=f"{alpha(first['level']):g}",
        baseline=methods.get(first["baseline"], ""),
        seeds="seeds and " if (table["seeds"] > 1).any() else "",
    )
    if table["paper"].notna().any():
        note = f"{note} {spec.paper_note}"
    write_title_and_note(figure, spec.title, note)

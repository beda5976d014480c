"""A map of translation pairs in the plane, with a line from each text to its translation; a panel for each encoder."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from seedbed.tables.figures.specs import Map
from seedbed.tables.figures.style import Margins, colours, wrapped, write_title_and_note
from seedbed.tables.figures.texts import by_encoder, finish

HEAD, SIDE, BETWEEN, FOOT = 0.66, 0.15, 0.14, 0.3
"""Inches above the panels, at their sides and between them, and below the legend."""
TITLE, LINE = 0.3, 0.2
"""Inches of a panel's title, and of a line of the legend."""
ACROSS, ENTRIES = 2, 4
"""Panels, and entries of the legend, in a row."""
HOLLOW = "white"


def draw(points: pd.DataFrame, spec: Map, names: Mapping[str, str]) -> Figure:
    """Plot a map of translation pairs: a panel for each encoder.

    Args:
        points: see `maps.read`; the label is the language of the pair that is not the pivot.
        names: language -> its name.
    """
    encoders = by_encoder(points, spec)
    shades = colours(points["label"], spec)
    rows = -(-len(encoders) // ACROSS)
    panel = (spec.width - 2 * SIDE - BETWEEN * (ACROSS - 1)) / ACROSS
    legend = LINE * -(-2 * len(shades) // ENTRIES) + 0.15
    titles = {encoder: wrapped(encoder, panel) for encoder in encoders}
    figure = Margins(HEAD, FOOT + legend, SIDE, SIDE, TITLE).canvas(spec, (), panel, rows, titles.values())
    figure.subplots_adjust(wspace=BETWEEN / panel)
    grid = figure.subplots(rows, ACROSS, squeeze=False)
    for axes in grid.flat[len(encoders) :]:
        axes.set_visible(False)
    for (encoder, own), axes in zip(encoders.items(), grid.flat, strict=False):
        _panel(axes, own, shades)
        axes.set_title(titles[encoder])
    figure.legend(
        handles=_entries(points, shades, names),
        loc="upper left",
        bbox_to_anchor=(SIDE / spec.width, (FOOT + legend - 0.1) / figure.get_figheight()),
        ncols=ENTRIES,
        handletextpad=0.4,
        columnspacing=1.6,
        borderaxespad=0,
        borderpad=0,
    )
    counts = next(iter(encoders.values())).groupby("label", sort=False)["id"].nunique()
    shown = ", ".join(f"{count} {names.get(code, code)}" for code, count in counts.items())
    note = f"{spec.note} Pairs: {shown}.".strip()
    write_title_and_note(figure, spec.title, note)
    return figure


def _panel(axes: Axes, points: pd.DataFrame, shades: Mapping[str, str]) -> None:
    """All pairs: the text filled, its translation hollow, and a line from one to the other."""
    for (language, _), pair in points.groupby(["label", "id"], sort=False):
        colour = shades[language]
        axes.plot(pair["x"], pair["y"], color=colour, lw=0.7, alpha=0.45, zorder=1)
    for language, own in points.groupby("label", sort=False):
        colour = shades[language]
        text = own["language"] == language
        style = {"marker": "o", "ls": "", "ms": 4.2, "zorder": 2}
        axes.plot(own[~text]["x"], own[~text]["y"], mfc=HOLLOW, mec=colour, mew=0.8, **style)
        axes.plot(own[text]["x"], own[text]["y"], mfc=colour, mec=HOLLOW, mew=0.4, **style)
    finish(axes)


def _entries(points: pd.DataFrame, shades: Mapping[str, str], names: Mapping[str, str]) -> list[Line2D]:
    """What colours and fillings mean: each language, and the other side of its pairs."""
    [pivot] = set(points["language"]) - {*shades} or {""}
    other = names.get(pivot, pivot) or "translation"
    return [
        Line2D([], [], marker="o", ls="", ms=5, mfc=filling or colour, mec=colour, label=label)
        for language, colour in shades.items()
        for called in [names.get(language, language)]
        for label, filling in ((called, ""), (f"{other} of {called} pairs", HOLLOW))
    ]

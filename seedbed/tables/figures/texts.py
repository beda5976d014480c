"""A map of parallel texts in the plane, coloured by sentence, language and label; a row for each encoder."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from seedbed.tables.figures.specs import Map
from seedbed.tables.figures.style import TITLE, legend_columns, styles, wrapped, write_title_and_note

BY = {"id": "by sentence", "language": "by language", "label": "by label"}
"""Column of the points -> title of the panel that is coloured by it."""
HEAD, LEFT, BETWEEN, FOOT = 0.66, 0.15, 0.14, 0.3
"""Inches above the panels, at their sides and between them, and below the legends."""
LINE, ACROSS = 0.2, 3
"""Inches of a line of the legends, and their columns at most."""


def draw(points: pd.DataFrame, spec: Map, names: Mapping[str, str]) -> Figure:
    """Plot a map: a row for each encoder, with a panel for each of BY.

    Args:
        points: see `maps.read`.
        names: language -> its name.
    """
    points = points.assign(language=points["language"].map(lambda code: names.get(code, code)))
    encoders = by_encoder(points, spec)
    panel = (spec.width - 2 * LEFT - 2 * BETWEEN) / 3
    values = {by: points[by].unique() for by in ("id", "language")} | {"label": sorted(set(points["label"]))}
    looks = {by: styles(values[by], spec) for by in BY}
    across = {by: legend_columns([*map(str, looks[by])], panel, ACROSS) for by in ("language", "label")}
    legend = LINE * max(-(-len(looks[by]) // count) for by, count in across.items()) + 0.15
    titles = {(encoder, by): wrapped(f"{encoder}, {title}", panel) for encoder in encoders for by, title in BY.items()}
    above = TITLE * max(title.count("\n") for title in titles.values())
    height = HEAD + len(encoders) * (panel + above + 0.3) + legend + FOOT
    figure = Figure(figsize=(spec.width, height))
    grid = figure.subplots(len(encoders), 3, squeeze=False)
    figure.subplots_adjust(
        left=LEFT / spec.width,
        right=1 - LEFT / spec.width,
        top=1 - (HEAD + above) / height,
        bottom=(FOOT + legend) / height,
        wspace=BETWEEN / panel,
        hspace=(0.3 + above) / panel,
    )
    for (encoder, own), row in zip(encoders.items(), grid, strict=True):
        for by, axes in zip(BY, row, strict=True):
            _panel(axes, own, by, looks[by])
            axes.set_title(titles[encoder, by])
    for place, (by, count) in enumerate(across.items(), start=1):
        _legend(grid[-1, place], looks[by], count)
    one = next(iter(encoders.values()))
    note = f"{spec.note} {one['id'].nunique()} sentences in {one['language'].nunique()} languages.".strip()
    write_title_and_note(figure, spec.title, note)
    return figure


def by_encoder(points: pd.DataFrame, spec: Map) -> dict[str, pd.DataFrame]:
    """Label of an encoder -> its points. A backbone or recipe that all share is left out of the labels; a single
    encoder is labelled with its backbone.
    """
    found = list(points.groupby(["backbone", "recipe"], sort=False))
    recipes = {recipe: spec.recipes.get(recipe, recipe) for (_, recipe), _ in found}
    several = len({backbone for (backbone, _), _ in found}) > 1 or len(recipes) == 1
    return {
        ", ".join([backbone] * several + [recipes[recipe]] * (len(recipes) > 1)): own
        for (backbone, recipe), own in found
    }


def finish(axes: Axes) -> None:
    """Give a panel a frame without ticks, and both axes the same scale."""
    axes.set(xticks=[], yticks=[])
    axes.margins(0.05)
    axes.spines[:].set_visible(True)
    axes.set_aspect("equal", adjustable="datalim")


def _panel(axes: Axes, points: pd.DataFrame, by: str, looks: Mapping[str, tuple[str, str]]) -> None:
    """All points; by sentence, each with a line to the middle of its translations."""
    for value, some in points.groupby(by, sort=False):
        colour, marker = looks[str(value)]
        if by == "id":
            for x, y in zip(some["x"], some["y"], strict=True):
                axes.plot([x, some["x"].median()], [y, some["y"].median()], color=colour, lw=0.5, alpha=0.35, zorder=1)
        axes.plot(some["x"], some["y"], marker, color=colour, ms=4.6, mec="white", mew=0.4, alpha=0.9, zorder=2)
    finish(axes)


def _legend(axes: Axes, looks: Mapping[str, tuple[str, str]], across: int) -> None:
    """What colours mean, below a panel."""
    handles = [
        Line2D([], [], marker=marker, ls="", ms=5, color=colour, label=label)
        for label, (colour, marker) in looks.items()
    ]
    place = {"loc": "upper left", "bbox_to_anchor": (0, 0), "borderaxespad": 0.6, "borderpad": 0}
    axes.legend(handles=handles, ncols=across, handlelength=0.8, handletextpad=0.4, columnspacing=0.9, **place)

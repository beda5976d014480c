"""Curves of layers: what lines are called, a panel for each language, the paper's numbers beside ours."""

from itertools import pairwise

import numpy as np
import pandas as pd

from seedbed.languages import registry
from seedbed.tables.figures.plot import plot
from seedbed.tables.figures.specs import FigureSpec
from seedbed.tables.tabulate import COLUMNS

FIGURE3, LAYERS = (FigureSpec.load(f"seedbed/resources/figures/{name}.yaml") for name in ("neighxlm_figure3", "layers"))
RECIPES = {"base": "Base Encoder", "vanilla": "Vanilla"}


def table(columns, languages=("swh", "avg"), backbones=("infoxlm",), paper=np.nan):
    """Scores of 20, 21, ... with intervals of one point to each side; the paper's are so many points higher."""
    rows = [
        {
            "backbone": backbone, "column": column, "recipe": recipe, "method": method, "language": language,
            "value": 20.0 + place, "low": 19.0 + place, "high": 21.0 + place, "paper": 20.0 + place + paper,
            "level": 0.95, "baseline": "base",
        }
        for backbone in backbones
        for recipe, method in RECIPES.items()
        for language in languages
        for place, column in enumerate(columns)
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=COLUMNS)


def seen(figure):
    """The figure's title, its legend, and the titles of its panels."""
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    return figure.texts[0].get_text(), legend, [axes.get_title(loc="left") for axes in figure.axes]


def test_the_papers_numbers_are_hollow_and_dotted_in_the_colour_of_ours():
    figure = plot(table(FIGURE3.columns, paper=3), FIGURE3, registry())
    [axes] = figure.axes
    assert len(axes.lines) == 2 * len(RECIPES) and len(axes.collections) == len(RECIPES)
    for theirs, ours in zip(axes.lines[::2], axes.lines[1::2], strict=True):
        assert list(theirs.get_ydata()) == [value + 3 for value in ours.get_ydata()]
        assert theirs.get_color() == ours.get_color() and theirs.get_linestyle() == ":"
        assert theirs.get_markerfacecolor() == "white" != ours.get_markerfacecolor()
    assert any(" ".join(text.get_text().split()).endswith(FIGURE3.paper_note) for text in figure.texts)
    assert list(axes.get_xticks()) == list(range(1, 13))


def test_a_backbone_that_all_lines_have_is_named_once():
    title, legend, panels = seen(plot(table(FIGURE3.columns), FIGURE3, registry()))
    assert (title, legend, panels) == (f"{FIGURE3.title}, infoxlm", [*RECIPES.values()], ["Tatoeba"])
    title, legend, _ = seen(plot(table(FIGURE3.columns, backbones=("a", "b")), FIGURE3, registry()))
    assert title == FIGURE3.title and legend == [f"{name}, {method}" for name in "ab" for method in RECIPES.values()]


def test_a_language_has_a_panel_of_its_own_and_numbers_below_it_that_do_not_meet():
    languages = ("swh", "hin", "tel", "avg")
    figure = plot(table([f"L{layer}" for layer in range(1, 25)], languages), LAYERS, registry())
    assert seen(figure)[2] == ["Swahili", "Hindi", "Telugu", "Average"]
    figure.draw_without_rendering()
    for axes in figure.axes:
        below = [label.get_window_extent() for label in axes.get_xticklabels()]
        assert len(below) >= 8 and not any(one.overlaps(other) for one, other in pairwise(below))

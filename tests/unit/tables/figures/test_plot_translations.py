"""Maps of pairs: a panel for each encoder, a line for each pair, and what colours and fillings mean."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from seedbed.languages import registry
from seedbed.tables.figures.plot import plot
from seedbed.tables.figures.specs import FigureSpec

SPEC = FigureSpec.load("seedbed/resources/figures/neighxlm_figure5.yaml")
RECIPES = list(SPEC.recipes)


def points(recipes, backbones=("infoxlm",)):
    """Five pairs of Swahili and three of French, whose ids are the same, drawn at random."""
    rows = [
        {"backbone": backbone, "recipe": recipe, "id": str(id), "language": side, "label": code}
        for backbone in backbones
        for recipe in recipes
        for code, count in (("swh", 5), ("fra", 3))
        for id in range(count)
        for side in (code, "eng")
    ]
    x, y = np.random.default_rng(0).normal(size=(2, len(rows)))
    return pd.DataFrame(rows).assign(x=x, y=y)


def drawn(axes):
    """Every point of a panel, with its two colours, and the ends of every line with its colour."""
    dots = {
        (x, y): (to_hex(line.get_markerfacecolor()).upper(), to_hex(line.get_markeredgecolor()).upper())
        for line in axes.lines
        if line.get_marker() != "None"
        for x, y in zip(*line.get_data(), strict=True)
    }
    lines = {
        frozenset(zip(*line.get_data(), strict=True)): line.get_color().upper()
        for line in axes.lines
        if line.get_marker() == "None"
    }
    return dots, lines


def test_a_line_joins_the_two_sides_of_each_pair_in_the_colour_of_its_language():
    table = points(RECIPES)
    figure = plot(table, SPEC, registry())
    colour = dict(zip(("swh", "fra"), SPEC.palette, strict=False))
    assert [axes.get_title(loc="left") for axes in figure.axes] == list(SPEC.recipes.values())
    for axes, recipe in zip(figure.axes, RECIPES, strict=True):
        own = table[table["recipe"] == recipe]
        dots, lines = drawn(axes)
        assert len(dots) == 16 and len(lines) == 8
        for (language, _), pair in own.groupby(["label", "id"]):
            text, pivot = [*zip(pair["x"], pair["y"], strict=True)]
            assert lines[frozenset([text, pivot])] == colour[language]
            assert dots[text] == (colour[language], "#FFFFFF") and dots[pivot] == ("#FFFFFF", colour[language])


def test_the_legend_names_both_sides_and_the_note_counts_the_pairs():
    figure = plot(points(RECIPES), SPEC, registry())
    entries = figure.legends[0].get_texts()
    named = ["Swahili", "English of Swahili pairs", "French", "English of French pairs"]
    assert [entry.get_text() for entry in entries] == named
    fillings = [line.get_markerfacecolor() for line in figure.legends[0].get_lines()]
    assert fillings == [SPEC.palette[0], "white", SPEC.palette[1], "white"]
    assert any(text.get_text().endswith("Pairs: 5 Swahili, 3 French.") for text in figure.texts)


@pytest.mark.parametrize(
    ("recipes", "backbones", "titles"),
    [
        (RECIPES[:1], ["infoxlm"], ["infoxlm"]),
        (RECIPES[:1], ["infoxlm", "xlmr"], ["infoxlm", "xlmr"]),
        (RECIPES, ["a", "b"], [f"{name}, {label}" for name in "ab" for label in SPEC.recipes.values()]),
        (["other", RECIPES[0]], ["a"], ["other", "Base Encoder"]),
    ],
)
def test_panels_are_named_by_what_tells_encoders_apart(recipes, backbones, titles):
    figure = plot(points(recipes, backbones), SPEC, registry())
    assert [axes.get_title(loc="left") for axes in figure.axes if axes.get_visible()] == titles


def test_nothing_overlaps():
    figure = plot(points(RECIPES, ["a", "b"]), SPEC, registry())
    figure.draw_without_rendering()
    panels = [axes.get_tightbbox() for axes in figure.axes]
    texts = [*(text.get_window_extent() for text in figure.texts), figure.legends[0].get_window_extent()]
    boxes = [*panels, *texts]
    assert not any(one.overlaps(other) for place, one in enumerate(boxes) for other in boxes[:place])
    assert all(min(box.x0, box.y0) >= 0 and box.x1 <= figure.bbox.x1 for box in boxes)


def test_a_map_of_texts_by_several_recipes_has_a_row_for_each():
    spec = FigureSpec.load("seedbed/resources/figures/miners_map.yaml")
    spec = spec.model_copy(update={"recipes": {"one": "First", "two": "Second"}})
    figure = plot(points(["one", "two"]), spec, registry())
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == [
        f"{name}, by {what}" for name in ("First", "Second") for what in ("sentence", "language", "label")
    ]

"""Figure 2 of paper 004: what a recipe gains over others, by the languages of pairs."""

import numpy as np
import pandas as pd
import pytest

from seedbed.io import UserError
from seedbed.languages import registry
from seedbed.tables.figures.members import gains
from seedbed.tables.figures.plot import plot
from seedbed.tables.figures.specs import FigureSpec
from seedbed.tables.tabulate import COLUMNS

SPEC = FigureSpec.load("seedbed/resources/figures/modular_figure2.yaml")
PAIRS = ["eng-kaz", "eng-hau", "hau-kaz", "hau-hin-Latn", "avg"]
VALUES = {"multi-mc": [30, 36, 40, 26, 33], "multi-m": [25, 30, 32, 26, 28], "single-m": [30, 24, 50, 13, 29]}


def scores(**changes):
    """A table as tabulate writes it."""
    rows = [
        {
            "backbone": "LaBSE", "column": "Belebele, pairs", "recipe": recipe, "method": recipe, "language": pair,
            "value": value, "paper": np.nan if pair == "hau-kaz" else value, "level": 0.95, "baseline": "multi-m",
        }
        for recipe, values in VALUES.items()
        for pair, value in zip(PAIRS, values, strict=True)
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=COLUMNS).assign(**changes)


def test_a_gain_is_of_the_means_over_all_pairs_with_a_language():
    table = scores()
    found = gains(table[table["language"] != "avg"], SPEC)
    for recipe in SPEC.over:
        assert found[f"{recipe} pairs"].to_dict() == {"eng": 2, "kaz": 2, "hau": 3, "hin-Latn": 1}
    assert found.loc["kaz", "multi-m"] == pytest.approx(100 * (70 / 57 - 1))
    assert found.loc["hau", "single-m"] == pytest.approx(100 * ((36 + 40 + 26) / (24 + 50 + 13) - 1))
    assert found.loc["kaz", "multi-m paper"] == pytest.approx(100 * (30 / 25 - 1)), "of the pair that can be read"
    assert list(found["multi-m"]) == sorted(found["multi-m"], reverse=True)


@pytest.mark.parametrize("low", [0, -5])
def test_there_is_no_gain_over_a_mean_that_is_not_positive(low):
    """20 points instead of -5 were a bar of 500 percent less, and instead of 0 one without an end."""
    table = scores()
    table.loc[(table["recipe"] == "single-m") & (table["language"] == "hau-hin-Latn"), ["value", "paper"]] = low
    found = gains(table[table["language"] != "avg"], SPEC)
    assert found.loc["hin-Latn", ["single-m", "single-m paper"]].isna().all()
    assert found["multi-m"].notna().all() and found["single-m"].notna().sum() == 3


def test_the_figure_has_a_bar_for_each_language_and_recipe():
    figure = plot(scores(), SPEC, registry())
    (axes,) = figure.axes
    assert axes.get_title(loc="left") == "Belebele, pairs, LaBSE"
    assert [label.get_text() for label in axes.get_yticklabels()] == ["Kazakh", "English", "Hausa", "Hinglish"]
    assert [bar.get_width() for bar in axes.patches][:2] == pytest.approx([100 * (70 / 57 - 1), 100 * (70 / 80 - 1)])
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["over multi-m", "over single-m"]


def test_pairs_that_lack_a_recipe_are_not_counted():
    table = scores()
    lacking = table["language"].isin(["eng-hau", "hau-hin-Latn"]) & (table["recipe"] == "multi-m")
    figure = plot(table[~lacking], SPEC, registry())
    (axes,) = figure.axes
    order = [label.get_text() for label in axes.get_yticklabels()]
    told = dict(zip(order, (text.get_text() for text in axes.texts), strict=True))
    assert told == {"Kazakh": "2 pairs", "English": "1, 2 pairs", "Hausa": "1, 3 pairs", "Hinglish": "0, 1 pairs"}


def test_a_recipe_that_the_table_lacks_is_left_out():
    table = scores()
    figure = plot(table[table["recipe"] != "single-m"], SPEC, {})
    assert len(figure.axes[0].patches) == 4


@pytest.mark.parametrize(
    ("recipe", "bars", "columns"),
    [
        ("multi-m", 4, ["Belebele, pairs", "Other"]),
        ("single-m", 4, ["Belebele, pairs", "Other"]),
        ("multi-mc", 0, ["Belebele, pairs"]),
    ],
)
def test_a_recipe_that_one_column_lacks_has_no_bars_in_its_panel(recipe, bars, columns):
    table = pd.concat([scores(), scores(column="Other")])
    lacking = (table["column"] == "Other") & (table["recipe"] == recipe)
    figure = plot(table[~lacking], SPEC, {})
    assert [axes.get_title(loc="left") for axes in figure.axes] == [f"{column}, LaBSE" for column in columns]
    for axes, expected in zip(figure.axes, (8, bars), strict=False):
        assert sum(np.isfinite(bar.get_width()) for bar in axes.patches) == expected


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (scores(language="kaz"), "pairs of languages; the table has kaz"),
        (scores(recipe="base"), "multi-m or single-m; the table has base"),
        (
            pd.concat([scores()[lambda t: t["recipe"] != "multi-mc"], scores(column="Other", recipe="multi-mc")]),
            "multi-m or single-m; the table has multi-m, single-m, multi-mc",
        ),
    ],
)
def test_a_table_without_pairs_or_recipe_is_refused(table, message):
    with pytest.raises(UserError, match=message):
        plot(table, SPEC, {})

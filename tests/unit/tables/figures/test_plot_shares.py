"""LiRA's figures: shares with intervals beside what chance would give, and quantiles as points of lines."""

import numpy as np
import pandas as pd
import pytest

from seedbed.io import UserError
from seedbed.languages import registry
from seedbed.resources import resource
from seedbed.tables.figures.plot import plot
from seedbed.tables.figures.specs import FigureSpec
from seedbed.tables.specs import TableSpec
from seedbed.tables.tabulate import COLUMNS

FIGURES = {number: FigureSpec.load(resource(f"figures/lira_figure{number}.yaml")) for number in (4, 5, 9, 10)}
SHARES = FIGURES[10]
RECIPES = {"lira": "actor", "judge": "judge"}
EVEN = 25.0


def table(columns, languages=("hau", "avg"), recipes=RECIPES, backbone="Qwen3-Embedding-8B"):
    """Rows of 20, 21, ... with intervals of two to each side; the paper's numbers are three higher; uniform is EVEN."""
    rows = [
        {
            "backbone": backbone, "column": column, "recipe": recipe, "method": method, "language": language,
            "value": EVEN if column.endswith("uniform") else 20.0 + place, "low": 18.0 + place, "high": 22.0 + place,
            "paper": np.nan if column.endswith("uniform") else 23.0 + place, "level": 0.95, "baseline": "lira",
        }
        for recipe, method in recipes.items()
        for language in languages
        for place, column in enumerate(columns)
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=COLUMNS)


def of(title):
    return [*SHARES.panels[title], SHARES.uniform[title]]


def test_each_share_has_its_dot_and_interval_beside_the_line_of_chance():
    figure = plot(table(of("MGSM")), SHARES, registry())
    [axes] = figure.axes
    assert axes.get_title(loc="left") == "MGSM"
    assert [label.get_text() for label in axes.get_yticklabels()] == [*SHARES.panels["MGSM"].values()]
    even, *lines = axes.lines
    assert list(even.get_xdata()) == [EVEN, EVEN] and even.get_linestyle() == ":"
    assert len(lines) == 3 * 4 * len(RECIPES), "an interval, the paper's number and ours"
    bars = [line for line in lines if len(line.get_xdata()) == 2]
    assert [line.get_xdata().tolist() for line in bars][::2] == [[18.0 + n, 22.0 + n] for n in range(4)]
    ours = [line.get_xdata()[0] for line in lines if line.get_markersize() == 5.2]
    assert sorted(ours) == [20, 20, 21, 21, 22, 22, 23, 23]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["actor", "judge", "uniform"]
    heights = [line.get_ydata()[0] for line in bars]
    assert len({*heights}) == len(heights), "no two lie on one another"


def test_panels_and_parts_that_a_study_lacks_are_left_out():
    few = [column for title in ("MLQARetrieval", "MGSM") for column in of(title) if "gemma" not in column]
    figure = plot(table(few, languages=["hau"]), SHARES, registry())
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["MLQARetrieval", "MGSM"]
    assert len(figure.axes[0].get_yticklabels()) == 3
    with pytest.raises(UserError, match="averages over languages"):
        plot(table(few, languages=["hau", "ind"]), SHARES, registry())
    with pytest.raises(UserError, match="none of its columns"):
        plot(table(["another"]), SHARES, registry())


def test_without_a_column_of_chance_there_is_no_line():
    figure = plot(table(SHARES.panels["MGSM"]), SHARES, registry())
    assert all(line.get_linestyle() != ":" for line in figure.axes[0].lines)


@pytest.mark.parametrize("number", FIGURES)
def test_every_column_of_a_figure_is_its_tables(number):
    spec = FIGURES[number]
    labels = [column.label for column in TableSpec.load(resource(f"tables/{spec.table}.yaml")).columns]
    assert {*spec.columns} <= {*labels}
    assert all(column in labels for column in getattr(spec, "uniform", {}).values())
    assert plot(table(labels), spec, registry()).axes


def test_shares_need_a_column_of_chance_for_each_panel(tmp_path):
    file = tmp_path / "wrong.yaml"
    file.write_text(
        "kind: shares\ntable: t\ntitle: T\npanels: {a: {x: X}, b: {y: Y}}\nuniform: {a: u}\npalette: ['#000000']\n"
    )
    with pytest.raises(UserError, match=r"uniform:.*column.*expected a, b"):
        FigureSpec.load(file)

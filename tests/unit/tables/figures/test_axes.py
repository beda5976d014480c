"""What stands at the axes of each kind of figure."""

import pandas as pd
import pytest
from matplotlib.figure import Figure

from seedbed.languages import registry
from seedbed.resources import resource
from seedbed.tables.figures.plot import plot
from seedbed.tables.figures.specs import FigureSpec
from seedbed.tables.specs import TableSpec
from seedbed.tables.tabulate import COLUMNS

FIGURES = [
    ("bootstrapping_figure10", {"lambda"}, {"Spearman × 100"}),
    ("bootstrapping_figure7", {"Uniformity"}, {"Alignment"}),
    ("bootstrapping_figure5", {"Dice × 100"}, {""}),
    ("miners_figure2", {"k"}, {"mean over data sets × 100", ""}),
    ("miners_figure6", {"accuracy × 100"}, {""}),
    ("modular_figure2", {"accuracy, % more"}, {""}),
    ("lira_figure10", {"percent of texts"}, {""}),
    ("neighxlm_figure6", {"Accuracy × 100"}, {""}),
]
"""A figure of each kind, and what its axes are called, x and y; only the first of a row has a y axis."""


def drawn(name: str, seeds: int = 2) -> Figure:
    """A shipped figure of made-up scores."""
    spec = FigureSpec.load(resource(f"figures/{name}.yaml"))
    table = TableSpec.load(resource(f"tables/{spec.table}.yaml"))
    rows = [
        {
            "backbone": backbone, "column": label, "protocol": column.protocol, "metric": column.metric, "recipe": recipe, "method": method,
            "language": language, "value": 50.0, "low": 48.0, "high": 52.0, "level": 0.95, "n": 90, "seeds": seeds,
        }
        for backbone in spec.backbones or ("one",)
        for label, column in table.columns_and_means.items()
        for recipe, method in table.recipes.items()
        for language in (("eng-kaz", "hau-kaz") if spec.kind == "members" else ("hau", "ind", "avg"))
    ]  # fmt: skip
    return plot(pd.DataFrame(rows, columns=COLUMNS), spec, registry())


@pytest.mark.parametrize(("name", "x", "y"), FIGURES)
def test_axes_say_what_is_measured(name: str, x: set[str], y: set[str]) -> None:
    figure = drawn(name)
    assert {axes.get_xlabel() for axes in figure.axes} == x
    assert {axes.get_ylabel() for axes in figure.axes} == y


@pytest.mark.parametrize(("seeds", "what"), [(1, "over items"), (2, "over seeds and items")])
def test_the_note_says_what_intervals_are_over(seeds: int, what: str) -> None:
    figure = drawn("table1", seeds)
    assert any(f"intervals {what}." in " ".join(text.get_text().split()) for text in figure.texts)

"""Gains of one recipe over others on language pairs: a row for each language, with the mean over all its pairs."""

import math
from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from seedbed.names import languages_of
from seedbed.tables.cells import methods_of
from seedbed.tables.figures.specs import Members
from seedbed.tables.figures.style import INK, PALE, Margins, colours, named, write_around, write_beside
from seedbed.tables.published import AVERAGE

MARGINS = Margins(head=0.85, foot=0.85, left=1.35, right=0.6, between=0.75)
GAP = 0.8
"""Distance between two languages, in bars."""


def draw(table: pd.DataFrame, spec: Members, names: Mapping[str, str]) -> Figure:
    """Plot a table: a panel for each backbone and column that has a gain; languages are sorted by the first gain."""
    panels = {
        where: gains(rows, spec)
        for where, rows in table[table["language"] != AVERAGE].groupby(["backbone", "column"], sort=False)
        if has_gain(rows, spec)
    }
    methods = methods_of(table)
    over = [recipe for recipe in spec.over if recipe in methods]
    shades = colours(over, spec)
    deepest = max(len(panel) for panel in panels.values())
    legend = {f"over {methods[recipe]}": shades[recipe] for recipe in over}
    margins = MARGINS.beside((named(code, names) for panel in panels.values() for code in panel.index), spec.width)
    figure = margins.canvas(spec, legend, spec.spacing * (len(over) + GAP) * deepest, len(panels))
    grid = figure.subplots(len(panels), 1, squeeze=False, sharex=True).ravel()
    for axes, ((backbone, column), panel) in zip(grid, panels.items(), strict=True):
        _panel(axes, panel, over, shades, names)
        axes.set_title(f"{column}, {backbone}")
        axes.set_ylim(deepest * (len(over) + GAP) - GAP, -GAP)
        axes.set_xlabel(spec.x_label)
    write_around(figure, table, spec, legend)
    return figure


def has_gain(rows: pd.DataFrame, spec: Members) -> bool:
    """Whether the rows of one backbone and column have `spec.recipe` and a recipe of `spec.over`."""
    recipes = {*rows["recipe"]}
    return spec.recipe in recipes and not recipes.isdisjoint(spec.over)


def gains(rows: pd.DataFrame, spec: Members) -> pd.DataFrame:
    """Gains of `spec.recipe` over each recipe of `spec.over`, in percent of that one's mean over the same pairs.

    Args:
        rows: rows of one backbone and column, one for each recipe and pair, see `has_gain`.

    Returns:
        A row for each language, sorted by the first gain: for each recipe the gain, `{recipe} pairs`, the number of
            pairs that have both, and `{recipe} paper`, the gain over the pairs of which the paper has both numbers. Of
            a recipe without rows, or with a mean of 0 or less, the gains are NaN.
    """
    ours, papers = (
        rows.pivot(index="language", columns="recipe", values=name).reindex(columns=[spec.recipe, *spec.over])
        for name in ("value", "paper")
    )
    members = {code for pair in ours.index for code in languages_of(pair)}
    found = []
    for code in sorted(members):
        own = [pair for pair in ours.index if code in languages_of(pair)]
        row = {"language": code}
        for recipe in spec.over:
            both, printed = (values.loc[own, [spec.recipe, recipe]].dropna() for values in (ours, papers))
            row[f"{recipe} pairs"] = len(both)
            for name, means in ((recipe, both.mean()), (f"{recipe} paper", printed.mean())):
                part = means[spec.recipe] / means[recipe] if means[recipe] > 0 else math.nan
                row[name] = 100 * (part - 1)
        found.append(row)
    first = next(recipe for recipe in spec.over if ours[recipe].notna().any())
    return pd.DataFrame(found).set_index("language").sort_values(first, ascending=False, kind="stable")


def _panel(
    axes: Axes, panel: pd.DataFrame, over: list[str], shades: Mapping[str, str], names: Mapping[str, str]
) -> None:
    """Bars of each language, the paper's gain as a hollow dot, and how many pairs a bar is the mean of: `3, 2 pairs`
    where bars differ in it."""
    heights = {code: place * (len(over) + GAP) for place, code in enumerate(panel.index)}
    middle = (len(over) - 1) / 2
    for code, height in heights.items():
        for place, recipe in enumerate(over):
            axes.barh(height + place, panel.loc[code, recipe], height=0.86, color=shades[recipe])
            axes.plot(panel.loc[code, f"{recipe} paper"], height + place, "o", ms=4, color=INK, mfc="white", mew=0.8)
        counts = [f"{panel.loc[code, f'{recipe} pairs']:.0f}" for recipe in over]
        told = ", ".join(counts if len({*counts}) > 1 else counts[:1])
        told += " pair" if told == "1" else " pairs"
        write_beside(axes, height + middle, told, fontsize=6.5, color=PALE)
    axes.axvline(0, color=PALE, lw=0.8)
    axes.set_yticks([height + middle for height in heights.values()], [named(code, names) for code in heights])
    axes.grid(axis="x")

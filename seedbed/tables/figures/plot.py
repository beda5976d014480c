"""Plotting a table, or a map, in the form that its spec names."""

from collections.abc import Callable, Mapping
from typing import Any

import matplotlib
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.text import Text

from seedbed.io import UserError
from seedbed.names import languages_of
from seedbed.tables.figures import columns, curve, dots, groups, members, pairs, plane, shares, texts, translations
from seedbed.tables.figures.specs import Columns, Curve, FigureSpec, Groups, Map, Members, Shares
from seedbed.tables.figures.style import STYLE
from seedbed.tables.published import AVERAGE

KINDS: dict[str, Callable[[pd.DataFrame, Any, Mapping[str, str]], Figure]] = {
    "dots": dots.draw,
    "curve": curve.draw,
    "plane": plane.draw,
    "pairs": pairs.draw,
    "columns": columns.draw,
    "groups": groups.draw,
    "members": members.draw,
    "shares": shares.draw,
    "map": lambda points, spec, names: (translations if spec.map.pairs else texts).draw(points, spec, names),
}


def plot(data: pd.DataFrame, spec: FigureSpec, facts: Mapping[str, Mapping[str, str]]) -> Figure:
    """Plot a table, or a map.

    Args:
        data: the table as `tabulate.read` returns it, or the points of `seedbed.evaluation.maps.read`.
        facts: language code -> its name, family and script; without a name the code is printed.

    Raises:
        UserError: the table has none of the spec's backbones, columns or recipes; a plane has not two columns; groups
            have no language, members no pair or recipe, lines over columns and shares no average.
    """
    by = spec.by if isinstance(spec, Groups) else "name"
    names = {code: known.get(by, "") for code, known in facts.items()}
    shown = data if isinstance(spec, Map) else _shown(data, spec)
    with matplotlib.rc_context(STYLE):
        figure = KINDS[spec.kind](shown, spec, names)
    for text in figure.findobj(Text):
        if "$" in text.get_text():  # of people; matplotlib's own numbers are written when it is saved
            text.set_parse_math(False)
    return figure


def _shown(table: pd.DataFrame, spec: FigureSpec) -> pd.DataFrame:
    """The part of a table that a figure draws; UserError: there is none."""
    where = f"figure {spec.title!r}"
    shown = table[table["backbone"].isin(spec.backbones)] if spec.backbones else table
    if shown.empty:
        raise UserError(
            f"{where}: no backbone {', '.join(spec.backbones)} in the table; it has {_distinct(table, 'backbone')}"
        )
    if spec.kind == "plane" and shown["column"].nunique() != 2:
        raise UserError(f"{where}: a plane takes 2 columns; the table has {shown['column'].nunique()}")
    if spec.kind == "groups" and (shown["language"] == AVERAGE).all():
        raise UserError(f"{where}: groups are of languages; the table has but averages over them")
    if isinstance(spec, Members):
        _require_members(shown, spec, where)
    own = shown[shown["column"].isin(spec.columns)] if spec.columns else shown
    if own.empty:
        raise UserError(f"{where}: none of its columns in the table; it has {_distinct(shown, 'column')}")
    points = {recipe for each in spec.series.values() for recipe in each} if isinstance(spec, Curve) else set()
    if points and not shown["recipe"].isin(points).any():
        raise UserError(f"{where}: none of its recipes in the table; it has {_distinct(shown, 'recipe')}")
    several = isinstance(spec, Shares) and own["language"].nunique() > 1
    if (several or (isinstance(spec, Columns) and not spec.by_language)) and not (own["language"] == AVERAGE).any():
        lacking = "it shows averages over languages, and no recipe of its columns is scored in all of them"
        raise UserError(f"{where}: {lacking}; give one that is, or `by_language: true` to a figure of kind columns")
    return shown


def _require_members(shown: pd.DataFrame, spec: Members, where: str) -> None:
    """UserError: a table of no pairs, or of which no panel has a gain."""
    languages = [language for language in shown["language"].unique() if language != AVERAGE]
    if not languages or any(len(languages_of(language)) < 2 for language in languages):
        raise UserError(f"{where}: members are of pairs of languages; the table has {', '.join(languages[:3])}")
    if not any(members.has_gain(rows, spec) for _, rows in shown.groupby(["backbone", "column"])):
        raise UserError(
            f"{where}: {spec.recipe} over {' or '.join(spec.over)}; the table has {_distinct(shown, 'recipe')}"
        )


def _distinct(table: pd.DataFrame, name: str) -> str:
    return ", ".join(table[name].unique())

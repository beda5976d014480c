"""A figure of a table, or of a map, in the form that its spec names."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import matplotlib
import pandas as pd
from matplotlib.figure import Figure

from seedbed.io import UserError
from seedbed.tables.figures import columns, curve, dots, groups, pairs, plane, texts
from seedbed.tables.figures.style import STYLE
from seedbed.tables.published import AVERAGE
from seedbed.tables.specs import FigureSpec

KINDS: dict[str, Callable[[pd.DataFrame, FigureSpec, Mapping[str, str]], Figure]] = {
    "dots": dots.draw,
    "curve": curve.draw,
    "plane": plane.draw,
    "pairs": pairs.draw,
    "columns": columns.draw,
    "groups": groups.draw,
    "map": texts.draw,
}


def plot(data: pd.DataFrame, spec: FigureSpec, facts: Mapping[str, Mapping[str, str]]) -> Figure:
    """Draw a table, or a map.

    Args:
        data: as `tabulate.read` gives it, or as `seedbed.evaluation.maps.read` does.
        facts: code -> name, family and script of the languages; one without a name is labelled with its code.

    Raises:
        UserError: the table has none of the spec's backbones or columns, a plane has not two columns, or groups have
            no language.
    """
    names = {code: known.get(spec.by or "name", "") for code, known in facts.items()}
    shown = data if spec.kind == "map" else _shown(data, spec)
    with matplotlib.rc_context(STYLE):
        return KINDS[spec.kind](shown, spec, names)


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
    wanted = [column for each in (*spec.pairs.values(), *spec.panels.values()) for column in each]
    if wanted and not shown["column"].isin(wanted).any():
        raise UserError(f"{where}: none of its columns in the table; it has {_distinct(shown, 'column')}")
    return shown


def _distinct(table: pd.DataFrame, name: str) -> str:
    return ", ".join(table[name].unique())

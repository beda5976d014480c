"""A figure of a table, in the form that its spec names."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import matplotlib
import pandas as pd
from matplotlib.figure import Figure

from seedbed.io import UserError
from seedbed.tables.figures import curve, dots, pairs, plane
from seedbed.tables.figures.style import STYLE
from seedbed.tables.specs import FigureSpec

KINDS: dict[str, Callable[[pd.DataFrame, FigureSpec, Mapping[str, str]], Figure]] = {
    "dots": dots.draw,
    "curve": curve.draw,
    "plane": plane.draw,
    "pairs": pairs.draw,
}


def plot(table: pd.DataFrame, spec: FigureSpec, names: Mapping[str, str]) -> Figure:
    """Draw a table.

    Args:
        table: as `tabulate.read` gives it.
        names: code -> name of the languages; one without a name is labelled with its code.

    Raises:
        UserError: the table has none of the spec's backbones, a plane has not two columns, or pairs none of theirs.
    """
    shown = table[table["backbone"].isin(spec.backbones)] if spec.backbones else table
    if shown.empty:
        raise UserError(
            f"figure {spec.title!r}: no backbone {', '.join(spec.backbones)} in the table; "
            f"it has {', '.join(table['backbone'].unique())}"
        )
    if spec.kind == "plane" and shown["column"].nunique() != 2:
        raise UserError(f"figure {spec.title!r}: a plane takes 2 columns; the table has {shown['column'].nunique()}")
    wanted = [column for sides in spec.pairs.values() for column in sides]
    if wanted and not shown["column"].isin(wanted).any():
        raise UserError(f"figure {spec.title!r}: none of its columns in the table; it has {_columns(shown)}")
    with matplotlib.rc_context(STYLE):
        return KINDS[spec.kind](shown, spec, names)


def _columns(table: pd.DataFrame) -> str:
    return ", ".join(table["column"].unique())

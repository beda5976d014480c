"""Values inside objects of a row, under dotted names such as `question.choices.text`."""

import json
from typing import Any

import numpy as np
import pandas as pd

from seedbed.corpora.settings import Source


def names_in(source: Source) -> list[str]:
    """The dotted names among the columns that a source names."""
    named = [name for names in source.columns.values() for name in (names if isinstance(names, list) else [names])]
    return [name for name in dict.fromkeys([*named, *source.where, *source.divide]) if "." in str(name).strip(".")]


def add_nested_columns(rows: pd.DataFrame, source: Source) -> pd.DataFrame:
    """Add a column for each dotted name of a source that leads into the rows' objects.

    Lists become JSON, also the values in each of a list of objects. Rows without the value have an empty cell, so all
    rows do whose objects are null. A column whose own name has a dot is taken as it is.
    """
    paths = {name: name.split(".") for name in names_in(source) if name not in rows.columns}
    found = {
        name: pd.Series([_cell(_value_at(cell, rest)) for cell in rows[first]], index=rows.index, dtype=object)
        for name, (first, *rest) in paths.items()
        if first in rows.columns and (rows[first].isna().all() or any(isinstance(cell, dict) for cell in rows[first]))
    }
    return rows.assign(**found)


def _value_at(cell: Any, path: list[str]) -> Any:
    if isinstance(cell, np.ndarray) and cell.dtype.kind in "biuf":
        cell = cell.tolist()  # numpy's own numbers and truth values are none of JSON's
    if isinstance(cell, list | np.ndarray):
        return [_value_at(one, path) for one in cell]
    if not path or not isinstance(cell, dict):
        return None if path else cell
    return _value_at(cell.get(path[0]), path[1:])


def _cell(value: Any) -> str | None:
    """A list as JSON, if it has only texts and numbers; an object is no text, and NaN a null."""
    if isinstance(value, list):
        plain = all(isinstance(one, str | int | float) and one == one for one in value)
        return json.dumps(value, ensure_ascii=False) if plain else None
    return None if value is None or isinstance(value, dict) else str(value)

"""A map of parallel texts: which are drawn for it, and the table of their places in the plane."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from seedbed.io import UserError, read_table, write_table

POINTS = ["backbone", "recipe", "id", "language", "label", "x", "y"]


def sample(sets: Mapping[str, pd.DataFrame], count: int, seed: int) -> pd.DataFrame:
    """Draw about `count` texts: whole ids, each with its text in every language.

    Args:
        sets: language -> `id`, `text` and `label`; texts that mean the same have one id. A greater count draws the same
            ids and more, all of them if there are not enough.

    Returns:
        `id`, `language`, `text` and `label`, id by id, in the order of the first set.

    Raises:
        UserError: the languages share no id.
    """
    first, *others = sets.values()
    shared = first["id"][first["id"].isin(set(first["id"]).intersection(*(other["id"] for other in others)))]
    if shared.empty:
        raise UserError(
            f"map: the training sets of {', '.join(sets)} have no id in common; "
            "texts that mean the same need one id in all languages"
        )
    wanted = max(1, round(count / len(sets)))
    drawn = np.sort(np.random.default_rng(seed).permutation(len(shared))[:wanted])
    texts = pd.concat([table.assign(language=language) for language, table in sets.items()])
    parts = texts.set_index("id").loc[shared.iloc[drawn]].reset_index()
    return parts[["id", "language", "text", "label"]]


def write(drawn: pd.DataFrame, places: NDArray[np.float64], backbone: str, recipe: str, path: Path) -> None:
    """Write POINTS of texts (n) as `sample` draws them, at their places (n, 2)."""
    x, y = ([f"{value:.3f}" for value in axis] for axis in places.T)
    write_table(drawn.assign(backbone=backbone, recipe=recipe, x=x, y=y)[POINTS], path)


def read(paths: Sequence[Path]) -> pd.DataFrame:
    """POINTS of several maps, one below the other, x and y as numbers.

    Raises:
        UserError: as `read_table`.
    """
    points = pd.concat([read_table(path, POINTS, unique=None) for path in paths], ignore_index=True)
    return points.astype({"x": float, "y": float})

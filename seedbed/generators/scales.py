"""The scale of a composition (lambda of paper 000, equation 2), chosen on a development task."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from seedbed import manifests
from seedbed.choices import best
from seedbed.io import UserError, read_json


def choose(dev: str, lists: Mapping[float, Mapping[str, Path]]) -> dict[str, Any]:
    """The scale whose encoders score best on a development task; among equally good ones the first.

    Args:
        dev: the task.
        lists: scale -> language -> the list of scores (`manifests.write_list`) of the encoders that try it.

    Returns:
        `dev`, `scale`, and `candidates`, a record of each as of `choices.best`.

    Raises:
        UserError: a list that is none, or without a score of the task; scales that are scored in different languages.
    """
    scores = [
        {code: _mean(dev, code, path) for code, path in sorted(by_language.items())} for by_language in lists.values()
    ]
    if len({tuple(found) for found in scores}) > 1:
        each = "; ".join(f"{scale:g}: {', '.join(sorted(given))}" for scale, given in lists.items())
        raise UserError(f"{dev}: scales are scored in {each}; give scores in the same languages for each")
    scale, candidates = best("scale", list(lists), scores)
    return {"dev": dev, "scale": scale, "candidates": candidates}


def chosen(file: Path) -> float:
    """The scale that a file of `choose` says was chosen; a UserError if it is none."""
    found = read_json(file)
    scale = found.get("scale") if isinstance(found, dict) else None
    if not isinstance(scale, int | float):
        raise UserError(f"{file}: no `scale` in it; delete it and run Snakemake again, which makes it again")
    return float(scale)


def _mean(dev: str, code: str, path: Path) -> float:
    """Of the main scores of a list's encoders."""
    files = [path.parent / name for name in manifests.read(path)["files"] if name.endswith(f"/{dev}/{code}.json")]
    if not files:
        raise UserError(f"{path}: no score on {dev} in {code}")
    return float(np.mean([read_json(file)["main_score"] for file in files]))

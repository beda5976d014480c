"""The scale of a composition (lambda of paper 000, equation 2), chosen on a development task."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from seedbed.choices import best_listed


def choose(dev: str, lists: Mapping[float, Mapping[str, Path]]) -> dict[str, Any]:
    """The scale whose encoders score best on a development task; among equally good ones the first.

    Args:
        dev: the task.
        lists: scale -> language -> the list of scores (`manifests.write_list`) of the encoders that try it.

    Returns:
        `dev`, `scale`, and `candidates`, a record of each as of `choices.best`.

    Raises:
        UserError: as `choices.best_listed`.
    """
    scale, candidates = best_listed("scale", dev, lists)
    return {"dev": dev, "scale": scale, "candidates": candidates}

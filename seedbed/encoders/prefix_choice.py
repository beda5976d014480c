"""The prefix of an encoder, chosen on a development task before anything is trained."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from seedbed.choices import best_listed
from seedbed.io import UserError


def choose(dev: str, prefixes: Mapping[str, str], lists: Mapping[str, Mapping[str, Path]]) -> dict[str, Any]:
    """The prefix of the untrained recipe that scores best on a development task; among equally good ones the first.

    Args:
        dev: the task.
        prefixes: recipe -> what stands before each of its texts.
        lists: recipe -> language -> the list of scores (`manifests.write_list`) of its encoder.

    Returns:
        `dev`, `prefix`, the `recipe` that has it, and `candidates`, a record of each as of `choices.best`, with its
        prefix.

    Raises:
        UserError: as `choices.best_listed`; recipes that are not those with a prefix.
    """
    if {*prefixes} != {*lists}:
        raise UserError(
            f"{dev}: prefixes of {', '.join(prefixes)}, and scores of {', '.join(lists)}; give both of each"
        )
    recipe, candidates = best_listed("recipe", dev, lists)
    told = [record | {"prefix": prefixes[record["recipe"]]} for record in candidates]
    return {"dev": dev, "prefix": prefixes[recipe], "recipe": recipe, "candidates": told}

"""Folders of data that a study names and uses as `{placeholders}` in its sources."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field

from seedbed.io import UserError
from seedbed.languages import placeholders, registry
from seedbed.settings import Place, written


def _free(paths: dict[str, str]) -> dict[str, str]:
    """Names of folders that mean nothing else in a source."""
    taken = {"lang", "resources"}.union(*registry().values())
    if clash := sorted(taken & set(paths)):
        raise ValueError(f"{clash[0]!r} is a column of the language registry, or Seedbed's; call the folder otherwise")
    return paths


Word = Annotated[
    str, Field(min_length=1), written(r"[\p{L}_][\p{L}\p{M}\p{N}_]*", "letters, digits and _, like my_data")
]
"""A name that can be a placeholder."""
Paths = Annotated[dict[Word, Place], AfterValidator(_free)]
"""Names of folders, as `{placeholders}` of sources."""


NOWHERE = "none"
"""The value for a folder that does not exist."""


def places(paths: Mapping[str, str]) -> dict[str, str]:
    """Placeholder -> folder; empty for NOWHERE, so that sources with it are left out."""
    return {name: "" if folder == NOWHERE else folder for name, folder in paths.items()}


def lacking(text: str, paths: Mapping[str, str]) -> str:
    """Advice about the first folder in a template that is NOWHERE; empty if none is."""
    name = next((name for name in placeholders(text) if paths.get(name) == NOWHERE), "")
    return name and f"paths.{name} is {NOWHERE}; give it with --config 'paths={{{name}: /its/place}}'"


def check_paths(paths: Mapping[str, str]) -> None:
    """Check that all named folders exist.

    Raises:
        UserError: one does not.
    """
    for name, folder in places(paths).items():
        if folder and not Path(folder).exists():
            raise UserError(
                f"paths.{name}: no such folder {folder}; give it with --config 'paths={{{name}: /its/place}}'"
            )

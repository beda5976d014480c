"""Folders of data that a study names, as `{placeholders}` of its sources."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field

from seedbed.io import UserError
from seedbed.languages import registry
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
"""What can stand in the braces of a placeholder."""
Paths = Annotated[dict[Word, Place], AfterValidator(_free)]
"""Names of folders, as `{placeholders}` of sources."""


def check_paths(paths: dict[str, str]) -> None:
    """Stop, by a UserError, at a named folder that is not there."""
    for name, folder in paths.items():
        if not Path(folder).exists():
            raise UserError(
                f"paths.{name}: no such folder {folder}; give it with --config 'paths={{{name}: /its/place}}'"
            )

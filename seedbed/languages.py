"""The language registry: what is known of a language before a study says anything."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from seedbed.io import read_table

REGISTRY = Path("resources/languages.tsv")
"""Relative to the repository root, where Snakemake and every program run."""


@cache
def registry(path: Path = REGISTRY) -> dict[str, dict[str, str]]:
    """ISO 639-3 code -> its columns; an empty cell means that the resource lacks the language."""
    table = read_table(path, ["code", "name", "script"], unique="code")
    return {row["code"]: row for row in table.to_dict("records")}

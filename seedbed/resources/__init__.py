"""Data that comes with the library: language registry, prompts, specs of tables and figures, the papers' numbers."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
"""The project's folder: of a clone, or the one that an installed package is in."""
FOLDER = Path(__file__).parent
"""The folder of resources, in a clone or in an installed package."""
OWN = Path("resources")
"""Folder of a study's own tables, figures and references, in the folder in which it is run."""


def resource(name: str) -> Path:
    """Path of a file or folder of resources, such as `languages.tsv`."""
    return FOLDER / name


def specs(kind: str) -> dict[str, Path]:
    """Name -> YAML file of all specs of this kind: the library's, and the study's own, which replace the library's.

    Args:
        kind: `tables`, `figures` or `reference`.
    """
    return {path.stem: path for folder in (FOLDER, OWN) for path in sorted((folder / kind).glob("*.yaml"))}


def spec_file(kind: str, name: str) -> Path:
    """The YAML file of a spec; if there is none, where the study's own would be."""
    return specs(kind).get(name, OWN / kind / f"{name}.yaml")

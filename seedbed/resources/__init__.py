"""What comes with the library and is no code: registry, prompts, specs of tables and figures, the papers' numbers."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
"""The folder of the project: of a clone, or of what an installed package lies in."""
FOLDER = Path(__file__).parent
"""The folder of resources, in a clone or in an installed package."""
OWN = Path("resources")
"""Where a study keeps tables, figures and references of its own, in the folder in which it is run."""


def resource(name: str) -> Path:
    """Where a file or folder such as `languages.tsv` is, wherever the study is run."""
    return FOLDER / name


def specs(kind: str) -> dict[str, Path]:
    """Name -> YAML file of all specs of a kind: the library's, and the study's own, which take the place of those.

    Args:
        kind: `tables`, `figures` or `reference`.
    """
    return {path.stem: path for folder in (FOLDER, OWN) for path in sorted((folder / kind).glob("*.yaml"))}


def spec_file(kind: str, name: str) -> Path:
    """The YAML file of one of them; if there is none, where the study's own would be."""
    return specs(kind).get(name, OWN / kind / f"{name}.yaml")

"""Which kinds of modules the encoders of a job can have: code of others is no part of its value."""

from collections.abc import Iterator
from typing import Any

from seedbed.encoders.recipes import STARTS, Recipe
from seedbed.study.model import Study

TWO_PATHS, INTEGERS = "seedbed/encoders/coupled.py", "seedbed/encoders/int8.py"


def never_run(study: Study, wildcards: Any) -> list[str]:
    """The files of kinds that the training of a plain encoder never meets: two paths, and integers.

    Plain is one of a backbone that is no pair, with modules of a pooling, by an objective that names no other encoder;
    and one that goes on from such. Another recipe of the study is no matter.
    """
    lineage = [*_lineage(study, study.recipes[wildcards.recipe])]
    if wildcards.backbone in study.paired or not all(_plain(study, recipe) for recipe in lineage):
        return []
    return [TWO_PATHS, INTEGERS]


def _lineage(study: Study, recipe: Recipe) -> Iterator[Recipe]:
    """A recipe, and those that it starts from."""
    yield recipe
    if recipe.start and recipe.start not in STARTS:
        yield from _lineage(study, study.recipes[recipe.start])


def _plain(study: Study, recipe: Recipe) -> bool:
    own = recipe.training.get("pooling", study.training.pooling) == "own"
    candidates = recipe.data and recipe.data.candidates
    given = recipe.encoders and (study.start == "encoders" or not recipe.trained)
    return not (own or candidates or given or recipe.references() or "quantized" in recipe.objective)

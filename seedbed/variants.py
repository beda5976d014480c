"""Generators that vary others: what they share, and those that a choice of scale is among."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from seedbed.generators.settings import MADE_FROM, Choice, Generator

if TYPE_CHECKING:
    from seedbed.config import Study


def makers(generators: Mapping[str, Generator]) -> dict[tuple[str, str], str]:
    """Generator and part (see MADE_FROM) -> who makes it: of a family those whose parts would be equal share one.

    A family is a generator and all that are `like` it. The one nearest to its head makes the part, among several the
    first.
    """
    lines = {name: _line(generators, name) for name in generators}
    ordered = sorted(generators, key=lambda name: len(lines[name]))

    def same(name: str, other: str, part: str) -> bool:
        one, two = generators[name], generators[other]
        return lines[name][-1] == lines[other][-1] and all(
            getattr(one, setting) == getattr(two, setting) for setting in MADE_FROM[part]
        )

    return {
        (name, part): next(other for other in ordered if same(name, other, part))
        for name in generators
        for part in MADE_FROM
    }


def _line(generators: Mapping[str, Generator], name: str) -> list[str]:
    """A generator and those that it varies, up to the head of its family."""
    parent = generators[name].like
    return [name, *(_line(generators, parent) if parent else [])]


def candidate(generator: str, scale: float) -> str:
    """The name of a generator with one of the scales that its choice is among, and of the recipe that tries it."""
    return f"{generator}+{scale:g}"


def add_candidates(study: Study) -> None:
    """Give a study a generator and a recipe for each scale that a generator's choice is among.

    The recipe is the study's first of method composition, with fewer rows, one backbone and one seed.
    """
    tried = next((name for name, recipe in study.recipes.items() if recipe.method == "composition"), "")
    for name, choice in choosing(study).items():
        generator = study.generators[name]
        for scale in choice.candidates if tried else ():
            other = candidate(name, scale)
            composition = generator.composition.model_copy(update={"scale": scale})
            study.generators[other] = generator.model_copy(
                update={"like": name, "composition": composition, "adapters": {}, "triplets": {}}
            )
            recipe = study.recipes[tried]
            study.recipes[other] = recipe.model_copy(
                update={
                    "like": tried,
                    "generator": other,
                    "rows": min(choice.rows, recipe.rows or choice.rows),
                    "backbones": [choice.backbone or _first_backbone(study, tried)],
                    "seeds": [min(study.seeds) if choice.seed is None else choice.seed],
                    "encoders": {},
                }
            )


def choosing(study: Study) -> dict[str, Choice]:
    """The generators whose scale a development task chooses, and how."""
    given = {name: generator.composition.scale for name, generator in study.generators.items()}
    return {name: scale for name, scale in given.items() if isinstance(scale, Choice)}


def _first_backbone(study: Study, recipe: str) -> str:
    """The first with weights of those that a recipe trains."""
    named = study.recipes[recipe].backbones or study.backbones
    return next((name for name in named if name in study.backbones and study.backbones[name].source), "")

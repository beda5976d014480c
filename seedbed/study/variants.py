"""Entries that vary others: their settings, what generators share, and those that a choice of scale is among."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from seedbed.encoders.recipes import Recipe
from seedbed.generators.settings import MADE_FROM, WRITING, Choice, Generator
from seedbed.settings import suggest

if TYPE_CHECKING:
    from seedbed.study.model import Study


OWN = ("adapters", "triplets", "encoders")
"""What is published of an entry is not of one like it."""
WHOLE = ("source", "data", "objective")
"""What is replaced as a whole."""


def with_parents(entries: Any, complete: Callable[[str, dict[str, Any]], dict[str, Any]]) -> Any:
    """Entries with the settings of the entry that each is `like`, groups of settings merged; what is wrong stays so."""
    if not isinstance(entries, Mapping):
        return entries
    entries = {name: {} if entry is None else entry for name, entry in entries.items()}

    def whole(name: str, seen: tuple[str, ...] = ()) -> Any:
        if not isinstance(entries[name], Mapping):
            return entries[name]
        entry = complete(name, dict(entries[name]))
        if not (parent := entry.get("like")):
            return entry
        if not isinstance(parent, str):
            raise ValueError(f"{name}.like: expected the name of another entry, found {parent!r}")
        if parent in (*seen, name) or not isinstance(entries.get(parent), Mapping):
            others = sorted({other for other in entries if isinstance(other, str)} - {*seen, name})
            raise ValueError(f"{name}.like: no {parent!r} to start from; {suggest(parent, others)}")
        return _merged(whole(parent, (*seen, name)), entry)

    return {name: whole(name) for name in entries}


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Settings on top of others; groups are merged, but not those of WHOLE."""
    groups = {
        name: _merged(below[name], value)
        for name, value in above.items()
        if name not in WHOLE and isinstance(value, Mapping) and isinstance(below.get(name), Mapping)
    }
    return {name: value for name, value in below.items() if name not in OWN} | {**above, **groups}


def makers(generators: Mapping[str, Generator]) -> dict[tuple[str, str], str]:
    """Generator and part (see MADE_FROM) -> who makes it: of a family those whose parts would be equal share one.

    A family is a generator and all that are `like` it. The one nearest to its head makes the part.
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

    The recipe is the study's first that learns what composed adapters wrote, with fewer rows, one backbone and seed.
    """
    tried = next((name for name, recipe in study.recipes.items() if is_composed(recipe)), "")
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
                    "on_request": True,
                    "generator": other,
                    "rows": min(choice.rows, recipe.rows or choice.rows),
                    "backbones": [choice.backbone or _first_backbone(study, tried)],
                    "seeds": [min(study.seeds) if choice.seed is None else choice.seed],
                    "encoders": {},
                }
            )


def is_composed(recipe: Recipe) -> bool:
    """Whether composed adapters write what a recipe learns from."""
    return bool(recipe.written) and WRITING[recipe.written].adapters == "composed"


def choosing(study: Study) -> dict[str, Choice]:
    """The generators whose scale a development task chooses, and how."""
    given = {name: generator.composition.scale for name, generator in study.generators.items()}
    return {name: scale for name, scale in given.items() if isinstance(scale, Choice)}


def _first_backbone(study: Study, recipe: str) -> str:
    """The first with weights of those that a recipe trains."""
    named = study.recipes[recipe].backbones or study.backbones
    return next((name for name in named if name in study.backbones and study.backbones[name].source), "")

"""Which texts and encoders a map is made of: its spec, met with what a study offers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from seedbed.evaluation.settings import TextMap
from seedbed.io import UserError
from seedbed.settings import suggest
from seedbed.tables.plan import Offered, System
from seedbed.tables.specs import FigureSpec


class Mapped(NamedTuple):
    """What a map shows of a study."""

    map: TextMap
    backbones: list[str]
    """By the study's names, in its order."""
    folder: str
    """Language folder of its encoders."""
    seed: int
    """Of its encoders: the recipe's first."""
    languages: list[str]
    """Whose texts it shows."""


def plan_map(
    spec: FigureSpec, systems: Sequence[System], backbones: Mapping[str, Offered], tasks: Mapping[str, list[str]]
) -> Mapped:
    """Meet a map with a study.

    Args:
        tasks: those whose training set is in the language of the test -> their languages.

    Raises:
        UserError: the spec is of another kind, the study lacks the task, the recipe or all of the backbones, the recipe
            has an encoder for each language, or a fusion is named.
    """
    where, wanted = f"figure {spec.title!r}", spec.map
    if wanted is None:
        raise UserError(f"{where}: kind {spec.kind} is drawn from a table, not from texts")
    if wanted.task not in tasks:
        near = suggest(wanted.task, sorted(tasks)) if tasks else "the study has none"
        raise UserError(f"{where}: map.task: no task {wanted.task!r} with training sets in its own languages; {near}")
    own = {system.recipe: system for system in systems}
    if wanted.recipe not in own:
        raise UserError(f"{where}: map.recipe: no recipe {wanted.recipe!r}; {suggest(wanted.recipe, sorted(own))}")
    if (system := own[wanted.recipe]).language == "*":
        raise UserError(
            f"{where}: map.recipe: {wanted.recipe} has an encoder for each language; take one with one for all"
        )
    offering = {
        name: offered for name, offered in backbones.items() if system.backbones is None or name in system.backbones
    }
    shown = _backbones(spec, offering, where)
    return Mapped(wanted, shown, system.language, system.seeds[0], tasks[wanted.task])


def _backbones(spec: FigureSpec, backbones: Mapping[str, Offered], where: str) -> list[str]:
    """Those of a map: the named, or all that have embeddings; without those on request, which may cost money."""
    named = {name for name, offered in backbones.items() if {name, offered.paper} & {*spec.backbones}}
    fusions = {name for name, offered in backbones.items() if offered.tasks is not None}
    if fused := sorted(named & fusions):
        raise UserError(
            f"{where}: backbones: {fused[0]} is a fusion, which has distances alone; a map needs embeddings"
        )
    wanted = named if spec.backbones else {*backbones} - fusions
    if not (shown := [name for name in backbones if name in wanted and not backbones[name].on_request]):
        raise UserError(
            f"{where}: the study has none of its backbones, {', '.join(spec.backbones) or 'those with embeddings'}, "
            f"but on request; it has {', '.join(backbones)}"
        )
    return shown

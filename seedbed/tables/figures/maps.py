"""Planning a map: which texts and encoders its spec needs in a study."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from seedbed.evaluation.settings import TextMap
from seedbed.io import UserError
from seedbed.settings import suggest
from seedbed.tables.figures.specs import FigureSpec, Map
from seedbed.tables.plan import AvailableModel, AvailableRecipe


class Mapped(NamedTuple):
    """The texts and encoders of a map."""

    map: TextMap
    backbones: list[str]
    """Names in the study, in its order."""
    systems: dict[str, AvailableRecipe]
    """Recipe -> its encoders, of which the map shows the first seed's, in the order of the spec."""
    languages: list[str]
    """Languages of the texts."""


def plan_map(
    spec: FigureSpec,
    systems: Sequence[AvailableRecipe],
    backbones: Mapping[str, AvailableModel],
    tasks: Mapping[str, Mapping[str, list[str]]],
    reserved: Collection[str] = (),
) -> Mapped:
    """Plan a map in a study.

    Args:
        tasks: kind of texts -> tasks -> languages; kinds are `labelled_texts`, tasks whose training set is in the
            test's language, and `parallel`, tasks whose test sets are translations.
        reserved: languages that appear only on maps that name them.

    Raises:
        UserError: the spec is of another kind; the study lacks the task, a recipe, or all languages or backbones; a
            recipe has one encoder for each language; a fusion is named; or the method needs more texts.
    """
    where = f"figure {spec.title!r}"
    if not isinstance(spec, Map):
        raise UserError(f"{where}: kind {spec.kind} is plotted from a table, not from texts")
    languages = _languages(spec, tasks, reserved, where)
    if short := spec.map.shortage(len(languages) * spec.map.of_each(len(languages))):
        raise UserError(f"{where}: map: {short}")
    own = {system.recipe: system for system in systems}
    for recipe in spec.recipes:
        if recipe not in own:
            raise UserError(f"{where}: recipes: no recipe {recipe!r}; {suggest(recipe, sorted(own))}")
        if own[recipe].language == "*":
            several = f"{recipe} has an encoder for each language"
            raise UserError(f"{where}: recipes: {several}; take one with one for all")
    shown = {recipe: own[recipe] for recipe in spec.recipes}
    models = {name: each for name, each in backbones.items() if all(one.has(name, "") for one in shown.values())}
    return Mapped(spec.map, _backbones(spec, models, where), shown, languages)


def _languages(
    spec: Map, tasks: Mapping[str, Mapping[str, list[str]]], reserved: Collection[str], where: str
) -> list[str]:
    """Languages whose texts a map shows: those that it names, else all of its task without `on_request`."""
    kind, having = ("parallel", "pairs") if spec.map.pairs else ("labelled_texts", "training sets in its own languages")
    known, wanted = tasks[kind], spec.map.task
    if wanted not in known:
        near = suggest(wanted, sorted(known)) if known else "the study has none"
        hint = "; it has pairs: set `map.pairs`" if not spec.map.pairs and wanted in tasks["parallel"] else f"; {near}"
        raise UserError(f"{where}: map.task: no task {wanted!r} with {having}{hint}")
    tested = known[wanted]
    shown = [code for code in spec.languages or tested if code in tested and (spec.languages or code not in reserved)]
    if not shown:
        asked = ", ".join(spec.languages) or "those without `on_request`"
        raise UserError(f"{where}: languages: task {wanted} has none of {asked}; it has {', '.join(tested)}")
    return shown


def _backbones(spec: FigureSpec, backbones: Mapping[str, AvailableModel], where: str) -> list[str]:
    """Backbones of a map: those that it names, else all with embeddings; without `on_request`: they may cost money."""
    named = {name for name, model in backbones.items() if {name, model.paper} & {*spec.backbones}}
    fusions = {name for name, model in backbones.items() if model.fused}
    if fused := sorted(named & fusions):
        lacking = "is a fusion, which has distances alone; a map needs embeddings"
        raise UserError(f"{where}: backbones: {fused[0]} {lacking}")
    wanted = named if spec.backbones else {*backbones} - fusions
    if not (shown := [name for name in backbones if name in wanted and not backbones[name].on_request]):
        raise UserError(
            f"{where}: the study has none of its backbones, {', '.join(spec.backbones) or 'those with embeddings'}, "
            f"without `on_request`; it has {', '.join(backbones)}"
        )
    return shown

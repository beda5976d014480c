"""The best encoder of each language: among which, by which scores."""

from collections.abc import Iterable
from typing import Any

from seedbed.evaluation import protocols
from seedbed.study import pairs, paths, quoted
from seedbed.study.graph import corpora, plans, shares
from seedbed.study.graph import encoders as made
from seedbed.study.model import Study
from seedbed.study.paths import at
from seedbed.tables.plan import Block, Cell, System
from seedbed.tables.specs import Column


def languages(study: Study) -> list[str]:
    """The languages of which one encoder is chosen: those that the development task tests, and another one; or those
    that have an encoder of the recommended recipe."""
    taken = _recommended if study.best and study.best.recipe else reported_on
    return [code for code in study.languages if code not in study.reserved and taken(study, code)]


def _recommended(study: Study, code: str) -> Cell | None:
    """The encoder of the recommended recipe, of no task; None: there is none of the language."""
    return next((cell for cell in _encoders(study, code) if cell.recipe == study.best.recipe), None)


def reported_on(study: Study, code: str) -> str:
    """The task that says how good the chosen encoder of a language is; empty: there is none, or nothing chooses."""
    choosing = study.best.choosing(study.tests_by_language[code]) if study.best else []
    if not study.best or (study.best.dev and not choosing):
        return ""
    there = [task for task in study.tasks if task in study.tests_by_language[code] and not study.tasks[task].on_request]
    if study.best.test:
        there = [study.best.test] if study.best.test in study.tests_by_language[code] else []
    read = [task for task in there if study.declared[task].chooses]  # which says what is better
    others = [task for task in read if study.test_set(task) not in {study.test_set(dev) for dev in choosing}]
    return min(others, key=lambda task: study.tasks[task].protocol != "sts", default="")


def chosen(study: Study) -> list[str]:
    """The best encoder of each language."""
    return [at(study, paths.BEST, lang=code) for code in languages(study)]


def _systems(study: Study, code: str, task: str) -> dict[str, list[System]]:
    """Backbone -> the recipes among whose encoders one is chosen, and which a task may compare.

    A fusion and an endpoint have no weights to take home; a recipe that only switches adapters off has no encoder.
    """
    systems, _ = plans.of_encoders(study)
    systems = [one for one in systems if not one.on_request and pairs.maker(study, one.recipe) == one.recipe]
    found = {}
    for backbone, spec in study.backbones.items():
        own = [one for one in systems if one.has(backbone, code) and (not task or one.chosen_on != task)]
        if own and not (spec.on_request or spec.fusion or spec.endpoint):
            found[backbone] = own
    return found


def _blocks(study: Study, code: str, task: str) -> list[Block]:
    """The encoders of each backbone among which one is chosen, with the number that a task gives them; without a task
    none."""
    if not task:
        return []
    _, offered = plans.of_encoders(study)
    spec = study.tasks[task]
    metric = protocols.main_metric(spec.protocol, spec.k)
    column = Column(label=task, protocol=spec.protocol, metric=metric, tasks=[task])
    found = []
    for backbone, own in _systems(study, code, task).items():
        names = {system.recipe: system.recipe for system in own}
        facts = {"backbone": backbone, "paper_backbone": offered[backbone].paper, "tests": {code: task}}
        untrained = (name for name in names if not study.recipes[name].trained)
        block = Block(**facts, column=column, systems=own, names=names, baseline=next(untrained, ""))
        found.append(quoted.beside(study, block))
    return found


def _encoders(study: Study, code: str) -> list[Cell]:
    """Every encoder that may be chosen, of no task."""
    return [
        Cell(backbone, system.recipe, system.folder(code), seed, "", code)
        for backbone, own in _systems(study, code, reported_on(study, code)).items()
        for system in own
        for seed in system.seeds
    ]


def _shown_on(study: Study, code: str) -> list[str]:
    """Further tasks whose scores of all encoders the answer shows."""
    return [task for task in study.best.also if task in study.tests_by_language[code]]


def blocks(study: Study, wildcards: Any) -> list[Block]:
    """The encoders among which one is chosen, as blocks of a table."""
    return _blocks(study, wildcards.lang, reported_on(study, wildcards.lang))


def also(study: Study, wildcards: Any) -> list[list[Block]]:
    """The same on further tasks, which the answer shows."""
    return [_blocks(study, wildcards.lang, task) for task in _shown_on(study, wildcards.lang)]


def choosing(study: Study, wildcards: Any) -> list[str]:
    """The tasks that choose the encoder of a language; none: a recipe is recommended."""
    return study.best.choosing(study.tests_by_language[wildcards.lang])


def recommended(study: Study, wildcards: Any) -> str:
    """BACKBONE/RECIPE/LANGUAGE/SEED of the encoder of the recommended recipe; empty: tasks choose."""
    return "" if choosing(study, wildcards) else "/".join(map(str, _recommended(study, wildcards.lang)[:4]))


def encoders(study: Study, wildcards: Any) -> list[str]:
    """Every encoder that may be chosen."""
    return _manifests(study, _encoders(study, wildcards.lang))


def _manifests(study: Study, cells: Iterable[Cell]) -> list[str]:
    facts = [{name: getattr(cell, name) for name in ("backbone", "recipe", "lang", "seed")} for cell in cells]
    return [at(study, paths.ENCODER, **each) for each in facts]


def listed(study: Study) -> dict[str, list[str]]:
    """Language -> the encoders that the answer lists: of each recipe and backbone the first seed's.

    They are those among which one is chosen, and those of languages without a test set.
    """
    found = {}
    for code in languages(study):
        first = {(cell.backbone, cell.recipe): cell for cell in reversed(_encoders(study, code))}
        found[code] = _manifests(study, reversed(first.values()))
    others = [code for code in study.languages if code not in found]
    return found | {code: own for code in others if (own := made.untested(study, code))}


def every(study: Study) -> list[str]:
    """The encoders that the answer lists, each once."""
    return [*dict.fromkeys(file for files in listed(study).values() for file in files)]


def named(study: Study, wildcards: Any) -> dict[str, list[str]]:
    """Name of a language -> the encoders that the answer lists."""
    return {study.names[code]: files for code, files in listed(study).items()}


def scores(study: Study, wildcards: Any) -> list[str]:
    """Lists of the scores of those encoders: on the tasks that choose, on the one that reports, and on further ones."""
    code = wildcards.lang
    reported = {reported_on(study, code), *_shown_on(study, code)} - {""}
    cells = {
        cell._replace(task=name)
        for task in reported
        for block in _blocks(study, code, task)
        for cell in block.cells()
        for name in (task, *study.best.choosing(study.tests_by_language[code]))
    }
    return sorted({shares.listed_in(study, cell) for cell in cells})


def read(study: Study, wildcards: Any) -> list[str] | str:
    """The test set that the choice is reported on, where its words alone can answer; else nothing."""
    task = reported_on(study, wildcards.lang)
    answers = task and protocols.lexical(study.tasks[task].protocol)
    return corpora.test_set(study, task, wildcards.lang) if answers else []


def metrics(study: Study, wildcards: Any) -> list[str]:
    """What is loaded by name: metrics of the protocols that the answer reports, and what scores words alone."""
    reported = reported_on(study, wildcards.lang)
    of_tasks = [study.tasks[task].protocol for task in (reported, *_shown_on(study, wildcards.lang)) if task]
    names = [f"{protocols.module_of(protocol)}:METRICS" for protocol in dict.fromkeys(of_tasks)]
    lexical = reported and protocols.lexical(of_tasks[0])
    return [*names, f"{protocols.module_of(of_tasks[0])}:lexical"] if lexical else names

"""The best encoder of each language: among which, by which scores."""

from typing import Any

from seedbed.evaluation import protocols
from seedbed.evaluation.protocols import declared
from seedbed.io import compact
from seedbed.study import pairs, paths
from seedbed.study.graph import corpora, plans, shares
from seedbed.study.model import Study
from seedbed.study.paths import at
from seedbed.tables.plan import Block, Cell
from seedbed.tables.specs import Column


def languages(study: Study) -> list[str]:
    """The languages of which one encoder is chosen: those that the development task tests, and another one."""
    return [code for code in study.languages if code not in study.reserved and reported_on(study, code)]


def reported_on(study: Study, code: str) -> str:
    """The task that says how good the chosen encoder of a language is; empty: there is none, or nothing chooses."""
    if not study.best or study.best.dev not in study.tests_by_language[code]:
        return ""
    there = [task for task in study.tasks if task in study.tests_by_language[code] and not study.tasks[task].on_request]
    if study.best.test:
        there = [study.best.test] if study.best.test in study.tests_by_language[code] else []
    read = [task for task in there if declared(study.tasks[task].protocol).chooses]  # which says what is better
    others = [task for task in read if study.test_set(task) != study.test_set(study.best.dev)]
    return min(others, key=lambda task: study.tasks[task].protocol != "sts", default="")


def chosen(study: Study) -> list[str]:
    """The best encoder of each language."""
    return [at(study, paths.BEST, lang=code) for code in languages(study)]


def _blocks(study: Study, code: str) -> list[Block]:
    """The encoders of each backbone among which one is chosen, with the number that it is reported by.

    A fusion and an endpoint have no weights to take home; a recipe that only switches adapters off has no encoder.
    """
    task = reported_on(study, code)
    systems, offered = plans.of_encoders(study)
    found = []
    for backbone, spec in study.backbones.items():
        if spec.on_request or spec.fusion or spec.endpoint:
            continue
        own = [
            system
            for system in systems
            if system.has(backbone, code)
            and not system.on_request
            and pairs.maker(study, system.recipe) == system.recipe
            and system.chosen_on != task
        ]
        names = {system.recipe: system.recipe for system in own}
        column = Column(label=task, protocol=study.tasks[task].protocol, metric=_metric(study, task), tasks=[task])
        facts = {"backbone": backbone, "paper_backbone": offered[backbone].paper, "tests": {code: task}}
        if own:
            untrained = (name for name in names if not study.recipes[name].trained)
            found.append(Block(**facts, column=column, systems=own, names=names, baseline=next(untrained, "")))
    return found


def _metric(study: Study, task: str) -> str:
    """The first metric of a task's protocol that its scores have."""
    spec = study.tasks[task]
    metrics = protocols.load(spec.protocol).METRICS
    return next(name for name, metric in metrics.items() if metric.k is None or metric.k in spec.k)


def _cells(study: Study, code: str) -> list[Cell]:
    return [cell for block in _blocks(study, code) for cell in block.cells()]


def blocks(study: Study, wildcards: Any) -> str:
    """JSON: the encoders among which one is chosen, as blocks of a table."""
    return compact([block.model_dump(mode="json") for block in _blocks(study, wildcards.lang)])


def encoders(study: Study, wildcards: Any) -> list[str]:
    """Every encoder that may be chosen."""
    cells = _cells(study, wildcards.lang)
    facts = [{name: getattr(cell, name) for name in ("backbone", "recipe", "lang", "seed")} for cell in cells]
    return [at(study, paths.ENCODER, **each) for each in facts]


def scores(study: Study, wildcards: Any) -> list[str]:
    """Lists of the scores of those encoders, on the task that chooses and on the one that reports."""
    code = wildcards.lang
    asked = (study.best.dev, reported_on(study, code))
    return sorted({shares.listed_in(study, cell._replace(task=task)) for cell in _cells(study, code) for task in asked})


def pairs_of(study: Study, wildcards: Any) -> list[str] | str:
    """The graded pairs that the choice is reported on, whose words are counted; of other tests nothing."""
    task = reported_on(study, wildcards.lang)
    graded = declared(study.tasks[task].protocol).kind == "pairs"
    return corpora.test_set(study, task, wildcards.lang) if graded else []


def metrics(study: Study, wildcards: Any) -> list[str]:
    """The metrics of the protocol that the choice is reported by; they are loaded by name."""
    return [f"{protocols.module_of(study.tasks[reported_on(study, wildcards.lang)].protocol)}:METRICS"]

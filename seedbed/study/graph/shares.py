"""Which scores are made in one job: a recipe's in a language; of a language model that is asked by prompts, more.

All its variants in a share of the languages are one job, since to load its weights takes longer than to ask it. Shares
hang on the codes of languages alone: one language more changes one share, which may become two.
"""

import hashlib
from types import SimpleNamespace
from typing import Any

from seedbed.io import UserError
from seedbed.languages import ANY
from seedbed.names import TOGETHER
from seedbed.study import paths
from seedbed.study.graph import classifiers, tuned
from seedbed.study.model import Study
from seedbed.study.paths import at
from seedbed.tables.plan import Cell

LANGUAGES = 16
"""Languages of a share at most."""


def scored_with(study: Study, task: str, system: str, recipe: str) -> str:
    """The job in which a backbone or classifier is scored on a task: of the task alone, or of all TOGETHER.

    No farther shots are drawn, and nothing is fine-tuned, for a task that no table or figure shows. Where a prefix is
    chosen, one task more, or another, must not choose again and train again.
    """
    spec = study.classifiers.get(system)
    shown = spec and spec.in_context and spec.in_context.every_variant()[recipe]
    chooses = study.best and task == study.best.dev and any(recipe in one.prefix_of for one in study.recipes.values())
    alone = (spec and spec.fine_tuning) or (shown and shown.percentile) or chooses
    return task if study.tasks[task].on_request or alone or tuned.tunes(study, task) else TOGETHER


def listed_in(study: Study, cell: Cell) -> str:
    """The list of the scores among which one is."""
    facts = cell._asdict()
    tasks = scored_with(study, cell.task, cell.backbone, cell.recipe)
    if shares_of(study, cell.backbone, tasks):
        facts |= {"recipe": TOGETHER, "lang": ANY, "test_lang": share_of(study, cell.backbone, tasks, cell.test_lang)}
    return at(study, paths.SCORES, **facts, tasks=tasks)


def jobs_of(study: Study, wildcards: Any) -> list[Any]:
    """The wildcards of each system and language of a job: variant by variant, or the job's own where it has one.

    Raises:
        UserError: there is no such job.
    """
    if wildcards.recipe != TOGETHER:
        return [wildcards]
    name, tasks = wildcards.backbone, wildcards.tasks
    if not (codes := shares_of(study, name, tasks).get(wildcards.test_lang)):
        raise UserError(f"{name}: no share {wildcards.test_lang} of the languages of {tasks}; ask for a table")
    facts = {"backbone": name, "lang": wildcards.lang, "tasks": tasks}
    return [
        SimpleNamespace(**facts, recipe=variant, test_lang=code)
        for variant in variants(study, name, tasks)
        for code in codes
    ]


def systems_of(study: Study, wildcards: Any) -> list[Any]:
    """The first of each system among `jobs_of`."""
    return [*{job.recipe: job for job in reversed(jobs_of(study, wildcards))}.values()][::-1]


def languages_of(study: Study, wildcards: Any) -> list[Any]:
    """The first of each language among `jobs_of`."""
    return [*{job.test_lang: job for job in reversed(jobs_of(study, wildcards))}.values()][::-1]


def variants(study: Study, classifier: str, tasks: str) -> list[str]:
    """The variants of a language model that a job of these tasks has."""
    named = study.tasks if tasks == TOGETHER else [tasks]
    return [
        variant
        for variant in study.classifiers[classifier].prompted.every_variant()
        if any(scored_with(study, task, classifier, variant) == tasks for task in named)
    ]


def shares_of(study: Study, system: str, tasks: str) -> dict[str, list[str]]:
    """Share -> its languages, of what a language model is asked; none: this is another system.

    A language on request has a share of its own, which goes by its code.
    """
    if not (spec := study.classifiers.get(system)) or not spec.prompted:
        return {}
    return study.once(("shares", system, tasks), lambda: _shares(study, system, tasks))


def _shares(study: Study, system: str, tasks: str) -> dict[str, list[str]]:
    named = [name for name in study.tasks if tasks == TOGETHER or name == tasks]
    asked = [code for code in sorted(study.languages) if {*classifiers.answered_by(study, system, code)} & {*named}]
    alone = {code: [code] for code in asked if code in study.reserved}
    return _split([code for code in asked if code not in alone]) | alone


def share_of(study: Study, classifier: str, tasks: str, code: str) -> str:
    """The share that a language is in."""
    return next(share for share, codes in shares_of(study, classifier, tasks).items() if code in codes)


def _split(codes: list[str], prefix: str = "") -> dict[str, list[str]]:
    """Shares of at most LANGUAGES: what is too many is split by the next bit of the codes' hashes."""
    if not codes:
        return {}
    if len(codes) <= LANGUAGES:
        return {f"{ANY}-{prefix}" if prefix else ANY: codes}
    halves = {bit: [code for code in codes if _bits(code).startswith(prefix + bit)] for bit in "01"}
    return _split(halves["0"], f"{prefix}0") | _split(halves["1"], f"{prefix}1")


def _bits(code: str) -> str:
    return f"{int.from_bytes(hashlib.sha256(code.encode()).digest()):0256b}"

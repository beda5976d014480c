"""Adapters that are composed, of a generator or of a classifier, and the scale that a development task chooses."""

from typing import Any

from seedbed.generators.settings import Composition
from seedbed.study import paths
from seedbed.study.graph import classifiers, generators
from seedbed.study.model import Study
from seedbed.study.paths import at
from seedbed.study.variants import candidate, is_composed


def part(study: Study, wildcards: Any, name: str, which: str) -> str:
    """One adapter of a composition: `task` or `language`, by its language; of a generator's task by its polarity."""
    owner = wildcards.model.partition("+")[0]
    if wildcards.room == "classifiers":
        return classifiers.adapter(study, owner, name, which)
    path = paths.TASK_ADAPTER if name == "task" else paths.LANGUAGE_ADAPTER
    return generators.part(study, owner, name, path, polarity=which, lang=which)


def settings(study: Study, wildcards: Any) -> Composition:
    """How adapters are composed: as is given, with one of several scales, or with one that a file says."""
    name, _, scale = wildcards.model.partition("+")
    owner = study.generators[name] if wildcards.room == "generators" else study.learners[name]
    if _choosing(study, wildcards):
        scale = "1"  # never read: the chosen one is in a file
    return owner.composition.updated({"scale": float(scale)}) if scale else owner.composition


def _choosing(study: Study, wildcards: Any) -> bool:
    """Whether a development task chooses the scale."""
    return wildcards.room == "generators" and wildcards.model in study.choosing


def chosen(study: Study, wildcards: Any) -> list[str] | str:
    """The file that says which scale was chosen; empty: the study says it."""
    if not _choosing(study, wildcards):
        return []
    return at(study, paths.SCALE, generator=wildcards.model, lang=wildcards.lang)


def candidates_of(study: Study, generator: str) -> dict[float, tuple[str, str]]:
    """Scale -> recipe and backbone of the encoders that try it for a generator whose scale is chosen."""
    names = {scale: candidate(generator, scale) for scale in study.choosing[generator].candidates}
    return {scale: (name, study.recipes[name].backbones[0]) for scale, name in names.items()}


def chooser_of(study: Study, recipe: str) -> str:
    """The task that chose the scale of the adapters behind a recipe: no table prints it there. Empty: none did."""
    if not is_composed(study.recipes[recipe]):
        return ""
    choice = study.choosing.get(generators.of_recipe(study, recipe))
    return choice.dev if choice else ""


def trials(study: Study, wildcards: Any) -> dict[str, str]:
    """Scale and language -> the scores, on the development task, of the encoders that try the scale."""
    task = study.choosing[wildcards.generator].dev
    return {
        f"{scale:g}/{code}": at(
            study, paths.SCORES, backbone=backbone, recipe=recipe, lang=code, test_lang=code, tasks=task
        )
        for scale, (recipe, backbone) in candidates_of(study, wildcards.generator).items()
        for code in study.chosen_on(task, wildcards.lang)
    }

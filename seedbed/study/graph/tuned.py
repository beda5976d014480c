"""Encoders that are fine-tuned on a task's training set, one for each encoder, seed and training set.

What a job leaves is what its model answers to all test sets that share its training set. The weights, a gigabyte for
each, nobody would use again.
"""

from typing import Any

from seedbed.classifiers import learners
from seedbed.encoders.tuning_settings import FineTuning, Reading
from seedbed.evaluation.protocols import declared
from seedbed.names import TRAINING
from seedbed.precision import Precision
from seedbed.study import paths
from seedbed.study.graph import cards, corpora, encoders
from seedbed.study.model import Study
from seedbed.study.paths import at


def tunes(study: Study, tasks: str) -> bool:
    """Whether a job scores what was fine-tuned: one of a single task, whose protocol says so."""
    return tasks in study.tasks and study.declared[tasks].tunes


def learnt_as(study: Study, task: str) -> str:
    """The task by whose name a training goes: the first that learns the same training sets by the same settings."""
    return next(name for name in sorted(study.tasks) if _learnt(study, name) == _learnt(study, task))


def _learnt(study: Study, task: str) -> tuple[Any, ...]:
    """All that a task's training depends on but the language."""
    spec, sets = study.tasks[task], study.tasks[study.test_set(task)]
    return spec.protocol, sets.train, sets.clean, spec.fine_tuning, spec.reading


def systems(study: Study, wildcards: Any) -> list[str]:
    """What is scored on the task of a job, one for each seed."""
    facts = {name: getattr(wildcards, name) for name in ("backbone", "recipe", "lang")}
    facts["task"] = learnt_as(study, wildcards.tasks)
    facts["train_lang"] = study.train_of(wildcards.tasks, wildcards.test_lang)
    return [at(study, paths.TUNED, **facts, seed=seed) for seed in encoders.heads_of(study, wildcards.recipe)]


def base(study: Study, wildcards: Any) -> str:
    """The encoder that is fine-tuned: that of the seed, or the one that a recipe has whatever the seed."""
    return encoders.of_recipe(study, wildcards.backbone, wildcards.recipe, wildcards.lang, wildcards.seed)


def training_set(study: Study, wildcards: Any) -> str:
    """What it learns."""
    corpus = f"{study.test_set(wildcards.task)}{TRAINING}"
    return at(study, paths.CORPUS, lang=wildcards.train_lang, corpus=corpus)


def answered(study: Study, wildcards: Any) -> dict[str, str]:
    """LANGUAGE/NAME -> test set that it answers: all of the languages to which the recipe offers this encoder."""
    recipe, learnt = wildcards.recipe, learnt_as(study, wildcards.task)
    return {
        f"{code}/{study.test_set(task)}": corpora.test_set(study, task, code)
        for code in sorted(study.recipes[recipe].languages or study.languages)
        if encoders.trained_on(study, recipe, code) == wildcards.lang
        for task in study.tests_by_language[code]
        if learnt_as(study, task) == learnt and study.train_of(task, code) == wildcards.train_lang
    }


def kind(study: Study, wildcards: Any) -> str:
    """The kind of its training and test sets."""
    return study.declared[wildcards.task].kind


def modules(study: Study, wildcards: Any) -> list[str]:
    """What it is fine-tuned by, which is loaded by name."""
    return [learners.module_of(kind(study, wildcards))]


def learning(study: Study, wildcards: Any) -> FineTuning | Reading:
    """How it is fine-tuned."""
    return learning_of(study, wildcards.task)


def learning_of(study: Study, task: str) -> FineTuning | Reading:
    """How encoders are fine-tuned for a task."""
    spec = study.tasks[task]
    return spec.reading if "reading" in declared(spec.protocol).options else spec.fine_tuning


def dtype(study: Study, wildcards: Any) -> Precision:
    """The type of the numbers that it is fine-tuned in: that of its recipe's training."""
    return encoders.training_of(study, wildcards.recipe).precision


def about(study: Study, wildcards: Any) -> dict[str, Any]:
    """What score files say of it; of an untrained encoder too, the seed is that of the head."""
    learnt = {"task": wildcards.task, "train_language": wildcards.train_lang}
    return cards.described(study, wildcards) | learnt

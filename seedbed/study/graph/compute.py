"""What labels cost: the jobs that count and time them (MINERS, table 4)."""

from typing import Any

from seedbed.evaluation.compute.settings import Compute
from seedbed.evaluation.settings import Task
from seedbed.generators.backends import modules_of
from seedbed.io import UserError
from seedbed.study.graph import classifiers, corpora, encoders, evaluation, prefixes
from seedbed.study.model import Study


def settings(study: Study, wildcards: Any = None) -> Compute:
    """What is counted and timed.

    Raises:
        UserError: the study measures nothing.
    """
    if not study.compute:
        raise UserError(
            "compute: the study asks for no measurement; give `compute: {task: ..., language: ..., encoder: ...}`"
        )
    return study.compute


def task(study: Study, wildcards: Any) -> Task:
    """The task whose texts are labelled."""
    return evaluation.task_for(study, settings(study).task, settings(study).language)


def test(study: Study, wildcards: Any) -> str:
    """The test set."""
    return corpora.test_set(study, settings(study).task, settings(study).language)


def train(study: Study, wildcards: Any) -> str:
    """The training set."""
    return corpora.training_set(study, settings(study).task, settings(study).language)


def encoder(study: Study, wildcards: Any) -> str:
    """The encoder of the nearest texts, of its first seed."""
    spec = settings(study)
    return encoders.of_recipe(study, spec.encoder.backbone, spec.encoder.recipe, spec.language)


def weights(study: Study, wildcards: Any) -> str:
    """The backbone that is fine-tuned."""
    return encoders.backbone_weights(study, settings(study).learner)


def prefix(study: Study, wildcards: Any) -> str:
    """What stands before every text that it reads."""
    learner = settings(study).learner
    return prefixes.same(study.backbones[learner].prefix, learner)


def bases(study: Study, wildcards: Any) -> dict[str, str]:
    """Classifier -> its language model."""
    return {name: classifiers.weights_of(study, name) for name in settings(study).classifiers}


def learners(study: Study, wildcards: Any) -> dict[str, dict[str, Any]]:
    """The language models and how they learn in context, by their classifiers."""
    return {
        name: {
            "generator": classifiers.answering_generator(study, name),
            "in_context": study.classifiers[name].in_context,
        }
        for name in settings(study).classifiers
    }


def code(study: Study, wildcards: Any) -> list[str]:
    """What is loaded by name: what runs the language models, and the protocol of the task."""
    modules = {module for name in settings(study).classifiers for module in modules_of(study.learners[name])}
    return sorted(modules | {*evaluation.protocol_code(task(study, None).protocol)})

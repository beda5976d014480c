"""Costs of labels: the job that counts and times them (MINERS, table 4)."""

from dataclasses import dataclass
from typing import Any

from seedbed.evaluation.compute.settings import Compute
from seedbed.io import UserError
from seedbed.resources import resource
from seedbed.study import paths
from seedbed.study.backbone import StudyBackbone
from seedbed.study.graph.classifier import StudyClassifier
from seedbed.study.graph.corpus import Corpus
from seedbed.study.graph.encoder import Encoder
from seedbed.study.graph.product import Code, Files, Product
from seedbed.study.graph.score import protocol_code, task_for
from seedbed.study.sizes import Load, Sizes


@dataclass(frozen=True)
class Measurement(Product, rule="measure_compute", place=paths.COMPUTE):
    """The counts and times."""

    @property
    def spec(self) -> Compute:
        """The settings of what is counted and timed.

        Raises:
            UserError: the study measures nothing.
        """
        if not self.study.compute:
            raise UserError(
                "compute: the study asks for no measurement; give `compute: {task: ..., language: ..., encoder: ...}`"
            )
        return self.study.compute

    @property
    def classifiers(self) -> list[StudyClassifier]:
        """The language models that label in context."""
        return [StudyClassifier.get(self.study, name) for name in self.spec.classifiers]

    def inputs(self) -> dict[str, Files]:
        spec, study = self.spec, self.study
        nearest = Encoder.resolved(study, spec.encoder.backbone, spec.encoder.recipe, spec.language)
        return {
            "train": Corpus.of_training(study, spec.task, spec.language),
            "test": Corpus.of_test(study, spec.task, spec.language),
            "encoder": nearest.path,
            "weights": StudyBackbone.get(study, spec.learner).weights(),
            "bases": {one.name: one.weights for one in self.classifiers},
        }

    def settings(self) -> dict[str, Any]:
        spec = self.spec
        return {
            "compute": spec,
            "task": task_for(self.study, spec.task, spec.language),
            "prefix": StudyBackbone.get(self.study, spec.learner).plain_prefix(),
            "classifiers": {
                one.name: {"generator": one.answering(), "in_context": one.spec.in_context} for one in self.classifiers
            },
        }

    def code(self) -> Code:
        """The modules that run the language models, and the protocol of the task."""
        modules = {module for one in self.classifiers for module in one.back_end}
        modules |= {*protocol_code(self.study.tasks[self.spec.task].protocol)}
        return Code(data=(resource("prompts/icl.yaml"),), modules=tuple(sorted(modules)))

    def load(self, sizes: Sizes) -> Load:
        """The largest of what is measured one after the other."""
        models = [sizes.encoder(self.spec.learner), *(sizes.classifier(one.name) for one in self.classifiers)]
        return Load(1, sizes.measuring(), max(models))

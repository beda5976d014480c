"""Count and time what labels cost: fine-tuning, the nearest texts, in context (MINERS, table 4)."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Self

from pydantic import model_validator

from scripts import cli
from seedbed.evaluation.compute.settings import Compute, Learner
from seedbed.evaluation.settings import Task

if TYPE_CHECKING:
    from seedbed.evaluation.compute.cost import Cost


class Job(cli.Job):
    compute: Compute
    task: Task
    train: Path
    """TSV: id, text, label"""
    test: Path
    """TSV: id, text, label"""
    encoder: Path
    """folder of the encoder of the nearest texts"""
    weights: Path
    """folder of the backbone that is fine-tuned"""
    prefix: str | None = None
    """put before every text in fine-tuning; left out, what the backbone's own file says"""
    classifiers: dict[str, Learner] = {}
    bases: dict[str, Path] = {}
    """classifier -> folder of its language model"""
    flops: Path
    """TSV of what is counted: the same in every run"""
    seconds: Path
    """TSV of what is timed"""
    output: Path
    """the page"""

    @model_validator(mode="after")
    def _all_have_bases(self) -> Self:
        if lacking := sorted({*self.classifiers} - {*self.bases}):
            raise ValueError(f"bases: give {lacking[0]} too, the folder of its language model")
        return self


def main(job: Job) -> None:
    from seedbed.evaluation.compute import page
    from seedbed.evaluation.compute.measuring import machine
    from seedbed.io import atomic, write_table

    costs, spec, where = list(costs_of(job)), job.compute, machine()
    about = {"task": spec.task, "language": spec.language, "repeats": spec.repeats}
    write_table(page.counts(costs), job.flops)
    write_table(page.times(costs, where, spec.repeats), job.seconds)
    with atomic(job.output) as temporary:
        temporary.write_text(page.layout(costs, about, where), encoding="utf-8")


def costs_of(job: Job) -> "Iterator[Cost]":
    """Iterate over the costs of each method. One model at a time is in memory, in addition to the encoder."""
    from seedbed.encoders.models.inference import opened
    from seedbed.evaluation.compute.context import in_context, require_decoder
    from seedbed.evaluation.compute.cost import questions
    from seedbed.evaluation.compute.nearest import retrieval
    from seedbed.evaluation.compute.tuning import fine_tuning
    from seedbed.evaluation.files import read_set

    for name, base in job.bases.items():
        require_decoder(name, base)  # before minutes are spent on the others
    task, spec = job.task, job.compute
    encoder = opened(job.encoder, task.batch_size, language=spec.language)
    test, train = read_set(task, job.test), read_set(task, job.train)
    question, kept = questions(task, test, train, encoder)
    whole, shots = retrieval(encoder, spec.encoder.backbone, question, kept, spec)
    yield fine_tuning(job.weights, spec.learner, kept, spec, job.prefix)
    yield whole
    for name, learner in job.classifiers.items():
        yield in_context(name, learner, job.bases[name], kept, shots, spec)


if __name__ == "__main__":
    cli.run(Job, main)

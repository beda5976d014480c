"""Fuse encoders: name them and their weights, which a development task may choose."""

from pathlib import Path
from typing import Any, Self

from pydantic import Field, model_validator

from scripts import cli
from seedbed.evaluation.settings import Task
from seedbed.manifests import Tell


class Job(cli.Job):
    members: dict[str, Path]
    """backbone -> its encoder"""
    weights: list[list[float]] = Field(min_length=1)
    """candidates for the weights: lists with one weight of each member"""
    dev: str = ""
    """name of the task that chooses; left out, there is one choice"""
    task: Task | None = None
    """settings of the task that chooses"""
    tests: dict[str, Path] = {}
    """language -> development set of the task that chooses"""
    trains: dict[str, Path] = {}
    """language -> training set of the task that chooses, if it has one"""
    about: dict[str, Any] = {}
    """for the manifest"""
    endpoints: cli.Endpoints = []
    state: cli.Embeddings = None
    output: Path

    @model_validator(mode="after")
    def _one_for_each(self) -> Self:
        if any(len(each) != len(self.members) for each in self.weights):
            raise ValueError(f"weights: expected lists of {len(self.members)}, one for each of the members")
        if bool(self.dev) != bool(self.task):
            raise ValueError("give `dev` and `task`, or neither")
        if not self.dev and len(self.weights) > 1:
            raise ValueError(f"weights: {len(self.weights)} candidates, and no `dev` to choose; give one, or `dev`")
        return self


def main(job: Job) -> None:
    from seedbed.encoders.models.ensemble import write_card
    from seedbed.servers import named

    with named(job.endpoints):
        make(job, write_card)


def make(job: Job, tell: Tell) -> None:
    """Save the ensemble of the encoders; with development sets, choose its weights on them. `tell` writes the card."""
    from seedbed.encoders.models.ensemble import save
    from seedbed.encoders.models.inference import opened
    from seedbed.evaluation.files import read_set
    from seedbed.evaluation.fusion import tune_weights
    from seedbed.io import sha256

    if not job.dev:
        save(job.output, job.members, job.weights[0], job.about, tell=tell)
        return
    task = job.task
    each = [opened(folder, task.batch_size, job.state) for folder in job.members.values()]
    sets = {lang: (read_set(task, file), read_set(task, job.trains.get(lang))) for lang, file in job.tests.items()}
    encodes, widths = [one.encode for one in each], [one.width for one in each]
    weights, candidates = tune_weights(task, sets, encodes, widths, job.weights)
    facts = {lang: {"n": len(sets[lang][0]), "sha256": sha256(file)} for lang, file in job.tests.items()}
    chosen = {"dev": job.dev, "protocol": task.protocol, "sets": facts, "candidates": candidates}
    save(job.output, job.members, weights, job.about, chosen, tell)


if __name__ == "__main__":
    cli.run(Job, main)

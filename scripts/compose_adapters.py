"""Compose a task adapter with the difference of two language adapters (paper 000, equation 2)."""

from pathlib import Path

from scripts import cli
from seedbed.generators.settings import Composition
from seedbed.manifests import Tell


class Job(cli.Job):
    task: Path
    """adapter of the task in the pivot language"""
    target: Path
    """adapter of the language"""
    source: Path
    """adapter of the pivot language"""
    composition: Composition = Composition()
    chosen: Path | None = None
    """JSON of program choose, whose scale replaces the composition's"""
    output: Path


def main(job: Job) -> None:
    from seedbed.generators.lora import adapter_card

    make(job, adapter_card.write)


def make(job: Job, tell: Tell) -> None:
    """Compose the adapters; `tell` writes the card."""
    from seedbed.choices import read_choice
    from seedbed.generators.composition import compose_directories

    composition = job.composition
    if job.chosen:
        composition = composition.updated({"scale": read_choice(job.chosen, "scale", float)})
    compose_directories(job.task, job.target, job.source, composition, job.output, tell)


if __name__ == "__main__":
    cli.run(Job, main)

"""Train adapters of the encoders of several languages jointly; a killed training resumes."""

from pathlib import Path
from typing import Any

from scripts import cli
from seedbed.encoders import objectives
from seedbed.encoders.settings import Training
from seedbed.settings import Seed


class Job(cli.Resumable):
    encoders: dict[str, Path]
    """language -> its encoder without adapters, which keeps its prompts"""
    each: dict[str, Path]
    """language -> TSV: id and columns of texts"""
    rows: cli.Rows = 0
    fixed: list[str] = []
    """languages whose encoders get no adapters"""
    objective: objectives.Named
    training: Training = Training()
    seed: Seed
    about: dict[str, Any] = {}
    """for the manifest"""


def main(job: Job) -> None:
    from seedbed.encoders.training.batches import LanguageTables
    from seedbed.encoders.training.joint_adapters import train_joint_adapters

    with cli.resumable(job) as run:
        train_joint_adapters(
            job.encoders,
            LanguageTables(job.each, job.rows),
            job.training,
            objective=job.objective,
            fixed=job.fixed,
            seed=job.seed,
            run=run.described(job.about),
        )


if __name__ == "__main__":
    cli.run(Job, main)

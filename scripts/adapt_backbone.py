"""Train one backbone by masked language modelling in one language; a killed training goes on."""

from pathlib import Path
from typing import Any

from scripts import cli
from seedbed.encoders.vocabulary.settings import Masked


class Job(cli.Resumable):
    weights: Path
    """folder of the backbone"""
    texts: Path
    """TSV: id, text"""
    sentences: int
    """so many of the texts at most"""
    masked: Masked = Masked()
    about: dict[str, Any] = {}
    """for the manifest"""


def main(job: Job) -> None:
    from seedbed.encoders.training.mlm import adapt
    from seedbed.encoders.vocabulary.corpus import Lines

    with cli.resumable(job) as options:
        adapt(job.weights, Lines(job.texts, job.sentences), job.masked, about=job.about, **options)


if __name__ == "__main__":
    cli.run(Job, main)

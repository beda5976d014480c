"""Give one backbone a tokenizer of one language, and rows of word embeddings to go with it."""

from pathlib import Path
from typing import Any

from scripts import cli
from seedbed.encoders.vocabulary.settings import Vocabulary
from seedbed.settings import NoResult


class Job(cli.Job):
    weights: Path
    """folder of the backbone"""
    texts: Path
    """TSV: id, text"""
    vocabulary: Vocabulary = Vocabulary()
    masks: NoResult[bool] = False
    """masked language modelling follows: a tokenizer without a mask is refused"""
    about: dict[str, Any] = {}
    """for the manifest"""
    output: Path


def main(job: Job) -> None:
    from seedbed.encoders.vocabulary.corpus import Lines
    from seedbed.encoders.vocabulary.replace import swap

    texts = Lines(job.texts, job.vocabulary.sentences)
    swap(job.weights, texts, job.vocabulary, job.output, about=job.about, mask=job.masks)


if __name__ == "__main__":
    cli.run(Job, main)

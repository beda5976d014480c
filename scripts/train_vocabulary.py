"""Give one encoder a tokenizer of one language, and rows of word embeddings to go with it."""

from pathlib import Path

from scripts import cli
from seedbed.encoders.objectives.vocabulary import Vocabulary
from seedbed.manifests import Tell
from seedbed.settings import NoResult


class Job(cli.Derived):
    vocabulary: Vocabulary = Vocabulary()
    masks: NoResult[bool] = False
    """masked language modelling follows: a tokenizer without a mask is refused"""
    output: Path


def main(job: Job) -> None:
    from seedbed.encoders.export import card

    make(job, card.write)


def make(job: Job, tell: Tell) -> None:
    """Make the encoder; `tell` writes its card."""
    from seedbed.encoders.vocabulary.corpus import CorpusSentences
    from seedbed.encoders.vocabulary.replace import replace_vocabulary

    replace_vocabulary(
        job.original(),
        CorpusSentences(job.texts, job.rows),
        job.vocabulary,
        job.output,
        about=job.about | {"seed": job.seed},
        mask=job.masks,
        tell=tell,
    )


if __name__ == "__main__":
    cli.run(Job, main)

"""Train one encoder by masked language modelling in one language; a killed training resumes."""

from contextlib import AbstractContextManager

from scripts import cli
from seedbed.checkpoints import Run
from seedbed.encoders.objectives.masked import Masked
from seedbed.manifests import Tell


class Job(cli.Derived, cli.Resumable):
    masked: Masked = Masked()


def main(job: Job) -> None:
    from seedbed.encoders.export import card

    make(job, card.write, cli.resumable(job))


def make(job: Job, tell: Tell, resumed: AbstractContextManager[Run]) -> None:
    """Make the encoder; `tell` writes its card, and it is trained within `resumed`, see `cli.resumable`."""
    from seedbed.encoders.training.mlm import adapt
    from seedbed.encoders.vocabulary.corpus import CorpusSentences

    sentences, original = CorpusSentences(job.texts, job.rows), job.original()
    with resumed as run:
        adapt(original, sentences, job.masked, run=run.described(job.about | {"seed": job.seed}, tell))


if __name__ == "__main__":
    cli.run(Job, main)

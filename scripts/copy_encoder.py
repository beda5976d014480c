"""Copy one encoder, by looking at texts: a smaller one, or the mean of several seeds."""

from pathlib import Path

from scripts import cli
from seedbed.encoders.compression.settings import Copies
from seedbed.manifests import Tell


class Job(cli.Derived):
    copies: Copies
    """{name: settings} of the way of copying"""
    refer: dict[str, Path] = {}
    """name -> another encoder that is read, see encoders.compression.settings"""
    output: Path


def main(job: Job) -> None:
    from seedbed.encoders.export import card

    make(job, card.write)


def make(job: Job, tell: Tell) -> None:
    """Compress the encoder; `tell` writes its card."""
    from seedbed.corpora.select.subset import subset
    from seedbed.encoders.compression.compress import compress
    from seedbed.io import read_table

    texts = subset(read_table(job.texts, ["id", "text"]), job.rows)["text"]
    compress(
        job.original(),
        texts,
        job.copies,
        seed=job.seed,
        output=job.output,
        about=job.about,
        folders=job.refer,
        tell=tell,
    )


if __name__ == "__main__":
    cli.run(Job, main)

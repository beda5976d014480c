"""Embed texts of the pivot language, which encoders of other languages are aligned with, once."""

from pathlib import Path

from scripts import cli


class Job(cli.Job):
    encoder: Path
    texts: Path
    columns: list[str]
    """columns of `texts` that are in the pivot language"""
    language: str = ""
    """their language, where the encoder's prompt depends on it"""
    state: cli.State
    output: Path


def main(job: Job) -> None:
    from seedbed.checkpoints import own_state
    from seedbed.encoders.models.vector_file import write_vectors
    from seedbed.io import read_table
    from seedbed.manifests import MANIFEST

    texts = read_table(job.texts, ["id", *job.columns])
    with own_state(job.state, job.output / MANIFEST, job) as state:
        columns = {name: texts[name] for name in job.columns}
        write_vectors(job.encoder, columns, job.output, state, job.language)


if __name__ == "__main__":
    cli.run(Job, main)

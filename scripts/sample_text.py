"""Sample the sentences of a corpus that identify its language."""

from pathlib import Path

from scripts import cli


class Job(cli.Job):
    corpus: Path
    """TSV: id, text"""
    output: Path


def main(job: Job) -> None:
    from seedbed.corpora.select.subset import sentences
    from seedbed.io import read_blocks, write_table

    write_table(sentences(read_blocks(job.corpus, ["id", "text"])), job.output)


if __name__ == "__main__":
    cli.run(Job, main)

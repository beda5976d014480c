"""Fetch one model, a generator's or a backbone's, as a directory that loads offline."""

from pathlib import Path

from scripts import cli


class Job(cli.Fetching):
    output: Path


def main(job: Job) -> None:
    from seedbed.corpora.read.assets import Store
    from seedbed.generators.weights.fetch import fetch

    fetch(job.source, Store(job.downloads, job.lock), job.output)


if __name__ == "__main__":
    cli.run(Job, main)

"""Fetch one model, a generator's or a backbone's, as a directory that loads offline."""

from collections.abc import Callable
from pathlib import Path

from scripts import cli


class Job(cli.Fetching):
    output: Path


def main(job: Job) -> None:
    from seedbed.generators.weights.whole import require_whole_files

    make(job, require_whole_files)


def make(job: Job, look: Callable[[Path], object]) -> None:
    """Fetch the model; `look` refuses one whose files are not whole.

    It changes nothing and comes from `main`, so that no other version of the libraries that it opens files with
    downloads a model again.
    """
    from seedbed.corpora.read.assets import Store
    from seedbed.generators.weights.fetch import fetch

    fetch(job.source, Store(job.downloads, job.lock), job.output, look)


if __name__ == "__main__":
    cli.run(Job, main)

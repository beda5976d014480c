"""Write the manifest from which a classifier is loaded: its kind, its settings, and the folders of its parts."""

from pathlib import Path
from typing import Any

from scripts import cli


class Job(cli.Job):
    system: dict[str, Any]
    """kind of the classifier, with the settings of this kind"""
    about: dict[str, Any]
    """facts for score files"""
    parts: dict[str, Path] = {}
    """base, adapter, head, retriever -> its folder"""
    output: Path


def main(job: Job) -> None:
    from seedbed.classifiers.manifest import describe

    describe(job.output, job.about, job.system, job.parts)


if __name__ == "__main__":
    cli.run(Job, main)

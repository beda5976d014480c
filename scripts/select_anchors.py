"""Sample one language's anchors from its corpus; no anchor is an evaluation sentence."""

from pathlib import Path

from scripts import cli
from seedbed.corpora.settings import Anchors


class Job(cli.Job):
    corpus: Path
    """TSV: id, text"""
    pivot: Path | None = None
    """some sentences of the pivot language; left out, this is the pivot"""
    tests: list[Path] = []
    """the language's evaluation sets"""
    script: str
    """ISO 15924"""
    anchors: Anchors = Anchors()
    output: Path
    audit: Path


def main(job: Job) -> None:
    from seedbed.corpora.select.anchors import select
    from seedbed.corpora.select.contamination import EvaluationTexts
    from seedbed.corpora.select.language_id import LanguageId
    from seedbed.io import read_blocks, write_json, write_table

    anchors, audit = select(
        lambda: read_blocks(job.corpus, ["id", "text"]),
        LanguageId.read(job.corpus, job.pivot) if job.pivot else None,
        EvaluationTexts.read(job.tests),
        job.script,
        job.anchors,
    )
    write_table(anchors, job.output)
    write_json(audit, job.audit)


if __name__ == "__main__":
    cli.run(Job, main)

"""Sample one language's seed pairs from its parallel text; no sentence of a pair is an evaluation sentence."""

from pathlib import Path

from scripts import cli
from seedbed.corpora.settings import COLUMNS, SeedPairs


class Job(cli.Job):
    corpus: Path
    """TSV: id, text, pivot"""
    record: Path
    """its record, by fetch_corpus"""
    known: list[Path] = []
    """sentences of the language and of the pivot"""
    tests: list[Path] = []
    """the study's evaluation sets"""
    scripts: tuple[str, str]
    """ISO 15924, of the language and of the pivot"""
    seed_pairs: SeedPairs = SeedPairs()
    output: Path
    audit: Path


def main(job: Job) -> None:
    from seedbed.corpora.select.contamination import EvaluationTexts
    from seedbed.corpora.select.language_id import LanguageId
    from seedbed.corpora.select.pairs import select
    from seedbed.io import read_blocks, read_json, write_json, write_table

    counts = read_json(job.record)["counts"]
    pairs, audit = select(
        lambda: read_blocks(job.corpus, ["id", *COLUMNS["parallel"]]),
        LanguageId.read(*job.known) if job.known else None,
        EvaluationTexts.read(job.tests),
        job.scripts,
        job.seed_pairs,
    )
    write_table(pairs, job.output)
    write_json({"corpus": counts} | audit, job.audit)


if __name__ == "__main__":
    cli.run(Job, main)

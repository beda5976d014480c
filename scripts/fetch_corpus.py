"""Fetch one corpus or test set of one language as a TSV, with a record of its origin."""

from collections import Counter
from pathlib import Path

from scripts import cli
from seedbed.corpora.settings import COLUMNS, NO_TEXT, Cleaning, Kind


class Job(cli.Fetching):
    kind: Kind
    cleaning: Cleaning = Cleaning()
    test: bool = False
    """an evaluation set: keep every row"""
    tests: list[Path] = []
    """sets whose texts no row may repeat"""
    trained: list[Path] = []
    """corpora whose texts no row may repeat"""
    scale: tuple[float, float] = (0.0, 1.0)
    """least and greatest gold score"""
    output: Path
    record: Path


def main(job: Job) -> None:
    from seedbed import origins
    from seedbed.corpora.read.assets import Store
    from seedbed.corpora.read.fetch import counted, fetch
    from seedbed.corpora.select.contamination import IN_TESTS, IN_TRAINING, EvaluationTexts, without_tests
    from seedbed.corpora.shape.labels import with_scores
    from seedbed.io import write_json, write_table

    store = Store(job.downloads, job.lock)
    corpus, record = fetch(job.source, job.kind, store, job.cleaning, test=job.test)
    if job.kind == "pairs":
        corpus = with_scores(corpus, job.scale, origins.in_words(record["origin"]))
    texts, left_out = [name for name in COLUMNS[job.kind] if name not in NO_TEXT], Counter()
    for files, reason in ((job.tests, IN_TESTS), (job.trained, IN_TRAINING)):
        if files:
            corpus = without_tests(corpus, texts, EvaluationTexts.read(files), left_out, reason)
    kept: Counter[str] = Counter()
    write_table(counted(corpus, record, kept), job.output)
    if job.tests or job.trained:
        record["counts"] |= {**left_out, "kept": 0, **kept}
    write_json(record, job.record)


if __name__ == "__main__":
    cli.run(Job, main)

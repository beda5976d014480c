"""Drop the triplets that must not train an encoder; say how many, which and why."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts import cli
from seedbed.triplets.settings import Audit

if TYPE_CHECKING:
    from seedbed.triplets.switching import WordCheck


class Job(cli.Job):
    triplets: Path
    """TSV: id, anchor, positive, negative"""
    corpus: Path
    """sentences of the anchors' language"""
    pivot: Path | None = None
    """sentences of the pivot language; left out, this is the pivot"""
    in_pivot: bool = False
    """positives and negatives are in the pivot language"""
    script: str
    """ISO 15924 of positives and negatives"""
    source: Path | None = None
    """TSV of the rows that the triplets translate; left out, they are no translations"""
    tests: list[Path] = []
    """the language's evaluation sets"""
    audit: Audit = Audit()
    about: dict[str, Any] = {}
    """facts for the report: the record of the generator that wrote them"""
    output: Path
    rejected: Path
    report: Path


def main(job: Job) -> None:
    from seedbed.corpora.select.contamination import EvaluationTexts
    from seedbed.corpora.select.language_id import LanguageId
    from seedbed.io import read_blocks, write_json, write_table
    from seedbed.triplets.audit import audit
    from seedbed.triplets.faults import Checks
    from seedbed.triplets.translations import audit_translations

    rules = job.audit
    identify = LanguageId.read(job.corpus, job.pivot) if rules.language_id and job.pivot else None
    checks = Checks(rules, job.script, EvaluationTexts.read(job.tests), identify, job.in_pivot)
    rows = partial(read_blocks, columns=["id", "anchor", "positive", "negative"])
    triplets = partial(rows, job.triplets)
    if job.source:
        kept, rejected, report = audit_translations(triplets, rows(job.source), checks)
    else:
        kept, rejected, report = audit(triplets, checks, word_check(job))
    write_table(kept, job.output)
    write_table(rejected, job.rejected)
    write_json(report | job.about, job.report)


def word_check(job: Job) -> "WordCheck | None":
    """The check for words of another language and for unlikely words; None: the audit requests neither.

    The other language is the pivot language, or the anchors' if the texts are in the pivot language.

    Raises:
        UserError: too few sentences.
    """
    from seedbed.io import read_table
    from seedbed.triplets.switching import WordCheck

    foreign = job.audit.foreign_words if job.pivot else 0
    if not foreign and not job.audit.unlikely_words:
        return None
    corpus, pivot = (path and list(read_table(path, ["id", "text"])["text"]) for path in (job.corpus, job.pivot))
    own, other = (pivot or corpus, corpus) if job.in_pivot else (corpus, pivot or corpus)
    return WordCheck(own, other, job.script, others=foreign, unlikely=job.audit.unlikely_words)


if __name__ == "__main__":
    cli.run(Job, main)

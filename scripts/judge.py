"""Score the translations of a corpus or test set by a judge, each candidate of a text once."""

from pathlib import Path

from scripts import cli
from seedbed.generators.writing.translation_settings import Answer


class Job(cli.Asking):
    translations: dict[str, Path]
    """translator -> TSV of its translations"""
    answer: Answer = "likelihood"
    """see generators.writing.translation_settings.Judge"""


def main(job: Job) -> None:
    from seedbed.generators.writing import translations
    from seedbed.generators.writing.judge import judgements
    from seedbed.generators.writing.translate import Tongue, writer_of
    from seedbed.io import read_table, write_json, write_table

    judge = writer_of(job.generator, job.answer, job.base, job.state)
    languages = translations.texts_of(job.texts, job.columns, job.pivot)
    tables = {name: read_table(path, translations.COLUMNS) for name, path in job.translations.items()}
    tongues = {code: Tongue(**facts) for code, facts in job.languages.items()}
    table, counts = judgements(tables, languages, tongues, job.pivot, judge)
    write_table(table, job.output)
    write_json({"judge": job.name, "counts": counts, **(judge.about if judge else {})}, job.record)


if __name__ == "__main__":
    cli.run(Job, main)

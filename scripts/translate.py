"""Translate the texts of a corpus or test set into the pivot language, each once."""

from pathlib import Path

from scripts import cli
from seedbed.generators.writing.translation_settings import Reads


class Job(cli.Asking):
    reads: Reads = "prompt"
    """see generators.writing.translation_settings.Translator"""
    adapters: dict[str, Path] = {}
    """language -> the adapter that translates it"""
    given: dict[str, Path] = {}
    """language -> TSV of translations that are there"""


def main(job: Job) -> None:
    from seedbed.generators.writing.translate import Tongue, translations, writer_of
    from seedbed.generators.writing.translations import texts_of
    from seedbed.io import write_json, write_table

    tongues = {
        code: Tongue(**facts, adapter=job.adapters.get(code), given=job.given.get(code))
        for code, facts in job.languages.items()
    }
    writer = writer_of(job.generator, job.reads, job.base, job.state, [*job.adapters.values()])
    table, counts = translations(texts_of(job.texts, job.columns, job.pivot), tongues, job.pivot, writer)
    write_table(table, job.output)
    write_json({"translator": job.name, "counts": counts, **(writer.about if writer else {})}, job.record)


if __name__ == "__main__":
    cli.run(Job, main)

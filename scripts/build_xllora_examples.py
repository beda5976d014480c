"""Build the training sets of the two XL-LoRA adapters, or sample them from published ones."""

import functools
from pathlib import Path

import pandas as pd

from scripts import cli
from seedbed.corpora.settings import COLUMNS
from seedbed.generators.settings import PART_CORPUS, POLARITIES, Generator, Polarity, by_adapters
from seedbed.io import read_table, write_table
from seedbed.names import ROLES


class Job(cli.Job):
    base: Path
    """folder of the language model"""
    generator: Generator
    adapters: dict[Polarity, Path] = {}
    """polarity -> task adapter of the pivot language"""
    published: dict[Polarity, Path] = {}
    """polarity -> TSV: id, anchor, target; nothing is generated"""
    parallel: dict[str, Path] = {}
    """language -> TSV: id, text, pivot"""
    nli: dict[str, Path] = {}
    """language -> TSV: id, anchor, positive, negative"""
    machine: dict[str, Path] = {}
    """language -> TSV: id, anchor, positive, negative, of machine translations"""
    language: str = "English"
    """name of the pivot language"""
    count: int
    """examples for each polarity"""
    state: cli.State
    positive_output: Path
    negative_output: Path


def main(job: Job) -> None:
    from seedbed.checkpoints import own_state
    from seedbed.generators.lora import xllora
    from seedbed.generators.writing.backends import Backend, open_backend
    from seedbed.generators.writing.journal import folder_for
    from seedbed.generators.writing.prompts import prompter
    from seedbed.generators.writing.triplets import complete
    from seedbed.manifests import digest_of

    generator, seed = job.generator, job.generator.lora.seed
    outputs = {polarity: getattr(job, f"{polarity}_output") for polarity in POLARITIES}
    if job.published:
        tables = {polarity: read_table(path, ["id", "anchor", "target"]) for polarity, path in job.published.items()}
        for polarity, output in outputs.items():
            write_table(xllora.sample(tables[polarity], job.count, seed), output)
        return
    adapters = {polarity: job.adapters.get(polarity) for polarity in POLARITIES}
    prompt_for = prompter(by_adapters("cross-lingual"), job.language, generator.prompts, generator.sampling.seed)
    files = {"human": job.nli, "synthetic": job.parallel, "machine": job.machine}
    parts = {
        part: {lang: read_table(path, ["id", *COLUMNS[ROLES[PART_CORPUS[part]]]]) for lang, path in files[part].items()}
        for part in generator.xllora.parts
    }

    @functools.cache
    def backend() -> Backend:  # loaded only if there is something to write
        return open_backend(generator, job.base, list(adapters.values()))

    with own_state(job.state, job.positive_output, job) as state:

        def write(premises: pd.DataFrame) -> pd.DataFrame:
            journals = folder_for(generator, job.state, state)
            made = {"generator": generator, "weights": digest_of(job.base), "state": journals}
            return complete(backend(), premises, prompt_for, adapters, **made)

        examples = xllora.build(parts, write, job.count, seed)
        for polarity, output in outputs.items():
            write_table(examples[polarity], output)


if __name__ == "__main__":
    cli.run(Job, main)

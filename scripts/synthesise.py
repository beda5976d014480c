"""Generate a positive and a negative for each anchor of one shard, or translate its rows."""

from pathlib import Path
from typing import Self

from pydantic import Field, model_validator

from scripts import cli
from seedbed.corpora.settings import COLUMNS
from seedbed.generators.settings import POLARITIES, TRANSLATION, Generator, Method, Polarity


class Job(cli.Job):
    base: Path | None = None
    """folder of the language model; left out, a server alone has it"""
    name: str
    """the generator's name"""
    generator: Generator
    anchors: Path
    """TSV: id, text"""
    rows: int = Field(0, ge=0)
    """number of anchors that are used, see corpora.select.subset; 0: all"""
    shards: int = Field(1, ge=1)
    """number of shards"""
    shard: int = Field(0, ge=0)
    """number of the shard, from 0"""
    method: Method
    language: str
    """name of the language of positives and negatives"""
    translated: list[str] = []
    """for a translator: its codes of the source and the target language"""
    adapters: dict[Polarity, Path] = {}
    """polarity -> the adapter that generates it"""
    state: cli.State
    output: Path

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if self.shard >= self.shards:
            raise ValueError(f"shard: {self.shard} of {self.shards}; they are numbered from 0")
        return self


def main(job: Job) -> None:
    from seedbed.checkpoints import own_state
    from seedbed.corpora.select.subset import subset
    from seedbed.generators.writing.backends import open_backend
    from seedbed.generators.writing.corpus import translate
    from seedbed.generators.writing.journal import folder_for
    from seedbed.generators.writing.prompts import prompter
    from seedbed.generators.writing.triplets import complete
    from seedbed.io import read_table
    from seedbed.manifests import digest_of
    from seedbed.triplets.shards import shard, write_shard

    generator, adapters = job.generator, {polarity: job.adapters.get(polarity) for polarity in POLARITIES}
    with own_state(job.state, job.output, job) as state:
        backend = open_backend(generator, job.base, [*job.adapters.values()])
        texts = COLUMNS["paraphrases" if job.method == TRANSLATION else "text"]
        anchors = subset(read_table(job.anchors, ["id", *texts]), job.rows)
        rows = shard(anchors, job.shard, job.shards)
        how = {"generator": generator, "weights": digest_of(job.base), "state": folder_for(generator, job.state, state)}
        if job.method == TRANSLATION:
            made = translate(backend, rows, job.translated, **how)
        else:
            ask = prompter(job.method, job.language, generator.prompts, generator.sampling.seed, generator.shots)
            made = complete(backend, rows, ask, adapters, **how)
        write_shard(made, job.name, job.method, job.output)


if __name__ == "__main__":
    cli.run(Job, main)

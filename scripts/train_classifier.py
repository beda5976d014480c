"""Train one adapter of a classifier: for the task, from labelled pairs, or for a language, from its texts."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Literal, Self

from pydantic import model_validator

from scripts import cli
from seedbed.checkpoints import Run
from seedbed.manifests import Tell


class Job(cli.Adapter):
    examples: Path
    """TSV: id, premise, hypothesis, label; or id, text; or id, prompt, response"""
    kind: Literal["pairs", "text", "instructions", "annotated"]
    """pairs: the task; else the language"""
    style: Literal["head", "chat", "plain"]
    """how it answers: with a head, or to prompts of this style"""

    @model_validator(mode="after")
    def _can_learn(self) -> Self:
        if self.kind != "pairs" and self.style != "head":
            raise ValueError("the language adapters of a language model are train_language_adapter's")
        return self


def main(job: Job) -> None:
    from seedbed.generators.lora import adapter_card

    make(job, adapter_card.write, cli.resumable(job))


def make(job: Job, tell: Tell, resumed: AbstractContextManager[Run]) -> None:
    """Train the adapter; `tell` writes its card, and it is trained within `resumed`, see `cli.resumable`."""
    from seedbed.classifiers import adapters
    from seedbed.corpora.settings import COLUMNS
    from seedbed.corpora.shape.labels import read_pairs
    from seedbed.generators.lora import training
    from seedbed.generators.lora.data import for_labels, sample
    from seedbed.generators.settings import DATA_KIND
    from seedbed.io import read_table
    from seedbed.weights import open_tokenizer

    if job.kind != "pairs":
        columns = list(COLUMNS[DATA_KIND[job.kind]])
        rows = sample(read_table(job.examples, ["id", *columns]).to_dict("records"), job.lora)
        train, examples = adapters.train_language, [" ".join(row[name] for name in columns) for row in rows]
    else:
        train, examples = adapters.train_task, read_pairs(job.examples, train=True).to_dict("records")
        if job.style != "head":
            asked = {"language": job.language, "style": job.style}
            train, examples = training.train, for_labels(open_tokenizer(job.base), examples, job.lora, **asked)
    about = {"kind": "labels" if job.kind == "pairs" else "language", "language": job.language, "data": job.kind}
    with resumed as run:
        train(job.base, examples, job.lora, name=job.name, dtype=job.dtype, run=run.described(about, tell))


if __name__ == "__main__":
    cli.run(Job, main)

"""Train the adapter that generates entailments, contradictions or both in the pivot language."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Literal

from scripts import cli
from seedbed.checkpoints import Run
from seedbed.generators.settings import BOTH, POLARITIES
from seedbed.manifests import Tell


class Job(cli.Adapter):
    triplets: Path
    """TSV: id, anchor, positive, negative"""
    polarity: Literal[(*POLARITIES, BOTH)]


def main(job: Job) -> None:
    from seedbed.generators.lora import adapter_card

    make(job, adapter_card.write, cli.resumable(job))


def make(job: Job, tell: Tell, resumed: AbstractContextManager[Run]) -> None:
    """Train the adapter; `tell` writes its card, and it is trained within `resumed`, see `cli.resumable`."""
    from seedbed.generators.lora import training
    from seedbed.generators.lora.data import for_task
    from seedbed.io import read_table
    from seedbed.weights import open_tokenizer

    polarities = POLARITIES if job.polarity == BOTH else (job.polarity,)
    triplets = read_table(job.triplets, ["id", "anchor", *polarities]).to_dict("records")
    asked = {"language": job.language, "style": job.style}
    examples = for_task(open_tokenizer(job.base), triplets, polarities, job.lora, **asked)
    about = {"kind": "task", "polarity": job.polarity, "language": job.language, "prompts": job.style}
    with resumed as run:
        training.train(job.base, examples, job.lora, name=job.name, dtype=job.dtype, run=run.described(about, tell))


if __name__ == "__main__":
    cli.run(Job, main)

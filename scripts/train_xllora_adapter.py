"""Train the adapter that generates pivot-language text for any anchor: XL-LoRA (paper 000, section 3, step 3)."""

from contextlib import AbstractContextManager
from pathlib import Path

from scripts import cli
from seedbed.checkpoints import Run
from seedbed.generators.settings import Polarity
from seedbed.manifests import Tell


class Job(cli.Adapter):
    examples: Path
    """TSV: id, language, anchor, target"""
    polarity: Polarity


def main(job: Job) -> None:
    from seedbed.generators.lora import adapter_card

    make(job, adapter_card.write, cli.resumable(job))


def make(job: Job, tell: Tell, resumed: AbstractContextManager[Run]) -> None:
    """Train the adapter; `tell` writes its card, and it is trained within `resumed`, see `cli.resumable`."""
    from seedbed.generators.lora import training
    from seedbed.generators.lora.data import from_pairs, sample
    from seedbed.generators.writing.prompts import zero_shot
    from seedbed.io import read_table
    from seedbed.weights import open_tokenizer

    rows = sample(read_table(job.examples, ["id", "anchor", "target"]).to_dict("records"), job.lora)
    pairs = [(zero_shot(row["anchor"], job.polarity, job.language, job.style), row["target"]) for row in rows]
    examples = [*from_pairs(open_tokenizer(job.base), pairs, job.style)]
    about = {"kind": "xllora", "polarity": job.polarity, "language": job.language, "prompts": job.style}
    with resumed as run:
        training.train(job.base, examples, job.lora, name=job.name, dtype=job.dtype, run=run.described(about, tell))


if __name__ == "__main__":
    cli.run(Job, main)

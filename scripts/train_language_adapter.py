"""Train the adapter of one language, from instructions, sentences, passages or translations."""

from contextlib import AbstractContextManager
from pathlib import Path

from scripts import cli
from seedbed.checkpoints import Run
from seedbed.corpora.settings import COLUMNS
from seedbed.generators.settings import DATA_KIND, LanguageData, LanguageLoss
from seedbed.manifests import Tell


class Job(cli.Adapter):
    texts: Path
    """TSV: id, text; id, prompt, response; or id, text, pivot"""
    kind: LanguageData
    loss: LanguageLoss = "text"
    """tokens of instructions that have a loss"""
    pivot: str = ""
    """name of the language that translations are in"""


def main(job: Job) -> None:
    from seedbed.generators.lora import adapter_card

    make(job, adapter_card.write, cli.resumable(job))


def make(job: Job, tell: Tell, resumed: AbstractContextManager[Run]) -> None:
    """Train the adapter; `tell` writes its card, and it is trained within `resumed`, see `cli.resumable`."""
    from seedbed.generators.lora import training
    from seedbed.generators.lora.data import for_language
    from seedbed.io import read_table
    from seedbed.weights import open_tokenizer

    rows = read_table(job.texts, ["id", *COLUMNS[DATA_KIND[job.kind]]]).to_dict("records")
    asked = {"language": job.language, "style": job.style, "loss": job.loss, "pivot": job.pivot}
    examples = for_language(open_tokenizer(job.base), rows, job.kind, job.lora, **asked)
    about = {"kind": "language", "data": job.kind, "language": job.language, "prompts": job.style, "loss": job.loss}
    about |= {"pivot": job.pivot} if job.pivot else {}
    with resumed as run:
        training.train(job.base, examples, job.lora, name=job.name, dtype=job.dtype, run=run.described(about, tell))


if __name__ == "__main__":
    cli.run(Job, main)

"""Train one adapter of a classifier: for the task, from labelled pairs, or for a language, from its texts."""

import argparse
from contextlib import AbstractContextManager
from typing import Any

from scripts.cli import adapter_parser, named_of, resumable, run
from seedbed.classifiers import adapters
from seedbed.corpora.labels import read_pairs
from seedbed.corpora.settings import COLUMNS
from seedbed.generators import adapter_card, lora
from seedbed.generators.examples import for_labels, sample
from seedbed.generators.settings import DATA_KIND, Lora
from seedbed.io import read_table
from seedbed.manifests import Tell
from seedbed.weights import open_tokenizer


def main(argv: list[str] | None = None) -> None:
    args = parser().parse_args(argv)
    if args.kind != "pairs" and args.style != "head":
        parser().error("the language adapters of a language model are train_language_adapter's")
    make(args, adapter_card.write, resumable(args, argv))


def parser() -> argparse.ArgumentParser:
    """How the arguments are read."""
    table = "TSV: id, premise, hypothesis, label; or id, text; or id, prompt, response"
    parser = adapter_parser(__doc__, "examples", help=table, styles=("head", "chat", "plain"))
    kinds = ("pairs", "text", "instructions", "annotated")
    parser.add_argument("--kind", required=True, choices=kinds, help="pairs: the task; else the language")
    return parser


def make(args: argparse.Namespace, tell: Tell, resumed: AbstractContextManager[dict[str, Any]]) -> None:
    """Train the adapter.

    Args:
        tell: writes its card.
        resumed: as long as it trains, see `resumable`.
    """
    settings = Lora.load(args.lora)
    about = {"kind": "labels" if args.kind == "pairs" else "language", "language": args.language, "data": args.kind}
    with resumed as options:
        train(args, settings, options | named_of(args) | {"about": about, "tell": tell})


def train(args: argparse.Namespace, settings: Lora, options: dict[str, Any]) -> None:
    """Train the adapter that the arguments ask for."""
    if args.kind != "pairs":
        columns = list(COLUMNS[DATA_KIND[args.kind]])
        rows = sample(read_table(args.examples, ["id", *columns]).to_dict("records"), settings)
        texts = [" ".join(row[name] for name in columns) for row in rows]
        adapters.train_language(args.base, texts, settings, **options)
        return
    pairs = read_pairs(args.examples, train=True).to_dict("records")
    if args.style == "head":
        adapters.train_task(args.base, pairs, settings, **options)
        return
    tokenizer = open_tokenizer(args.base)
    examples = for_labels(tokenizer, pairs, settings, language=args.language, style=args.style)
    lora.train(args.base, examples, settings, **options)


if __name__ == "__main__":
    run(main)

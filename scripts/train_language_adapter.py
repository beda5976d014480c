"""Train the adapter of one language, from instructions, sentences, passages or translations."""

import argparse
from contextlib import AbstractContextManager
from typing import Any, get_args

from scripts.cli import adapter_parser, named_of, resumable, run
from seedbed.corpora.settings import COLUMNS
from seedbed.generators import adapter_card, lora
from seedbed.generators.examples import for_language
from seedbed.generators.settings import DATA_KIND, LanguageLoss, Lora
from seedbed.io import read_table
from seedbed.manifests import Tell
from seedbed.weights import open_tokenizer


def main(argv: list[str] | None = None) -> None:
    args = parser().parse_args(argv)
    make(args, adapter_card.write, resumable(args, argv))


def parser() -> argparse.ArgumentParser:
    """How the arguments are read."""
    parser = adapter_parser(__doc__, "texts", help="TSV: id, text; id, prompt, response; or id, text, pivot")
    parser.add_argument("--kind", required=True, choices=tuple(DATA_KIND))
    parser.add_argument("--loss", default="text", choices=get_args(LanguageLoss), help="what is learnt of instructions")
    parser.add_argument("--pivot", default="", help="name of the language that translations are in")
    return parser


def make(args: argparse.Namespace, tell: Tell, resumed: AbstractContextManager[dict[str, Any]]) -> None:
    """Train the adapter.

    Args:
        tell: writes its card.
        resumed: as long as it trains, see `resumable`.
    """
    settings = Lora.load(args.lora)
    rows = read_table(args.texts, ["id", *COLUMNS[DATA_KIND[args.kind]]]).to_dict("records")
    tokenizer = open_tokenizer(args.base)
    asked = {"language": args.language, "style": args.style, "loss": args.loss, "pivot": args.pivot}
    examples = for_language(tokenizer, rows, args.kind, settings, **asked)
    about = {"kind": "language", "data": args.kind, "language": args.language, "prompts": args.style, "loss": args.loss}
    about |= {"pivot": args.pivot} if args.pivot else {}
    with resumed as options:
        lora.train(args.base, examples, settings, about=about, tell=tell, **named_of(args), **options)


if __name__ == "__main__":
    run(main)

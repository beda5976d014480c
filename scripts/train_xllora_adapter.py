"""Train the adapter that reads any language and writes the pivot language: XL-LoRA (paper 000, section 3, step 3)."""

import argparse
from contextlib import AbstractContextManager
from typing import Any

from scripts.cli import adapter_parser, named_of, resumable, run
from seedbed.generators import adapter_card, lora
from seedbed.generators.examples import from_pairs, sample
from seedbed.generators.prompts import zero_shot
from seedbed.generators.settings import POLARITIES, Lora
from seedbed.io import read_table
from seedbed.manifests import Tell
from seedbed.weights import open_tokenizer


def main(argv: list[str] | None = None) -> None:
    args = parser().parse_args(argv)
    make(args, adapter_card.write, resumable(args, argv))


def parser() -> argparse.ArgumentParser:
    """How the arguments are read."""
    parser = adapter_parser(__doc__, "examples", help="TSV: id, language, anchor, target")
    parser.add_argument("--polarity", required=True, choices=POLARITIES)
    return parser


def make(args: argparse.Namespace, tell: Tell, resumed: AbstractContextManager[dict[str, Any]]) -> None:
    """Train the adapter.

    Args:
        tell: writes its card.
        resumed: as long as it trains, see `resumable`.
    """
    settings = Lora.load(args.lora)
    tokenizer = open_tokenizer(args.base)
    rows = sample(read_table(args.examples, ["id", "anchor", "target"]).to_dict("records"), settings)
    pairs = [(zero_shot(row["anchor"], args.polarity, args.language, args.style), row["target"]) for row in rows]
    about = {"kind": "xllora", "polarity": args.polarity, "language": args.language, "prompts": args.style}
    with resumed as options:
        lora.train(
            args.base,
            list(from_pairs(tokenizer, pairs, args.style)),
            settings,
            about=about,
            tell=tell,
            **named_of(args),
            **options,
        )


if __name__ == "__main__":
    run(main)

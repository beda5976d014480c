"""Train the adapter that writes entailments, contradictions or both in the pivot language."""

import argparse
from contextlib import AbstractContextManager
from typing import Any

from scripts.cli import adapter_parser, named_of, resumable, run
from seedbed.generators import adapter_card, lora
from seedbed.generators.examples import for_task
from seedbed.generators.settings import BOTH, POLARITIES, Lora
from seedbed.io import read_table
from seedbed.manifests import Tell
from seedbed.weights import open_tokenizer


def main(argv: list[str] | None = None) -> None:
    args = parser().parse_args(argv)
    make(args, adapter_card.write, resumable(args, argv))


def parser() -> argparse.ArgumentParser:
    """How the arguments are read."""
    parser = adapter_parser(__doc__, "triplets", help="TSV: id, anchor, positive, negative")
    parser.add_argument("--polarity", required=True, choices=(*POLARITIES, BOTH))
    return parser


def make(args: argparse.Namespace, tell: Tell, resumed: AbstractContextManager[dict[str, Any]]) -> None:
    """Train the adapter.

    Args:
        tell: writes its card.
        resumed: as long as it trains, see `resumable`.
    """
    settings = Lora.load(args.lora)
    polarities = POLARITIES if args.polarity == BOTH else (args.polarity,)
    triplets = read_table(args.triplets, ["id", "anchor", *polarities]).to_dict("records")
    tokenizer = open_tokenizer(args.base)
    examples = for_task(tokenizer, triplets, polarities, settings, language=args.language, style=args.style)
    about = {"kind": "task", "polarity": args.polarity, "language": args.language, "prompts": args.style}
    with resumed as options:
        lora.train(args.base, examples, settings, about=about, tell=tell, **named_of(args), **options)


if __name__ == "__main__":
    run(main)

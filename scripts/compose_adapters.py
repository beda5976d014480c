"""Compose a task adapter with the difference of two language adapters (paper 000, equation 2)."""

import argparse
from pathlib import Path

from scripts.cli import arguments, run
from seedbed.choices import chosen
from seedbed.generators import adapter_card
from seedbed.generators.composition import compose_directories
from seedbed.generators.settings import Composition
from seedbed.manifests import Tell


def main(argv: list[str] | None = None) -> None:
    make(parser().parse_args(argv), adapter_card.write)


def parser() -> argparse.ArgumentParser:
    """How the arguments are read."""
    parser = arguments(__doc__, "output")
    parser.add_argument("--task", required=True, type=Path, help="adapter of the task in the pivot language")
    parser.add_argument("--target", required=True, type=Path, help="adapter of the language")
    parser.add_argument("--source", required=True, type=Path, help="adapter of the pivot language")
    parser.add_argument("--composition", default="{}", help="JSON: seedbed.generators.settings.Composition")
    parser.add_argument("--chosen", type=Path, help="JSON of choose_scale, whose scale goes before the composition's")
    return parser


def make(args: argparse.Namespace, tell: Tell) -> None:
    """Compose the adapters; `tell` writes the card."""
    composition = Composition.load(args.composition)
    if args.chosen:
        composition = composition.updated({"scale": chosen(args.chosen, "scale", float)})
    compose_directories(args.task, args.target, args.source, composition, args.output, tell)


if __name__ == "__main__":
    run(main)

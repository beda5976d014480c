"""Train the adapter that writes entailments, or contradictions, in the pivot language."""

from __future__ import annotations

import argparse
from pathlib import Path

from transformers import AutoTokenizer

from scripts.cli import run
from seedbed.generators import lora
from seedbed.generators.prompts import zero_shot
from seedbed.generators.settings import POLARITIES, Lora
from seedbed.io import read_table


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", required=True, type=Path, help="directory of the language model")
    parser.add_argument("--name", required=True, help="the generator's name")
    parser.add_argument("--triplets", required=True, type=Path, help="TSV: id, anchor, positive, negative")
    parser.add_argument("--polarity", required=True, choices=POLARITIES)
    parser.add_argument("--language", required=True, help="name of the language of the targets")
    parser.add_argument("--style", required=True, choices=("chat", "plain"))
    parser.add_argument("--dtype", default="bfloat16", choices=("bfloat16", "float32"))
    parser.add_argument("--lora", default="{}", help="JSON: seedbed.generators.settings.Lora")
    parser.add_argument("--state", required=True, type=Path, help="directory for what a killed job needs to go on")
    parser.add_argument("--output", required=True, type=Path)
    args = parser.parse_args(argv)

    settings = Lora.load(args.lora)
    tokenizer = AutoTokenizer.from_pretrained(args.base)
    triplets = lora.sample(read_table(args.triplets, ["id", "anchor", args.polarity]).to_dict("records"), settings)
    pairs = [
        (zero_shot(row["anchor"], args.polarity, args.language, args.style), row[args.polarity]) for row in triplets
    ]
    about = {"kind": "task", "polarity": args.polarity, "language": args.language, "prompts": args.style}
    lora.train(
        args.base, lora.from_pairs(tokenizer, pairs, args.style), settings,
        name=args.name, output=args.output, state=args.state, dtype=args.dtype, about=about,
    )  # fmt: skip


if __name__ == "__main__":
    run(main)

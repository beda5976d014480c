"""Train the adapter of one language, from instructions or from plain sentences."""

from __future__ import annotations

import argparse
from pathlib import Path

from transformers import AutoTokenizer

from scripts.cli import run
from seedbed.generators import lora
from seedbed.generators.prompts import language_prompt
from seedbed.generators.settings import Lora
from seedbed.io import read_table

COLUMNS = {"instructions": ["id", "prompt", "response"], "text": ["id", "text"]}


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", required=True, type=Path, help="directory of the language model")
    parser.add_argument("--name", required=True, help="the generator's name")
    parser.add_argument("--texts", required=True, type=Path)
    parser.add_argument("--kind", required=True, choices=tuple(COLUMNS))
    parser.add_argument("--language", required=True, help="name of the language")
    parser.add_argument("--style", required=True, choices=("chat", "plain"))
    parser.add_argument("--dtype", default="bfloat16", choices=("bfloat16", "float32"))
    parser.add_argument("--lora", default="{}", help="JSON: seedbed.generators.settings.Lora")
    parser.add_argument("--state", required=True, type=Path, help="directory for what a killed job needs to go on")
    parser.add_argument("--output", required=True, type=Path)
    args = parser.parse_args(argv)

    settings = Lora.load(args.lora)
    tokenizer = AutoTokenizer.from_pretrained(args.base)
    rows = lora.sample(read_table(args.texts, COLUMNS[args.kind]).to_dict("records"), settings)
    if args.kind == "text":
        examples = lora.from_texts(tokenizer, [row["text"] for row in rows])
    else:
        pairs = [(language_prompt(row["prompt"], args.language, args.style), row["response"]) for row in rows]
        examples = lora.from_pairs(tokenizer, pairs, args.style)
    about = {"kind": "language", "data": args.kind, "language": args.language, "prompts": args.style}
    lora.train(
        args.base, examples, settings,
        name=args.name, output=args.output, state=args.state, dtype=args.dtype, about=about,
    )  # fmt: skip


if __name__ == "__main__":
    run(main)

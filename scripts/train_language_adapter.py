"""Train the adapter of one language, from instructions or from plain sentences."""

from __future__ import annotations

from transformers import AutoTokenizer

from scripts.cli import adapter_parser, run
from seedbed.generators import lora
from seedbed.generators.prompts import language_prompt
from seedbed.generators.settings import Lora
from seedbed.io import read_table

COLUMNS = {"instructions": ["id", "prompt", "response"], "text": ["id", "text"]}


def main(argv: list[str] | None = None) -> None:
    parser = adapter_parser(__doc__, "texts", "TSV: id, text; or id, prompt, response")
    parser.add_argument("--kind", required=True, choices=tuple(COLUMNS))
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

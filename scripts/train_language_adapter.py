"""Train the adapter of one language, from instructions, sentences or passages."""

from __future__ import annotations

from typing import get_args

from scripts.cli import adapter_parser, run
from seedbed.checkpoints import own_state
from seedbed.corpora.settings import COLUMNS
from seedbed.generators import lora
from seedbed.generators.examples import for_language
from seedbed.generators.settings import DATA_KIND, LanguageLoss, Lora
from seedbed.io import read_table
from seedbed.manifests import MANIFEST
from seedbed.weights import open_tokenizer


def main(argv: list[str] | None = None) -> None:
    parser = adapter_parser(__doc__, "texts", "TSV: id, text; or id, prompt, response")
    parser.add_argument("--kind", required=True, choices=tuple(DATA_KIND))
    parser.add_argument("--loss", default="text", choices=get_args(LanguageLoss), help="what is learnt of instructions")
    args = parser.parse_args(argv)

    settings = Lora.load(args.lora)
    rows = read_table(args.texts, ["id", *COLUMNS[DATA_KIND[args.kind]]]).to_dict("records")
    tokenizer = open_tokenizer(args.base)
    asked = {"language": args.language, "style": args.style, "loss": args.loss}
    examples = for_language(tokenizer, rows, args.kind, settings, **asked)
    about = {"kind": "language", "data": args.kind, "language": args.language, "prompts": args.style, "loss": args.loss}
    with own_state(args.state, args.output / MANIFEST, argv) as state:
        lora.train(
            args.base, examples, settings,
            name=args.name, output=args.output, dtype=args.dtype, about=about,
            state=state, minutes=args.checkpoint_minutes,
        )  # fmt: skip


if __name__ == "__main__":
    run(main)

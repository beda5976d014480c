"""Train the adapter of one language, from instructions, sentences or passages."""

from __future__ import annotations

from transformers import AutoTokenizer

from scripts.cli import adapter_parser, run
from seedbed.checkpoints import own_state
from seedbed.corpora.settings import COLUMNS
from seedbed.generators import lora
from seedbed.generators.examples import for_language
from seedbed.generators.settings import DATA_KIND, Lora
from seedbed.io import read_table
from seedbed.manifests import MANIFEST


def main(argv: list[str] | None = None) -> None:
    parser = adapter_parser(__doc__, "texts", "TSV: id, text; or id, prompt, response")
    parser.add_argument("--kind", required=True, choices=tuple(DATA_KIND))
    args = parser.parse_args(argv)

    settings = Lora.load(args.lora)
    rows = read_table(args.texts, ["id", *COLUMNS[DATA_KIND[args.kind]]]).to_dict("records")
    tokenizer = AutoTokenizer.from_pretrained(args.base, trust_remote_code=False)
    examples = for_language(tokenizer, rows, args.kind, settings, language=args.language, style=args.style)
    about = {"kind": "language", "data": args.kind, "language": args.language, "prompts": args.style}
    with own_state(args.state, args.output / MANIFEST, argv) as state:
        lora.train(
            args.base, examples, settings,
            name=args.name, output=args.output, state=state, dtype=args.dtype, about=about,
        )  # fmt: skip


if __name__ == "__main__":
    run(main)

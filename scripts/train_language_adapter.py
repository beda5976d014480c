"""Train the adapter of one language, from instructions, sentences, passages or translations."""

from typing import get_args

from scripts.cli import adapter_parser, run, training
from seedbed.corpora.settings import COLUMNS
from seedbed.generators import lora
from seedbed.generators.examples import for_language
from seedbed.generators.settings import DATA_KIND, LanguageLoss, Lora
from seedbed.io import read_table
from seedbed.weights import open_tokenizer


def main(argv: list[str] | None = None) -> None:
    parser = adapter_parser(__doc__, "texts", "TSV: id, text; id, prompt, response; or id, text, pivot")
    parser.add_argument("--kind", required=True, choices=tuple(DATA_KIND))
    parser.add_argument("--loss", default="text", choices=get_args(LanguageLoss), help="what is learnt of instructions")
    parser.add_argument("--pivot", default="", help="name of the language that translations are in")
    args = parser.parse_args(argv)

    settings = Lora.load(args.lora)
    rows = read_table(args.texts, ["id", *COLUMNS[DATA_KIND[args.kind]]]).to_dict("records")
    tokenizer = open_tokenizer(args.base)
    asked = {"language": args.language, "style": args.style, "loss": args.loss, "pivot": args.pivot}
    examples = for_language(tokenizer, rows, args.kind, settings, **asked)
    about = {"kind": "language", "data": args.kind, "language": args.language, "prompts": args.style, "loss": args.loss}
    about |= {"pivot": args.pivot} if args.pivot else {}
    with training(args, argv) as options:
        lora.train(args.base, examples, settings, about=about, **options)


if __name__ == "__main__":
    run(main)

"""Train the adapter that reads any language and writes the pivot language: XL-LoRA (paper 000, section 3, step 3)."""

from scripts.cli import adapter_parser, run, training
from seedbed.generators import lora
from seedbed.generators.examples import from_pairs, sample
from seedbed.generators.prompts import zero_shot
from seedbed.generators.settings import POLARITIES, Lora
from seedbed.io import read_table
from seedbed.weights import open_tokenizer


def main(argv: list[str] | None = None) -> None:
    parser = adapter_parser(__doc__, "examples", "TSV: id, language, anchor, target")
    parser.add_argument("--polarity", required=True, choices=POLARITIES)
    args = parser.parse_args(argv)

    settings = Lora.load(args.lora)
    tokenizer = open_tokenizer(args.base)
    rows = sample(read_table(args.examples, ["id", "anchor", "target"]).to_dict("records"), settings)
    pairs = [(zero_shot(row["anchor"], args.polarity, args.language, args.style), row["target"]) for row in rows]
    about = {"kind": "xllora", "polarity": args.polarity, "language": args.language, "prompts": args.style}
    with training(args, argv) as options:
        lora.train(args.base, list(from_pairs(tokenizer, pairs, args.style)), settings, about=about, **options)


if __name__ == "__main__":
    run(main)

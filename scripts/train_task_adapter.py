"""Train the adapter that writes entailments, contradictions or both in the pivot language."""

from scripts.cli import adapter_parser, run, training
from seedbed.generators import lora
from seedbed.generators.examples import for_task
from seedbed.generators.settings import BOTH, POLARITIES, Lora
from seedbed.io import read_table
from seedbed.weights import open_tokenizer


def main(argv: list[str] | None = None) -> None:
    parser = adapter_parser(__doc__, "triplets", "TSV: id, anchor, positive, negative")
    parser.add_argument("--polarity", required=True, choices=(*POLARITIES, BOTH))
    args = parser.parse_args(argv)

    settings = Lora.load(args.lora)
    polarities = POLARITIES if args.polarity == BOTH else (args.polarity,)
    triplets = read_table(args.triplets, ["id", "anchor", *polarities]).to_dict("records")
    tokenizer = open_tokenizer(args.base)
    examples = for_task(tokenizer, triplets, polarities, settings, language=args.language, style=args.style)
    about = {"kind": "task", "polarity": args.polarity, "language": args.language, "prompts": args.style}
    with training(args, argv) as options:
        lora.train(args.base, examples, settings, about=about, **options)


if __name__ == "__main__":
    run(main)

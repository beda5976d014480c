"""Give one backbone a tokenizer of one language, and rows of word embeddings to go with it."""

import json

from scripts.cli import arguments, run
from seedbed.encoders.adaptation_settings import Vocabulary
from seedbed.encoders.lines import Lines
from seedbed.encoders.swap import swap


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__, "weights", "texts", "output")
    parser.add_argument("--vocabulary", default="{}", help="JSON: seedbed.encoders.adaptation_settings.Vocabulary")
    parser.add_argument("--masks", action="store_true", help="masked language modelling follows: a mask is needed")
    parser.add_argument("--about", default={}, type=json.loads, help="JSON for the manifest")
    args = parser.parse_args(argv)

    settings = Vocabulary.load(args.vocabulary)
    swap(args.weights, Lines(args.texts, settings.sentences), settings, args.output, about=args.about, mask=args.masks)


if __name__ == "__main__":
    run(main)

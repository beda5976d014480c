"""Fine-tune one encoder on one training set, and label every test set that shares it; the labels are what is kept."""

from scripts.cli import run, tuning, tuning_parser
from seedbed.classifiers.manifest import write_answers
from seedbed.classifiers.tuning import train
from seedbed.encoders.tuning_settings import FineTuning
from seedbed.io import read_table


def main(argv: list[str] | None = None) -> None:
    texts = {"train": "TSV: id, text, label", "tests": "each a TSV: id, text"}
    parser = tuning_parser(__doc__, base="the backbone, as save_pretrained writes it", **texts)
    parser.add_argument("--fine-tuning", default="{}", help="JSON: seedbed.encoders.tuning_settings.FineTuning")
    args = parser.parse_args(argv)

    rows = read_table(args.train, ["id", "text", "label"])
    tests = {name: read_table(file, ["id", "text"]) for name, file in args.tests}
    with tuning(args, argv) as options:
        tuned = train(args.base, rows, FineTuning.load(args.fine_tuning), **options)
        write_answers(args.output, args.about, tuned, tests)


if __name__ == "__main__":
    run(main)

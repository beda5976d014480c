"""Choose the prefix of a recipe's encoders on a development task: that of the untrained recipe that scores best."""

from scripts.cli import arguments, by_candidate, pair, run
from seedbed.encoders.prefix_choice import choose
from seedbed.io import write_json


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__, "output")
    parser.add_argument("--dev", required=True, help="name of the task")
    parser.add_argument("--prefixes", required=True, nargs="+", type=pair, metavar="RECIPE=PREFIX")
    parser.add_argument("--scores", required=True, nargs="+", type=pair, help="RECIPE/LANGUAGE=FILE, the list of score")
    args = parser.parse_args(argv)

    write_json(choose(args.dev, dict(args.prefixes), by_candidate(args.scores)), args.output)


if __name__ == "__main__":
    run(main)

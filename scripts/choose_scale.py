"""Choose the scale of a composition on a development task: that whose encoders score best."""

from scripts.cli import arguments, by_candidate, pair, run
from seedbed.generators.scales import choose
from seedbed.io import write_json


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__, "output")
    parser.add_argument("--dev", required=True, help="name of the task")
    parser.add_argument("--scores", required=True, nargs="+", type=pair, help="SCALE/LANGUAGE=FILE, the list of score")
    args = parser.parse_args(argv)

    lists = {float(scale): files for scale, files in by_candidate(args.scores).items()}
    write_json(choose(args.dev, lists), args.output)


if __name__ == "__main__":
    run(main)

"""Say what of the study is done, runs, failed and is to do; a run may be going on."""

from scripts.cli import add_study, arguments, run
from seedbed.operations.jobs import attempts, planned, results_of, rooms
from seedbed.operations.status import layout


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__)
    add_study(parser)
    parser.add_argument("--targets", nargs="*", default=[], help="files or rules; none: all that the study makes")
    args = parser.parse_args(argv)

    # Before the plan: what ends in between is then done, not forgotten.
    tried = attempts(results_of(args.configfiles, args.config))
    print(layout(planned(args.configfiles, args.config, {}, args.targets), rooms(), tried))


if __name__ == "__main__":
    run(main)

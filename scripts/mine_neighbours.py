"""Mine the neighbours of one language's seed pairs among its anchors, by token means of one layer of a backbone."""

from scripts.cli import arguments, run
from seedbed.checkpoints import own_state
from seedbed.corpora.settings import COLUMNS
from seedbed.encoders.mining import neighbours
from seedbed.encoders.settings import Mining
from seedbed.io import read_table, write_json, write_table


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__, "weights", "pairs", "pool", "output", "audit", "state")
    parser.add_argument("--mining", default="{}", help="JSON: seedbed.encoders.settings.Mining")
    parser.add_argument("--prefix", default="", help="put before every text")
    args = parser.parse_args(argv)

    pairs = read_table(args.pairs, ["id", *COLUMNS["parallel"]])
    mining = Mining.load(args.mining)
    with own_state(args.state, args.output, argv) as state:
        table, audit = neighbours(pairs, args.pool, args.weights, mining, prefix=args.prefix, state=state)
        write_table(table, args.output)
        write_json(audit, args.audit)


if __name__ == "__main__":
    run(main)

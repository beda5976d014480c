"""Join the shards of one language's triplets in the order of its anchors."""

from pathlib import Path

import pandas as pd

from scripts.cli import arguments, run
from seedbed.corpora.subset import subset
from seedbed.io import UserError, read_table, write_table
from seedbed.triplets.shards import read_shard


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__, "anchors", "output")
    parser.add_argument("--shards", required=True, nargs="+", type=Path)
    parser.add_argument("--rows", type=int, help="as of the shards; left out or 0, they are of all anchors")
    args = parser.parse_args(argv)

    triplets = pd.concat([read_shard(path) for path in args.shards], ignore_index=True)
    anchors = subset(read_table(args.anchors, ["id"]), args.rows or None)
    if list(triplets["id"]) != list(anchors["id"]):
        raise UserError(
            f"{args.output}: shards hold {len(triplets)} rows, those of {args.anchors} are {len(anchors)}, or in "
            "another order; remove the shards so that they are made again"
        )
    write_table(triplets, args.output)


if __name__ == "__main__":
    run(main)

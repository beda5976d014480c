"""Write what a table shows of a study: its blocks, each a list of cells, as JSON."""

import sys

from pydantic import TypeAdapter

from scripts.cli import arguments, run
from seedbed.io import write_json
from seedbed.tables.plan import Block


def main(argv: list[str] | None = None) -> None:
    args = arguments(f"{__doc__} The plan comes on standard input.", "output").parse_args(argv)
    blocks = TypeAdapter(list[Block]).validate_json(sys.stdin.read())
    write_json([block.model_dump(mode="json") for block in blocks], args.output)


if __name__ == "__main__":
    run(main)

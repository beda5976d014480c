"""Draw the sentences of a corpus that languages are told apart by."""

from __future__ import annotations

import argparse
from pathlib import Path

from scripts.cli import run
from seedbed.corpora.subset import sentences
from seedbed.io import read_blocks, write_table


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", required=True, type=Path)
    parser.add_argument("--output", required=True, type=Path)
    args = parser.parse_args(argv)

    write_table(sentences(read_blocks(args.corpus, ["id", "text"])), args.output)


if __name__ == "__main__":
    run(main)

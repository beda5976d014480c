"""Gather the scores of a study into one table: a tidy CSV, and Markdown in the paper's layout."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from scripts.cli import run
from seedbed.io import atomic
from seedbed.resources import resource
from seedbed.tables.layout import layout
from seedbed.tables.plan import Block
from seedbed.tables.published import Published
from seedbed.tables.settings import Statistics
from seedbed.tables.specs import TableSpec
from seedbed.tables.tabulate import tabulate, write


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spec", required=True, type=Path, help="YAML: seedbed.tables.specs.TableSpec")
    parser.add_argument("--paper", type=Path, default=resource("paper"), help="the papers' own numbers")
    parser.add_argument("--scores", required=True, type=Path)
    plan = "JSON: [seedbed.tables.plan.Block]; - for standard input"
    parser.add_argument("--plan", required=True, type=argparse.FileType(), help=plan)
    parser.add_argument("--statistics", default="{}", help="JSON: seedbed.tables.settings.Statistics")
    parser.add_argument("--output", required=True, type=Path)
    parser.add_argument("--layout", required=True, type=Path)
    args = parser.parse_args(argv)

    spec, blocks = TableSpec.load(args.spec), [Block.model_validate(block) for block in json.load(args.plan)]
    table = tabulate(
        blocks,
        args.scores,
        Statistics.load(args.statistics),
        paper=spec.paper,
        papers=args.paper,
        over_backbones=spec.over_backbones,
        over_columns=spec.over_columns,
    )
    write(table, args.output)
    with atomic(args.layout) as temporary:
        temporary.write_text(layout(table, spec, Published(spec.paper, args.paper)), encoding="utf-8")


if __name__ == "__main__":
    run(main)

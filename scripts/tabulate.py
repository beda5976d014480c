"""Gather the scores of a study into one table: a tidy CSV, and Markdown in the paper's layout."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from scripts.cli import run
from seedbed.io import atomic
from seedbed.tables.settings import Statistics
from seedbed.tables.specs import Scored, System, TableSpec
from seedbed.tables.tabulate import layout, tabulate, write


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spec", required=True, type=Path, help="YAML: seedbed.tables.specs.TableSpec")
    parser.add_argument("--paper", type=Path, default=Path("resources/paper"), help="the papers' own numbers")
    parser.add_argument("--scores", required=True, type=Path)
    parser.add_argument("--systems", required=True, type=json.loads, help="JSON: [seedbed.tables.specs.System]")
    parser.add_argument("--backbones", required=True, type=json.loads, help="JSON: {name: the paper's name or ''}")
    parser.add_argument("--tasks", required=True, type=json.loads, help="JSON: {name: seedbed.tables.specs.Scored}")
    parser.add_argument("--statistics", default="{}", help="JSON: seedbed.tables.settings.Statistics")
    parser.add_argument("--output", required=True, type=Path)
    parser.add_argument("--layout", required=True, type=Path)
    args = parser.parse_args(argv)

    spec = TableSpec.load(args.spec)
    table = tabulate(
        spec,
        [System.model_validate(system) for system in args.systems],
        args.backbones,
        {name: Scored.model_validate(task) for name, task in args.tasks.items()},
        args.scores,
        Statistics.load(args.statistics),
        paper=args.paper,
    )
    write(table, args.output)
    with atomic(args.layout) as temporary:
        temporary.write_text(layout(table, spec), encoding="utf-8")


if __name__ == "__main__":
    run(main)

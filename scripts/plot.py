"""Draw a table as a figure."""

from __future__ import annotations

import argparse
from pathlib import Path

from scripts.cli import run
from seedbed.languages import REGISTRY, registry
from seedbed.tables.figures.plot import plot
from seedbed.tables.figures.style import save
from seedbed.tables.specs import FigureSpec
from seedbed.tables.tabulate import read


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spec", required=True, type=Path, help="YAML: seedbed.tables.specs.FigureSpec")
    parser.add_argument("--table", required=True, type=Path, help="CSV made by tabulate")
    parser.add_argument("--languages", type=Path, default=REGISTRY, help="names of the languages: code, name")
    parser.add_argument("--output", required=True, type=Path, help="SVG")
    parser.add_argument("--png", required=True, type=Path)
    args = parser.parse_args(argv)

    spec = FigureSpec.load(args.spec)
    names = {code: facts["name"] for code, facts in registry(args.languages).items()}
    save(plot(read(args.table), spec, names), args.output, args.png, spec.dpi)


if __name__ == "__main__":
    run(main)

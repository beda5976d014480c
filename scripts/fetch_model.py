"""Fetch one model, a generator's or a backbone's, as a directory that loads offline."""

from __future__ import annotations

import argparse
from pathlib import Path

from scripts.cli import run
from seedbed.corpora.assets import Store
from seedbed.corpora.settings import Source
from seedbed.generators.fetch import fetch


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", required=True, help="JSON: seedbed.corpora.settings.Source")
    parser.add_argument("--downloads", type=Path, default=Path("downloads"))
    parser.add_argument("--lock", type=Path, default=Path("assets.lock.json"))
    parser.add_argument("--output", required=True, type=Path)
    args = parser.parse_args(argv)

    fetch(Source.load(args.source), Store(args.downloads, args.lock), args.output)


if __name__ == "__main__":
    run(main)

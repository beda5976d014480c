"""Fetch one corpus or test set of one language as a TSV, with a record of its origin beside it."""

from __future__ import annotations

import argparse
from pathlib import Path

from scripts.cli import run
from seedbed.corpora.assets import Store
from seedbed.corpora.fetch import fetch
from seedbed.corpora.labels import with_scores
from seedbed.corpora.settings import COLUMNS, Cleaning, Source
from seedbed.io import write_json, write_table


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", required=True, help="JSON: seedbed.corpora.settings.Source")
    parser.add_argument("--kind", required=True, choices=list(COLUMNS))
    parser.add_argument("--cleaning", default="{}", help="JSON: seedbed.corpora.settings.Cleaning")
    parser.add_argument("--test", action="store_true", help="an evaluation set: keep every row")
    parser.add_argument("--scale", nargs=2, type=float, default=(0.0, 1.0), help="least and greatest gold score")
    parser.add_argument("--downloads", type=Path, default=Path("downloads"))
    parser.add_argument("--lock", type=Path, default=Path("assets.lock.json"))
    parser.add_argument("--output", required=True, type=Path)
    parser.add_argument("--record", required=True, type=Path)
    args = parser.parse_args(argv)

    source = Source.load(args.source)
    store = Store(args.downloads, args.lock)
    corpus, record = fetch(source, args.kind, store, Cleaning.load(args.cleaning), test=args.test)
    if args.kind == "pairs":
        corpus = with_scores(corpus, tuple(args.scale), record["origin"])
    write_table(corpus, args.output)
    write_json(record, args.record)


if __name__ == "__main__":
    run(main)

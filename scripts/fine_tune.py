"""Fine-tune one encoder on one training set, and label every test set that shares it; the labels are what is kept."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import get_args

import pandas as pd
from tqdm import tqdm

from scripts.cli import add_checkpoints, pair, run
from seedbed.checkpoints import own_state
from seedbed.encoders.fine_tuning import train
from seedbed.encoders.tuning_settings import FineTuning
from seedbed.io import read_table, write_json, write_table
from seedbed.precision import Precision


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", required=True, type=Path, help="the backbone, as save_pretrained writes it")
    parser.add_argument("--train", required=True, type=Path, help="TSV: id, text, label")
    parser.add_argument("--tests", required=True, nargs="+", type=pair, help="LANGUAGE=FILE, each a TSV: id, text")
    parser.add_argument("--fine-tuning", default="{}", help="JSON: seedbed.encoders.tuning_settings.FineTuning")
    parser.add_argument("--prefix", default="", help="put before every text")
    parser.add_argument("--dtype", default="auto", choices=get_args(Precision))
    parser.add_argument("--seed", required=True, type=int)
    parser.add_argument("--output", required=True, type=Path, help="TSV: language, id, label")
    parser.add_argument("--record", required=True, type=Path, help="JSON: how it was trained")
    add_checkpoints(parser)
    args = parser.parse_args(argv)

    rows = read_table(args.train, ["id", "text", "label"])
    tests = {language: read_table(file, ["id", "text"]) for language, file in args.tests}
    options = {"prefix": args.prefix, "seed": args.seed, "dtype": args.dtype, "minutes": args.checkpoint_minutes}
    with own_state(args.state, args.output, argv) as state:
        tuned = train(args.base, rows, FineTuning.load(args.fine_tuning), **options, state=state)
        found = [
            pd.DataFrame({"language": language, "id": test["id"], "label": tuned.label(list(test["text"]))})
            for language, test in tqdm(tests.items(), desc="test sets", unit="set")
        ]
        write_table(pd.concat(found), args.output)
        write_json(tuned.report, args.record)


if __name__ == "__main__":
    run(main)

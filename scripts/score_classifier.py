"""Score one classifier on one task of one language; keep every item's label."""

from __future__ import annotations

import argparse
import importlib.metadata
import json
from pathlib import Path

from scripts.cli import run
from seedbed.corpora.labels import LABELS, read_pairs
from seedbed.encoders import classifier
from seedbed.evaluation.classification import score
from seedbed.evaluation.scores import write
from seedbed.generators import labels
from seedbed.io import read_json, write_json

LIBRARIES = ("torch", "transformers", "peft")


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", required=True, type=Path, help="directory of the encoder or language model")
    parser.add_argument("--style", required=True, choices=("head", "chat", "plain"), help="head: of an encoder")
    parser.add_argument("--head", type=Path, help="the adapter whose head an encoder takes; left out, a fresh one")
    parser.add_argument("--adapter", type=Path, help="left out, the base as it is")
    parser.add_argument("--seed", type=int, default=0, help="of a fresh head")
    parser.add_argument("--task", required=True)
    parser.add_argument("--test", required=True, type=Path, help="TSV: id, premise, hypothesis, label")
    parser.add_argument("--record", required=True, type=Path, help="origin of the test set")
    parser.add_argument("--language", required=True)
    parser.add_argument("--language-name", required=True, help="as prompts use it")
    parser.add_argument("--about", default={}, type=json.loads, help="JSON: what the score is of")
    parser.add_argument("--scores", required=True, type=Path, help="directory of {task}/{language}.json, .items.tsv")
    parser.add_argument("--output", required=True, type=Path, help="the list of what was written")
    args = parser.parse_args(argv)

    test, origin = read_pairs(args.test), read_json(args.record)
    rows = test.to_dict("records")
    if args.style == "head":
        found = classifier.label_scores(args.base, rows, head=args.head, adapter=args.adapter, seed=args.seed)
    else:
        language = args.language_name
        found = labels.label_scores(args.base, rows, adapter=args.adapter, language=language, style=args.style)
    about = {
        "task": args.task, "protocol": "classification", "language": args.language, "dataset": origin,
        "classifier": args.about | {"adapter": read_json(args.adapter / "seedbed.json") if args.adapter else None},
        "versions": {name: importlib.metadata.version(name) for name in LIBRARIES},
    }  # fmt: skip
    written = write(score(test, found, LABELS), about, args.scores / args.task / f"{args.language}.json")
    write_json({"scores": written}, args.output)


if __name__ == "__main__":
    run(main)

"""Score encoders, a recipe's of several seeds, on the tasks of one language; keep every item's score."""

from __future__ import annotations

import argparse
import importlib.metadata
import json
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from tqdm import tqdm

from scripts.cli import pair, run
from seedbed.evaluation.embeddings import at_once
from seedbed.evaluation.opening import Opened, opened
from seedbed.evaluation.protocols import score, texts
from seedbed.evaluation.reference import mteb_scores, require_agreement
from seedbed.evaluation.scores import Encode, Scores, read_set, write
from seedbed.evaluation.settings import AGREE, Task
from seedbed.io import read_json, write_json

LIBRARIES = ("torch", "transformers", "sentence-transformers", "scipy", "mteb")


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, epilog="Tests and records stand in the order of the tasks.")
    parser.add_argument("--encoders", required=True, nargs="+", type=Path)
    parser.add_argument("--tasks", required=True, type=json.loads, help="JSON: {name: evaluation.settings.Task}")
    parser.add_argument("--tests", required=True, nargs="+", type=Path)
    parser.add_argument("--records", required=True, nargs="+", type=Path, help="origins of the test sets")
    parser.add_argument("--trains", nargs="*", default=[], type=pair, help="TASK=FILE, its training set")
    parser.add_argument("--language", required=True)
    parser.add_argument("--state", type=Path, help="directory in which an encoder's score jobs share embeddings")
    parser.add_argument(
        "--scores", required=True, type=Path, help="directory of {encoder's folder}/{task}/{language}.json, .items.tsv"
    )
    parser.add_argument("--output", required=True, type=Path, help="the list of what was written")
    args = parser.parse_args(argv)

    tasks = {name: Task.load(json.dumps(task)) for name, task in args.tasks.items()}
    sets = [
        Set(name, task, read_set(task, test), read_set(task, dict(args.trains).get(name)), read_json(record))
        for (name, task), test, record in zip(tasks.items(), args.tests, args.records, strict=True)
    ]
    written = {}
    for folder in tqdm(args.encoders, desc="encoders", unit="encoder"):
        encoder = opened(folder, min(task.batch_size for task in tasks.values()), args.state)
        encode = at_once(encoder.encode, [text for each in sets for text in texts(each.task, each.test, each.train)])
        for each in sets:
            scores = scored(encoder, encode, each)
            about = {
                "task": each.name, "protocol": each.task.protocol, "language": args.language,
                "dataset": each.origin, "encoder": encoder.about,
                "versions": {name: importlib.metadata.version(name) for name in LIBRARIES},
            }  # fmt: skip
            digests = write(scores, about, args.scores / folder.name / each.name / f"{args.language}.json")
            written |= {f"{folder.name}/{file}": digest for file, digest in digests.items()}
    write_json({"scores": written}, args.output)


class Set(NamedTuple):
    """A task and what it is scored on."""

    name: str
    task: Task
    test: pd.DataFrame
    train: pd.DataFrame | None
    origin: dict[str, Any]


def scored(encoder: Opened, encode: Encode, given: Set) -> Scores:
    """Score one task, and let mteb check it where mteb has it."""
    scores = score(given.task, given.test, encode, train=given.train, search=encoder.search)
    if given.task.mteb:
        revision = given.origin["origin"].partition(" @ ")[2]
        theirs = mteb_scores(given.task, given.test, revision, encoder.encoder, encode)
        for metric in AGREE[given.task.protocol]:
            require_agreement(scores.metrics[metric], theirs[metric], f"{given.name} ({metric})")
        scores.metrics.update(theirs | scores.metrics)
    return scores


if __name__ == "__main__":
    run(main)

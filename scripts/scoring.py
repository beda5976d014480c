"""What both score programs share: the sets that they are given, and what a score file says of each."""

from __future__ import annotations

import argparse
import importlib.metadata
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from scripts.cli import pair
from seedbed.evaluation.protocols import texts
from seedbed.evaluation.scores import Scores, read_set, write
from seedbed.evaluation.settings import Task
from seedbed.io import UserError, read_json


class Set(NamedTuple):
    """A task and what it is scored on."""

    name: str
    task: Task
    test: pd.DataFrame
    train: pd.DataFrame | None
    origin: dict[str, Any]

    def texts(self) -> list[str]:
        """Those that an encoder is asked for."""
        return texts(self.task, self.test, self.train)


def scoring_parser(description: str | None) -> argparse.ArgumentParser:
    """Arguments that name tasks, their sets and where scores go."""
    parser = argparse.ArgumentParser(
        description=description, epilog="Tests and records stand in the order of the tasks."
    )
    parser.add_argument("--tasks", required=True, type=json.loads, help="JSON: {name: evaluation.settings.Task}")
    parser.add_argument("--tests", required=True, nargs="+", type=Path, help="TSV of each task's kind")
    parser.add_argument("--records", required=True, nargs="+", type=Path, help="origins of the test sets")
    parser.add_argument("--trains", nargs="*", default=[], type=pair, help="TASK=FILE, its training set")
    parser.add_argument("--language", required=True)
    parser.add_argument("--state", type=Path, help="directory in which an encoder's score jobs share embeddings")
    parser.add_argument("--scores", required=True, type=Path, help="directory of {task}/{language}.json, .items.tsv")
    parser.add_argument("--output", required=True, type=Path, help="the list of what was written")
    return parser


def sets(args: argparse.Namespace) -> list[Set]:
    """Read the sets that the arguments name.

    Raises:
        UserError: as `read_set` and `origin_in`.
    """
    trains = dict(args.trains)
    tasks = {name: Task.load(json.dumps(task)) for name, task in args.tasks.items()}
    return [
        Set(name, task, read_set(task, test), read_set(task, trains.get(name)), origin_in(record))
        for (name, task), test, record in zip(tasks.items(), args.tests, args.records, strict=True)
    ]


def origin_in(record: Path) -> dict[str, Any]:
    """What `fetch_corpus` says of a set.

    Raises:
        UserError: no such file, or it says nothing of an origin.
    """
    found = read_json(record)
    if not isinstance(found, dict) or not isinstance(found.get("origin"), str):
        raise UserError(f"{record}: no record of fetch_corpus; delete it and run Snakemake again, which makes it again")
    return found


def at_most(given: Iterable[Set]) -> int:
    """Texts that are encoded together: the least of the tasks' numbers."""
    return min(each.task.batch_size for each in given)


def write_scores(
    scores: Scores, given: Set, language: str, about: dict[str, Any], libraries: Iterable[str], folder: Path
) -> list[Path]:
    """Write {folder}/{task}/{language}.json and its items; `about` says what was scored. As `scores.write`."""
    of_set = {
        "task": given.name, "protocol": given.task.protocol, "language": language, "dataset": given.origin,
        "versions": {name: importlib.metadata.version(name) for name in libraries},
    }  # fmt: skip
    return write(scores, of_set | about, folder / given.name / f"{language}.json")

"""Reading test sets and writing score files."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from seedbed import manifests, origins
from seedbed.corpora.settings import COLUMNS
from seedbed.corpora.shape.choices import correct_indices
from seedbed.corpora.shape.labels import check_scores, read_pairs, require_labels
from seedbed.corpora.shape.questions import require_answers
from seedbed.evaluation import protocols
from seedbed.evaluation.scores import Scores, System
from seedbed.evaluation.scoring import texts
from seedbed.evaluation.settings import Task
from seedbed.io import AGAIN, UserError, atomic, read_json, read_table, write_json, write_table


class Set(NamedTuple):
    """A task with its test set, training set and origin."""

    name: str
    task: Task
    test: pd.DataFrame
    train: pd.DataFrame | None
    origin: dict[str, Any]

    def texts(self) -> list[str]:
        """The distinct texts that must be encoded for the task."""
        return texts(self.task, self.test, self.train)


def read_set(task: Task, path: str | Path | None) -> pd.DataFrame | None:
    """Read a test or training set with the columns of the protocol's kind; None without a path.

    Raises:
        UserError: the file cannot be read; or a row has no label or answer, a `correct` that is not the number of an
            answer, or a score outside the task's scale.
    """
    if not path:
        return None
    kind = protocols.declared(task.protocol).kind
    if kind == "labelled_pairs":
        return read_pairs(Path(path))
    table = read_table(path, ["id", *COLUMNS[kind]])
    if kind == "labelled_texts":
        require_labels(table, str(path))
    if kind == "questions":
        require_answers(table, str(path))
    if kind == "choices":
        correct_indices(table, str(path))
    if kind == "pairs":
        check_scores(table, task.scale, str(path))
    return table


def origin_in(record: Path) -> dict[str, Any]:
    """Read the record that `fetch_corpus` wrote about a data set.

    Raises:
        UserError: no such file, or it states no origin.
    """
    found = read_json(record)
    try:
        origins.read(found["origin"] if isinstance(found, dict) else None)
    except (KeyError, UserError):
        raise UserError(f"{record}: no record of fetch_corpus; {AGAIN}") from None
    return found


def of_all(records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Merge the records of a test set that consists of several data sets: their origins without repetitions, and each
    record.
    """
    if len(records) == 1:
        return records[0]
    return {"origin": origins.joined(one["origin"] for one in records), "sets": [*records]}


def write_scores(scores: Scores, given: Set, language: str, system: System, folder: Path) -> list[Path]:
    """Write {folder}/{task}/{language}.json, its items, and mteb's file if there is one; returns these files.

    Args:
        scores: the protocol's result.
        given: the task with its test set.
        language: the test language or pair.
        system: what was scored; its facts and the versions of its libraries are in the file.
        folder: the folder of the system's scores.

    Raises:
        UserError: a metric is not finite.
    """
    of_set = {
        "task": given.name, "protocol": given.task.protocol, "language": language, "dataset": given.origin,
        "versions": manifests.versions_of(*system.libraries),
    }  # fmt: skip
    return write(scores, of_set | system.about, folder / given.name / f"{language}.json")


def write(scores: Scores, about: dict[str, Any], path: Path) -> list[Path]:
    """Write a score file, and next to it its items and mteb's file if there is one; returns these files.

    Args:
        scores: the protocol's result.
        about: further facts for the file.
        path: {task}/{language}.json.

    Raises:
        UserError: a metric is not finite.
    """
    for name, value in {"main_score": scores.main, **scores.metrics}.items():
        if not math.isfinite(value):
            raise UserError(f"score: {name} is {value} over {len(scores.items)} items; it is not defined there")
    items = path.with_suffix(".items.tsv")
    found = {"main_score": round(scores.main, 6), "n": len(scores.items), "items": items.name}
    found["metrics"] = {name: round(value, 6) for name, value in scores.metrics.items()}
    notes = {"notes": scores.notes} if scores.notes else {}
    theirs = [path.with_suffix(".mteb.json")] if scores.mteb else []
    found |= {"mteb": theirs[0].name} if theirs else {}
    with atomic(path) as file, atomic(items) as rows:  # both are whole before either has its name
        write_table(scores.items, rows)
        write_json(about | found | notes, file)
        for one in theirs:
            write_json(scores.mteb, one)
    return [path, items, *theirs]

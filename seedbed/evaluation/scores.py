"""What a score is: a main score, all metrics, and a score for every item; and what a protocol is given to find it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from seedbed.corpora.labels import check_scores, read_pairs, require_labels
from seedbed.corpora.settings import COLUMNS
from seedbed.evaluation.settings import KIND_OF, Task
from seedbed.io import UserError, atomic, read_table, write_json, write_table

Encode = Callable[[Sequence[str]], np.ndarray]
"""Sentences (n) to embeddings (n, d), float32."""
Embed = Callable[..., list[np.ndarray]]
"""Columns of texts to the embeddings of each."""
Search = Callable[[np.ndarray, np.ndarray, int], np.ndarray]
"""Embeddings of queries (n, d) and of a corpus (m, d), and k, to the indices (n, k) of the nearest, nearest first."""


@dataclass(frozen=True)
class Asked:
    """What a protocol is asked to score."""

    task: Task
    test: pd.DataFrame
    """Test items, the columns of the protocol's kind."""
    train: pd.DataFrame | None
    """Training items of the same kind; None where the protocol needs none."""
    embed: Embed
    """Of the encoder."""
    search: Search
    """By the task's distance, or an encoder's own."""


@dataclass(frozen=True)
class Scores:
    """What a protocol found."""

    main: float
    """The task's headline number: a fraction, or a distance."""
    metrics: dict[str, float]
    """All numbers."""
    items: pd.DataFrame
    """`id` and one score, hit or label per item and column, so that tables can resample them."""
    notes: list[str] = field(default_factory=list)
    """What a reader of the numbers must know."""


def read_set(task: Task, path: str | Path | None) -> pd.DataFrame | None:
    """A test or training set, the columns of the protocol's kind; None where there is none.

    Raises:
        UserError: as `read_table`, and `read_pairs` for labelled pairs; a row without a label, or with a score that is
            none of the task's scale.
    """
    if not path:
        return None
    kind = KIND_OF[task.protocol]
    if kind == "labelled_pairs":
        return read_pairs(Path(path))
    table = read_table(path, ["id", *COLUMNS[kind]])
    if kind == "labelled_texts":
        require_labels(table, str(path))
    if kind == "pairs":
        check_scores(table, task.scale, str(path))
    return table


def write(scores: Scores, about: dict[str, Any], path: Path) -> list[Path]:
    """Write a score file, {task}/{language}.json, and its items beside it; both files, written.

    Raises:
        UserError: a metric is not finite.
    """
    items = path.with_suffix(".items.tsv")
    found = record(scores, about, items.name)
    with atomic(path) as file, atomic(items) as rows:  # both are whole before either has its name
        write_table(scores.items, rows)
        write_json(found, file)
    return [path, items]


def record(scores: Scores, about: dict[str, Any], items: str) -> dict[str, Any]:
    """The score file of a model, a task and a language (DESIGN: no timestamps in it).

    Raises:
        UserError: a metric is not finite.
    """
    for name, value in {"main_score": scores.main, **scores.metrics}.items():
        if not math.isfinite(value):
            raise UserError(f"score: {name} is {value} over {len(scores.items)} items; it is not defined there")
    metrics = {name: round(value, 6) for name, value in scores.metrics.items()}
    found = {"main_score": round(scores.main, 6), "metrics": metrics, "n": len(scores.items), "items": items}
    return about | found | ({"notes": scores.notes} if scores.notes else {})

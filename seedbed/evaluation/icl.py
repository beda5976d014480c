"""In-context classification: which training texts a language model is shown, and how right its labels are (MINERS)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from seedbed.evaluation.classification import known_labels, of_labels
from seedbed.evaluation.scores import Asked, Scores, Search
from seedbed.evaluation.settings import Task
from seedbed.generators.icl import Answers, Query
from seedbed.io import UserError

Ask = Callable[[Sequence[Query], Sequence[str]], Answers]
"""Queries and labels to what a language model answers."""


@dataclass(frozen=True)
class Shots:
    """Which training texts a text is shown with."""

    count: int
    """How many; 0: none, and nothing is embedded."""
    percentile: int = 0
    """Take the nearest from this percentile of the training texts on, by distance (MINERS, section 4.2)."""
    balance: bool = False
    """Take so many of each label."""


def score(asked: Asked, shots: Shots, ask: Ask) -> Scores:
    """Score a language model's labels of the test texts.

    Args:
        asked: labelled texts; the training set gives the labels (see `labels_of`) and the shots, which its `embed` and
            `search` find.

    Returns:
        accuracy (main) and macro F1, in which an answer that is no label is one more class; the numbers of such answers
        (unanswered) and of prompts that had to lose shots (cut). By item the gold and the predicted label (nothing: it
        answered none), whether they are the same and, if the model was asked for it, the predicted one's probability.

    Raises:
        UserError: no training set, one that is too small, or a test label that it lacks.
    """
    labels = labels_of(asked.task, asked.test, asked.train)
    queries = queries_of(asked, shots)
    found = ask(queries, labels)
    scores = of_labels(asked.test, found.labels)
    if found.probabilities is not None:
        scores.items["probability"] = found.probabilities.max(axis=1).round(6)
    scores.metrics.update({"unanswered": float(found.labels.count("")), "cut": float(found.cut)})
    return scores


def labels_of(task: Task, test: pd.DataFrame, train: pd.DataFrame | None) -> list[str]:
    """What a model may answer: the labels of the training set, and those that the task adds, sorted.

    Raises:
        UserError: as `known_labels`.
    """
    return known_labels("icl", test, train, also=task.labels)


def queries_of(asked: Asked, shots: Shots) -> list[Query]:
    """The test texts, each with the training texts that it is shown with.

    Raises:
        UserError: as `nearest`.
    """
    test, train = asked.test, asked.train
    chosen = np.empty((len(test), 0), dtype=np.int64)
    if shots.count:
        corpus, wanted = asked.embed(train["text"], test["text"])
        chosen = nearest(wanted, corpus, train["label"].to_numpy(), shots, asked.search)
    pairs = list(zip(train["text"], train["label"], strict=True))
    return [
        Query(id=row, text=text, shots=tuple(pairs[place] for place in places))
        for row, text, places in zip(test["id"], test["text"], chosen, strict=True)
    ]


def nearest(queries: NDArray, corpus: NDArray, labels: NDArray, shots: Shots, search: Search) -> NDArray[np.int64]:
    """The training texts (n, shots) that each query is shown with, the nearest first; of each label, label by label.

    Args:
        queries: embeddings (n, d).
        corpus: of the training texts (m, d).
        labels: of the training texts (m,).

    Raises:
        UserError: there are fewer than are asked for.
    """
    if shots.balance:
        return np.concatenate(
            [
                places[search(queries, corpus[places], _within(shots.count, len(places), f"with label {label!r}"))]
                for label in sorted({*labels})
                for places in [np.flatnonzero(labels == label)]
            ],
            axis=1,
        )
    first = int(len(corpus) * shots.percentile / 100)
    left = f"from percentile {shots.percentile} on" if shots.percentile else "in all"
    count = _within(shots.count, len(corpus) - first, left)
    return search(queries, corpus, first + count)[:, first:]


def _within(count: int, there: int, which: str) -> int:
    if count > there:
        raise UserError(f"icl: {count} shots, but there are {there} training texts {which}; set `shots:` lower")
    return count

"""The in-context examples of texts, which a retriever finds in the training set (MINERS, section 2.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from seedbed.evaluation.scores import Trial
from seedbed.io import UserError
from seedbed.vectors.types import Search

if TYPE_CHECKING:
    from seedbed.classifiers.in_context import Query


@dataclass(frozen=True)
class Shots:
    """How the in-context examples of a text are selected from the training set."""

    count: int
    """The number of examples; 0: none, and nothing is encoded."""
    percentile: int = 0
    """Skip the nearest training texts up to this percentile of all (MINERS, section 4.2)."""
    balance: bool = False
    """Take `count` examples of each label."""


def queries_of(trial: Trial, shots: Shots) -> list[Query]:
    """The test texts, each with its in-context examples.

    Raises:
        UserError: too few training texts.
    """
    from seedbed.classifiers.in_context import Query

    test, train = trial.test, trial.train
    chosen = np.empty((len(test), 0), dtype=np.int64)
    if shots.count:
        corpus, wanted = trial.embed(train["text"], test["text"])
        chosen = nearest(wanted, corpus, train["label"].to_numpy(), shots, trial.search)
    pairs = list(zip(train["text"], train["label"], strict=True))
    return [
        Query(id=row, text=text, shots=tuple(pairs[place] for place in places))
        for row, text, places in zip(test["id"], test["text"], chosen, strict=True)
    ]


def nearest(queries: NDArray, corpus: NDArray, labels: NDArray, shots: Shots, search: Search) -> NDArray[np.int64]:
    """Indices (n, k) of each query's examples among the training texts, nearest first; k is `count`, with `balance`
    `count` times the number of labels.

    With `balance` the nearest example of each label comes before all others. A prompt that is too long loses its last
    examples, so it has every label as long as it has at least as many examples as there are labels.

    Args:
        queries: embeddings (n, d).
        corpus: embeddings (m, d) of the training texts.
        labels: labels (m,) of the training texts.

    Raises:
        UserError: too few training texts.
    """
    if shots.balance:
        found = []
        for label in sorted({*labels}):
            places = np.flatnonzero(labels == label)
            count = _within(shots.count, len(places), f"with label {label!r}")
            found.append(places[search(queries, corpus[places], count)])
        of_labels = np.stack(found, axis=1)
        parts = [of_labels[:, :, :1], of_labels[:, :, 1:]]
        every = [_by_distance(queries, corpus, part.reshape(len(queries), -1), search) for part in parts]
        return np.concatenate(every, axis=1)
    first = int(len(corpus) * shots.percentile / 100)
    left = f"from percentile {shots.percentile} on" if shots.percentile else "in all"
    count = _within(shots.count, len(corpus) - first, left)
    return search(queries, corpus, first + count)[:, first:]


def _by_distance(queries: NDArray, corpus: NDArray, chosen: NDArray, search: Search) -> NDArray[np.int64]:
    """The indices (n, k) chosen for each query, nearest first, and of equally near ones the first in the corpus."""
    if chosen.shape[1] < 2:
        return chosen
    # A search tells no distances: each query's examples are searched once more, alone.
    return np.array(
        [
            places[search(queries[row : row + 1], corpus[places], len(places))[0]]
            for row, places in enumerate(np.sort(chosen, axis=1))
        ]
    )


def _within(count: int, there: int, which: str) -> int:
    if count > there:
        raise UserError(f"icl: {count} shots, but there are {there} training texts {which}; set `shots:` lower")
    return count

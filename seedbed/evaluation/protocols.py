"""Scoring one encoder on one test set: what each protocol asks of it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import pearsonr, spearmanr

from seedbed.corpora.settings import COLUMNS
from seedbed.evaluation import bitext, classification, retrieval
from seedbed.evaluation.geometry import alignment, uniformity, unit_vectors
from seedbed.evaluation.neighbours import nearest
from seedbed.evaluation.scores import Asked, Encode, Scores, Search
from seedbed.evaluation.settings import KIND_OF, SEARCHING, Task
from seedbed.io import UserError

POSITIVE = 0.8
"""Least score, as a fraction of its scale, of a pair that counts as positive (paper 000, footnote 3)."""


def score(
    task: Task, test: pd.DataFrame, encode: Encode, *, train: pd.DataFrame | None = None, search: Search | None = None
) -> Scores:
    """Score an encoder on one task.

    Args:
        test: the columns of the protocol's kind (`KIND_OF`, `COLUMNS`).
        train: the same of the training set, for "knn".
        search: how neighbours are found where that is not by the task's distance: of several encoders at once.

    Raises:
        UserError: an embedding is not finite, the protocol cannot be applied to this test set, or it asks for more than
            neighbours where `search` is given.
    """
    if search and task.protocol not in SEARCHING:
        raise UserError(
            f"score: {task.protocol} needs one embedding of a text, and fused encoders have but distances; "
            f"score them by {' or '.join(SEARCHING)}"
        )
    return PROTOCOLS[task.protocol](asked(task, test, encode, train=train, search=search))


class _EncodedError(Exception):
    """The sets are right so far: embeddings are asked for."""


def check(task: Task, test: pd.DataFrame, train: pd.DataFrame | None = None) -> None:
    """Find what a protocol refuses of its sets, before their texts are encoded, which takes long or costs money.

    Raises:
        UserError: as `score`, but for what embeddings alone can show.
    """

    def encode(*_: Any) -> Any:
        raise _EncodedError

    with suppress(_EncodedError):
        PROTOCOLS[task.protocol](Asked(task, test, train, embed=encode, search=encode))


def asked(
    task: Task, test: pd.DataFrame, encode: Encode, *, train: pd.DataFrame | None = None, search: Search | None = None
) -> Asked:
    """What a protocol is given to score; arguments as of `score`."""
    found = search or (lambda queries, corpus, k: nearest(queries, corpus, k, metric=task.distance)[1])
    return Asked(task, test, train, partial(_encode_distinct, encode), found)


def texts(task: Task, test: pd.DataFrame, train: pd.DataFrame | None = None) -> list[str]:
    """The distinct texts of which `score` asks the embeddings."""
    names = [name for name in COLUMNS[KIND_OF[task.protocol]] if name not in ("score", "label")]
    columns = [table[name] for table in (test, train) if table is not None for name in names]
    if task.protocol == "retrieval":
        columns[0] = columns[0][columns[0] != ""]  # a document without a query
    return list(pd.unique(pd.concat(columns)))


def _encode_distinct(encode: Encode, *columns: pd.Series) -> list[np.ndarray]:
    """Embeddings (n, d) of each column's texts; each distinct text of all columns is encoded once, in one call."""
    codes, distinct = pd.factorize(pd.concat([column.reset_index(drop=True) for column in columns]))
    encoded = np.asarray(encode(list(distinct)), dtype=np.float32)
    if not np.isfinite(encoded).all():
        raise UserError("score: the encoder gives embeddings that are not finite; its training diverged")
    ends = np.cumsum([len(column) for column in columns])[:-1]
    return [encoded[places] for places in np.split(codes, ends)]


def _sts(asked: Asked) -> Scores:
    """Semantic textual similarity: correlation of the cosine with the gold score.

    Raises:
        UserError: a correlation is not defined: one pair, one gold score or one cosine for all, a zero vector.
    """
    test = asked.test
    gold = test["score"].astype(float).to_numpy()
    if len(test) < 2 or (gold == gold[0]).all():
        many = "a single pair" if len(test) < 2 else f"{len(test)} pairs that all have the score {gold[0]:g}"
        raise UserError(f"sts: {many}; a correlation needs two pairs with different scores")
    a, b = (_unit(embeddings) for embeddings in asked.embed(test["sentence1"], test["sentence2"]))
    cosine = np.einsum("nd,nd->n", a, b)
    if (cosine == cosine[0]).all():
        raise UserError(
            f"sts: the encoder gives all {len(test)} pairs the cosine {cosine[0]:.6g}, so nothing correlates with it; "
            "its training collapsed"
        )
    metrics = {
        "cosine_spearman": float(spearmanr(gold, cosine).statistic),
        "cosine_pearson": float(pearsonr(gold, cosine).statistic),
    }
    items = pd.DataFrame({"id": test["id"], "gold": gold, "cosine": cosine})
    return Scores(metrics["cosine_spearman"], metrics, items)


def _retrieval(asked: Asked) -> Scores:
    """Document retrieval by the cosine of query and document, over all documents of the test set."""
    held = retrieval.collection(asked.test)
    queries, documents = asked.embed(held.queries, held.documents)
    by_query = retrieval.measures(held, queries, documents)
    metrics = {name: float(by_query[name].mean()) for name in retrieval.METRICS}
    return Scores(metrics["ndcg_at_10"], metrics, by_query[["id", "ndcg_at_10", "recall_at_10"]])


def _geometry(asked: Asked) -> Scores:
    """Alignment of pairs that mean the same, uniformity of all distinct sentences (paper 000, footnote 3)."""
    test, (low, high) = asked.test, asked.task.scale
    gold = (test["score"].astype(float) - low) / (high - low)
    positive = test[gold >= POSITIVE - 1e-9]  # a score that is 0.8 on paper must not fail for its last bit
    if len(positive) < 2:
        raise UserError(
            f"geometry: {len(positive)} pairs have a score of at least {low + POSITIVE * (high - low):g}, "
            f"{POSITIVE:g} of the scale from {low:g} to {high:g}; at least 2 are needed: check `scale:` of the task"
        )
    sentences = pd.concat([test["sentence1"], test["sentence2"]]).drop_duplicates()
    a, b, every = asked.embed(positive["sentence1"], positive["sentence2"], sentences)
    distance = ((unit_vectors(a, "sentence1") - unit_vectors(b, "sentence2")) ** 2).sum(axis=1)
    metrics = {"alignment": alignment(a, b), "uniformity": uniformity(every), "sentences": float(len(sentences))}
    return Scores(metrics["alignment"], metrics, pd.DataFrame({"id": positive["id"], "distance": distance}))


PROTOCOLS: dict[str, Callable[[Asked], Scores]] = {
    "sts": _sts,
    "bitext": bitext.score,
    "knn": classification.by_neighbours,
    "retrieval": _retrieval,
    "geometry": _geometry,
}


def _unit(x: np.ndarray) -> np.ndarray:
    x = x.astype(np.float64)
    lengths = np.linalg.norm(x, axis=1, keepdims=True)
    if not lengths.all():
        raise UserError("sts: the encoder gives a zero vector, which has no cosine; its training collapsed")
    return x / lengths

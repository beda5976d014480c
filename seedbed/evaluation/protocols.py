"""Scoring one encoder on one test set: a main score, all metrics, and a score for every item."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import pearsonr, spearmanr

from seedbed.corpora.settings import COLUMNS
from seedbed.evaluation import retrieval
from seedbed.evaluation.bitext import f1_at_k
from seedbed.evaluation.geometry import alignment, uniformity, unit_vectors
from seedbed.evaluation.neighbours import nearest
from seedbed.evaluation.settings import KIND_OF
from seedbed.io import UserError, sha256, write_json, write_table

Encode = Callable[[Sequence[str]], np.ndarray]
"""Sentences (n) to embeddings (n, d), float32."""
Embed = Callable[..., list[np.ndarray]]
"""Columns of texts to the embeddings of each."""

POSITIVE = 0.8
"""Least score, as a fraction of its scale, of a pair that counts as positive (paper 000, footnote 3)."""


@dataclass(frozen=True)
class Scores:
    """What a protocol found."""

    main: float
    """The task's headline number: a fraction, or a distance."""
    metrics: dict[str, float]
    """All numbers."""
    items: pd.DataFrame
    """`id` and one score or hit per item and column, so that tables can resample them."""


def score(protocol: str, test: pd.DataFrame, encode: Encode, *, scale: tuple[float, float] = (0.0, 1.0)) -> Scores:
    """Score an encoder.

    Args:
        protocol: "sts" or "geometry" (columns sentence1, sentence2, score), "bitext" (columns text, pivot) or
            "retrieval" (as `retrieval.collection`).
        scale: least and greatest gold score, for "geometry".

    Raises:
        UserError: an embedding is not finite, or the protocol cannot be applied to this test set.
    """
    options = {"scale": scale} if protocol == "geometry" else {}
    return PROTOCOLS[protocol](test, partial(_encode_distinct, encode), **options)


def texts(protocol: str, test: pd.DataFrame) -> list[str]:
    """The distinct texts of which `score` asks the embeddings."""
    columns = [test[name] for name in COLUMNS[KIND_OF[protocol]] if name != "score"]
    if protocol == "retrieval":
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


def _sts(test: pd.DataFrame, embed: Embed) -> Scores:
    """Semantic textual similarity: correlation of the cosine with the gold score."""
    gold = test["score"].astype(float).to_numpy()
    a, b = (_unit(embeddings) for embeddings in embed(test["sentence1"], test["sentence2"]))
    cosine = np.einsum("nd,nd->n", a, b)
    metrics = {
        "cosine_spearman": float(spearmanr(gold, cosine).statistic),
        "cosine_pearson": float(pearsonr(gold, cosine).statistic),
    }
    items = pd.DataFrame({"id": test["id"], "gold": gold, "cosine": cosine})
    return Scores(metrics["cosine_spearman"], metrics, items)


def _bitext(test: pd.DataFrame, embed: Embed) -> Scores:
    """Translation retrieval: is the nearest sentence of the other side, by cosine, the translation?"""
    text, pivot = embed(test["text"], test["pivot"])
    sides = {"forward": (text, pivot), "backward": (pivot, text)}
    gold = np.arange(len(test))
    metrics, items = {}, {"id": test["id"]}
    for direction, (source, target) in sides.items():
        _, neighbours = nearest(source, target, 1, metric="cosine")
        found = f1_at_k(neighbours, gold, 1)
        metrics |= {f"{direction}_{name}": value for name, value in found.items()}
        items[direction] = (neighbours[:, 0] == gold).astype(int)
    metrics["accuracy"] = (metrics["forward_accuracy"] + metrics["backward_accuracy"]) / 2
    return Scores(metrics["accuracy"], metrics, pd.DataFrame(items))


def _retrieval(test: pd.DataFrame, embed: Embed) -> Scores:
    """Document retrieval by the cosine of query and document, over all documents of the test set."""
    held = retrieval.collection(test)
    queries, documents = embed(held.queries, held.documents)
    by_query = retrieval.measures(held, queries, documents)
    metrics = {name: float(by_query[name].mean()) for name in retrieval.METRICS}
    return Scores(metrics["ndcg_at_10"], metrics, by_query[["id", "ndcg_at_10", "recall_at_10"]])


def _geometry(test: pd.DataFrame, embed: Embed, *, scale: tuple[float, float]) -> Scores:
    """Alignment of pairs that mean the same, uniformity of all distinct sentences (paper 000, footnote 3)."""
    low, high = scale
    gold = (test["score"].astype(float) - low) / (high - low)
    positive = test[gold >= POSITIVE - 1e-9]  # a score that is 0.8 on paper must not fail for its last bit
    if len(positive) < 2:
        raise UserError(
            f"geometry: {len(positive)} pairs have a score of at least {low + POSITIVE * (high - low):g}, "
            f"{POSITIVE:g} of the scale from {low:g} to {high:g}; at least 2 are needed: check `scale:` of the task"
        )
    sentences = pd.concat([test["sentence1"], test["sentence2"]]).drop_duplicates()
    a, b, every = embed(positive["sentence1"], positive["sentence2"], sentences)
    distance = ((unit_vectors(a, "sentence1") - unit_vectors(b, "sentence2")) ** 2).sum(axis=1)
    metrics = {"alignment": alignment(a, b), "uniformity": uniformity(every), "sentences": float(len(sentences))}
    return Scores(metrics["alignment"], metrics, pd.DataFrame({"id": positive["id"], "distance": distance}))


PROTOCOLS: dict[str, Callable[..., Scores]] = {
    "sts": _sts,
    "bitext": _bitext,
    "retrieval": _retrieval,
    "geometry": _geometry,
}


def _unit(x: np.ndarray) -> np.ndarray:
    x = x.astype(np.float64)
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def write(scores: Scores, about: dict[str, Any], path: Path) -> dict[str, str]:
    """Write a score file, {task}/{language}.json, and its items beside it; give the digest of each by that name."""
    items = path.with_suffix(".items.tsv")
    write_table(scores.items, items)
    write_json(record(scores, about, items.name), path)
    return {f"{path.parent.name}/{file.name}": sha256(file) for file in (path, items)}


def record(scores: Scores, about: dict[str, Any], items: str) -> dict[str, Any]:
    """The score file of a model, a task and a language (DESIGN: no timestamps in it)."""
    metrics = {name: round(value, 6) for name, value in scores.metrics.items()}
    return about | {"main_score": round(scores.main, 6), "metrics": metrics, "n": len(scores.items), "items": items}

"""Scoring one encoder on one test set: a main score, all metrics, and a score for every item."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import pearsonr, spearmanr

from seedbed.evaluation.bitext import f1_at_k
from seedbed.evaluation.neighbours import nearest
from seedbed.io import UserError

Encode = Callable[[Sequence[str]], np.ndarray]
"""Sentences (n) to embeddings (n, d), float32."""


@dataclass(frozen=True)
class Scores:
    """What a protocol found."""

    main: float
    """The task's headline number, a fraction."""
    metrics: dict[str, float]
    """All numbers, fractions."""
    items: pd.DataFrame
    """`id` and one score or hit per item and column, so that tables can resample them."""


def score(protocol: str, test: pd.DataFrame, encode: Encode) -> Scores:
    """Score an encoder.

    Args:
        protocol: "sts" (columns sentence1, sentence2, score) or "bitext" (columns text, pivot).

    Raises:
        UserError: an embedding is not finite.
    """
    texts, encoded = _encode_distinct(test, encode)
    return PROTOCOLS[protocol](test, lambda column: encoded[texts[column].to_numpy()])


def _encode_distinct(test: pd.DataFrame, encode: Encode) -> tuple[pd.DataFrame, np.ndarray]:
    """Encode each distinct text once; the frame tells each cell's row in the embeddings."""
    columns = [name for name in ("sentence1", "sentence2", "text", "pivot") if name in test.columns]
    codes, distinct = pd.factorize(pd.concat([test[name] for name in columns], ignore_index=True))
    encoded = np.asarray(encode(list(distinct)), dtype=np.float32)
    if not np.isfinite(encoded).all():
        raise UserError("score: the encoder gives embeddings that are not finite; its training diverged")
    places = codes.reshape(len(columns), len(test)).T
    return pd.DataFrame(places, columns=columns), encoded


def _sts(test: pd.DataFrame, embed: Callable[[str], np.ndarray]) -> Scores:
    """Semantic textual similarity: correlation of the cosine with the gold score."""
    gold = test["score"].astype(float).to_numpy()
    a, b = (_unit(embed(name)) for name in ("sentence1", "sentence2"))
    cosine = np.einsum("nd,nd->n", a, b)
    metrics = {
        "cosine_spearman": float(spearmanr(gold, cosine).statistic),
        "cosine_pearson": float(pearsonr(gold, cosine).statistic),
    }
    items = pd.DataFrame({"id": test["id"], "gold": gold, "cosine": cosine})
    return Scores(metrics["cosine_spearman"], metrics, items)


def _bitext(test: pd.DataFrame, embed: Callable[[str], np.ndarray]) -> Scores:
    """Translation retrieval: is the nearest sentence of the other side, by cosine, the translation?"""
    sides = {"forward": ("text", "pivot"), "backward": ("pivot", "text")}
    gold = np.arange(len(test))
    metrics, items = {}, {"id": test["id"]}
    for direction, (source, target) in sides.items():
        _, neighbours = nearest(embed(source), embed(target), 1, metric="cosine")
        found = f1_at_k(neighbours, gold, 1)
        metrics |= {f"{direction}_{name}": value for name, value in found.items()}
        items[direction] = (neighbours[:, 0] == gold).astype(int)
    metrics["accuracy"] = (metrics["forward_accuracy"] + metrics["backward_accuracy"]) / 2
    return Scores(metrics["accuracy"], metrics, pd.DataFrame(items))


PROTOCOLS: dict[str, Callable[..., Scores]] = {"sts": _sts, "bitext": _bitext}


def _unit(x: np.ndarray) -> np.ndarray:
    x = x.astype(np.float64)
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def record(scores: Scores, about: dict[str, Any], items: str) -> dict[str, Any]:
    """The score file of an encoder, a task and a language (DESIGN: no timestamps in it)."""
    metrics = {name: round(value, 6) for name, value in scores.metrics.items()}
    return about | {"main_score": round(scores.main, 6), "metrics": metrics, "n": len(scores.items), "items": items}

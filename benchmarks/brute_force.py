"""Labels and translations by neighbours, of one encoder and of several fused, against every distance in float64.

Test sets are those of a study (`corpora/<language>/<task>.tsv`, a training set beside a labelled one). Ours takes what
score jobs take; the other way is scipy's distances of all pairs, a stable sort, collections.Counter and scikit-learn.
Prints the share of equal rows, the greatest difference of a metric, and how often ties decide:

    HF_HUB_OFFLINE=1 python -m benchmarks.brute_force --encoders DIR DIR --labelled TSV ... --pairs TSV ...
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist
from sklearn.metrics import accuracy_score, f1_score
from tqdm import tqdm

from seedbed.corpora.settings import COLUMNS
from seedbed.encoders.models.inference import batched
from seedbed.encoders.models.loading import open_encoder
from seedbed.evaluation.protocols import declared
from seedbed.evaluation.scores import System
from seedbed.evaluation.scoring import score, texts
from seedbed.evaluation.settings import Task
from seedbed.io import read_table
from seedbed.vectors.fused import search_by, side_by_side
from seedbed.vectors.store import encode_ahead
from seedbed.vectors.types import Encode

K = [1, 5, 10]
WEIGHTS = [(1, 0), (0, 1), (1, 1), (1, 3), (2, 1)]
"""Of the two encoders; a weight of nothing leaves one alone."""

Ordered = Callable[[pd.Series, pd.Series], tuple[np.ndarray, np.ndarray]]
"""Queries and corpus -> distances (n, m) and, of each query, the corpus from the nearest to the farthest."""
Found = tuple[dict[str, float], dict[str, list], int]
"""Metrics, predictions by item, ties."""


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoders", required=True, nargs=2, type=Path)
    parser.add_argument("--labelled", default=[], nargs="+", type=Path)
    parser.add_argument("--pairs", default=[], nargs="+", type=Path)
    args = parser.parse_args(argv)

    encoders = [open_encoder(path) for path in args.encoders]
    widths = [encoder.get_embedding_dimension() for encoder in encoders]
    records = []
    for path in tqdm([*args.labelled, *args.pairs]):
        labelled = path in args.labelled
        read = partial(read_table, columns=COLUMNS[declared("knn" if labelled else "bitext").kind])
        test, train = read(path), read(path.with_name(f"{path.stem}_train.tsv")) if labelled else None
        task = Task(protocol="knn" if labelled else "bitext", k=K)
        encode = encode_ahead(
            side_by_side([batched(each, task.batch_size) for each in encoders]), texts(task, test, train)
        )
        for weights in WEIGHTS:
            found = score(task, test, System(encode, search=search_by(widths, weights)), train=train)
            ordered = partial(order, encode, widths, weights)
            metrics, items, ties = labels(test, train, ordered) if labelled else translations(test, ordered)
            records.append({
                "test": f"{path.parent.name}/{path.stem}",
                "weights": " ".join(map(str, weights)),
                "n": len(test),
                "equal_rows": float(np.mean([(found.items[name] == items[name]).mean() for name in items])),
                "metric_gap": max(abs(found.metrics[name] - metrics[name]) for name in metrics),
                "ties": ties,
            })  # fmt: skip
    table = pd.DataFrame(records)
    print(table.to_string(index=False))
    assert (table["equal_rows"] == 1).all() and (table["metric_gap"] < 1e-12).all(), "brute force finds others"


def order(encode: Encode, widths: list[int], weights: tuple, queries: pd.Series, corpus: pd.Series) -> tuple:
    """Fused distances of all pairs, rounded as our scores are, and the corpus from the nearest to the farthest."""
    embeddings = (encode(list(side)).astype(np.float64) for side in (queries, corpus))
    asked, offered = (np.split(each, [widths[0]], axis=1) for each in embeddings)
    shares = np.array(weights) / sum(weights)
    distances = sum(share * cdist(a, b) for share, a, b in zip(shares, asked, offered, strict=True)).astype(np.float32)
    return distances, np.argsort(distances, axis=1, kind="stable")


def labels(test: pd.DataFrame, train: pd.DataFrame, ordered: Ordered) -> Found:
    """Votes; ties are questions in which two labels have the most votes at some k."""
    _, nearest = ordered(test["text"], train["text"])
    metrics, items, ties = {}, {}, 0
    for k in K:
        # Of equally frequent labels, `most_common` gives the one seen first: the nearest.
        counts = [Counter(train["label"].iloc[row[:k]]).most_common() for row in nearest]
        items[f"predicted_{k}"] = [each[0][0] for each in counts]
        metrics[f"accuracy_at_{k}"] = accuracy_score(test["label"], items[f"predicted_{k}"])
        metrics[f"macro_f1_at_{k}"] = f1_score(test["label"], items[f"predicted_{k}"], average="macro")
        ties += sum(len(each) > 1 and each[0][1] == each[1][1] for each in counts)
    return metrics, items, ties


def translations(test: pd.DataFrame, ordered: Ordered) -> Found:
    """Both directions; ties are questions whose nearest sentence is no nearer than the next."""
    metrics, items, ties = {}, {}, 0
    gold = range(len(test))
    for way, sides in {"forward": ("text", "pivot"), "backward": ("pivot", "text")}.items():
        distances, nearest = ordered(*(test[side] for side in sides))
        for k in K:
            items[f"{way}_{k}"] = [n if n in nearest[n, :k] else nearest[n, 0] for n in gold]
            metrics[f"{way}_f1_at_{k}"] = f1_score(gold, items[f"{way}_{k}"], average="weighted", zero_division=0)
        ties += sum(distances[n, nearest[n, 0]] == distances[n, nearest[n, 1]] for n in gold)
    return metrics, items, ties


if __name__ == "__main__":
    main()

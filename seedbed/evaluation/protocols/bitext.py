"""Bitext retrieval: is the nearest sentence of the other language the translation? (MINERS, section 2.2)

Accuracy of both directions (main: their mean, at the first k) and MINERS' F1@k (`bitext.f1_at_k`). Corpora: `text`,
`pivot`, a row's translation in its place. Items: id, place, forward and backward (hits at the first k), and what is
predicted at each k.

    flores-bitext:
      protocol: bitext
      source: {file: "own/{lang}-eng.tsv"}
      k: [1, 5]
      distance: euclidean
"""

import numpy as np
import pandas as pd

from seedbed.evaluation.aggregation import WEIGHTED_F1
from seedbed.evaluation.protocols import Metric, Protocol
from seedbed.evaluation.scores import Scores, Trial
from seedbed.io import UserError

PROTOCOL = Protocol(kind="parallel", asks=("distances",), options=("distance", "k"), chooses=True)
METRICS = {"accuracy": Metric("accuracy", ("forward", "backward"))} | {
    f"f1@{k} {way}": Metric(f"{way}_f1_at_{k}", ("place", f"{way}_{k}"), WEIGHTED_F1, k=k)
    for way in ("forward", "backward")
    for k in (1, 5, 10)
}


def score(trial: Trial) -> Scores:
    """Score translation retrieval from `text` to `pivot` (forward) and back (backward).

    Raises:
        UserError: k is not below the number of pairs: each translation would be among the k nearest.
    """
    from seedbed.evaluation.bitext import f1_at_k, predictions

    test, ks = trial.test, trial.task.k
    if max(ks) >= len(test):
        remedy = "set `k:` of the task" if max(ks) > 1 else "give more, or leave the task out"
        raise UserError(f"bitext: k is {max(ks)}, and more pairs are needed than the {len(test)}; {remedy}")
    text, pivot = trial.embed(test["text"], test["pivot"])
    gold = np.arange(len(test))
    metrics, items = {}, {"id": test["id"], "place": gold}
    for direction, (source, target) in {"forward": (text, pivot), "backward": (pivot, text)}.items():
        neighbours = trial.search(source, target, max(ks))
        items[direction] = (neighbours[:, : ks[0]] == gold[:, None]).any(axis=1).astype(int)
        for k in ks:
            found = f1_at_k(neighbours, gold, k)
            metrics |= {f"{direction}_{name}_at_{k}": value for name, value in found.items()}
            items[f"{direction}_{k}"] = predictions(neighbours, gold, k)
    metrics["accuracy"] = float(np.mean([metrics[f"{way}_accuracy_at_{ks[0]}"] for way in ("forward", "backward")]))
    return Scores(metrics["accuracy"], metrics, pd.DataFrame(items))

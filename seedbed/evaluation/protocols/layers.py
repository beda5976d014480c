"""Translation retrieval by each layer of an encoder: where in the model do two languages meet? (NeighXLM, tables 3, 4)

Accuracy of the token means of every layer, of both directions and their mean; layer 0 is the embeddings. Main: the mean
of both directions at the last layer, whatever layer is the best on the test set. Corpora: `text`, `pivot`, a row's
translation in its place. Items: id, and for each layer whether the nearest sentence is the translation.

    tatoeba-layers:
      protocol: layers
      set_of: tatoeba
      distance: cosine
"""

from __future__ import annotations

import numpy as np

from seedbed.evaluation.protocols import Metric, Protocol
from seedbed.evaluation.scores import Scores, Trial

MOST = 48
"""The highest layer that tables can show; all layers are scored."""

PROTOCOL = Protocol(kind="parallel", asks=("layers",), options=("distance",))
METRICS = {
    f"L{layer}{way and ' '}{way}": Metric(
        f"layer_{layer}{way and '_'}{way}",
        tuple(f"{one}_{layer}" for one in ([way] if way else ("forward", "backward"))),
        title=f"Layer {layer}{way and ', '}{way}",
    )
    for layer in range(MOST, -1, -1)
    for way in ("", "forward", "backward")
}
"""The highest layer first: the first that an encoder has is its main score."""


def score(trial: Trial) -> Scores:
    """Score translation retrieval by the token means of each layer, from `text` to `pivot` and back.

    Source: NeighXLM (paper 001), section 4.2: token means, cosine.
    """
    test = trial.test
    texts, pivots = trial.layers(test["text"], test["pivot"])
    metrics, items, gold = {}, test[["id"]].copy(), np.arange(len(test))
    for layer in range(texts.shape[1]):
        text, pivot = texts[:, layer], pivots[:, layer]
        for way, (queries, corpus) in {"forward": (text, pivot), "backward": (pivot, text)}.items():
            hits = (trial.search(queries, corpus, 1)[:, 0] == gold).astype(int)
            items[f"{way}_{layer}"] = hits
            metrics[f"layer_{layer}_{way}"] = float(hits.mean())
        metrics[f"layer_{layer}"] = (metrics[f"layer_{layer}_forward"] + metrics[f"layer_{layer}_backward"]) / 2
    return Scores(metrics[f"layer_{layer}"], metrics, items)

"""How long an encoder's vectors are, as it gives them (LiRA, paper 002, table 9, equations 22 and 23).

The greatest (main), mean, standard deviation, median and quantiles of their Euclidean lengths. Of an encoder of mean
word embeddings the greatest is the paper's estimate of the constant C of its theorem. It is at most the C of another
space, and certifies nothing. An encoder that normalises has the length 1 everywhere. Corpora: `text`. Items: id, norm.

    sts22-norms:
      protocol: norms
      source: {file: "own/{lang}.txt"}
"""

import numpy as np

from seedbed.evaluation.metrics.stability import metrics, summarise
from seedbed.evaluation.protocols import Protocol
from seedbed.evaluation.scores import Scores, Trial

PROTOCOL = Protocol(kind="text", asks=("vectors",))
METRICS = metrics(["norm"], points=1, decimals=3)


def score(trial: Trial) -> Scores:
    """Compute statistics of the lengths of all vectors."""
    (vectors,) = trial.embed(trial.test["text"])
    norms = np.linalg.norm(vectors.astype(np.float64), axis=1)
    found = summarise(norms)
    equal = np.ptp(norms) < 1e-5 * found["max"]
    notes = ["all vectors have one length: the encoder normalises them"] if equal else []
    return Scores(found["max"], found, trial.test[["id"]].assign(norm=norms), notes)

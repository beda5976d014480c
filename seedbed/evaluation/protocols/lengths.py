"""How long texts are, in characters (LiRA, paper 002, table 11). Of the texts alone: nothing is encoded.

The mean (main), with the least, greatest, median, standard deviation and number of texts. Corpora: `text`. Items: id,
characters.

    queries-lengths:
      protocol: lengths
      source: {file: "own/{lang}.txt"}
"""

import numpy as np
import pandas as pd

from seedbed.evaluation.metrics.stability import metrics, summarise
from seedbed.evaluation.protocols import Metric, Protocol
from seedbed.evaluation.scores import Scores, Trial

PROTOCOL = Protocol(kind="text", asks=("vectors",))
METRICS = metrics(["characters"], points=1) | {"min": Metric("min", points=1), "texts": Metric("texts", points=1)}


def score(trial: Trial) -> Scores:
    """Compute statistics of the lengths of all texts, in characters."""
    lengths = trial.test["text"].str.len().to_numpy(np.float64)
    found = summarise(lengths) | {"min": float(lengths.min()), "texts": float(len(lengths))}
    return Scores(found["mean"], found, trial.test[["id"]].assign(characters=lengths))


def texts(test: pd.DataFrame) -> list[str]:
    """The texts to encode: none."""
    return []

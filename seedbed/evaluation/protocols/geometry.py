"""Alignment and uniformity on the unit sphere (Wang and Isola 2020, arXiv 2005.10242; paper 000, footnote 3).

Alignment (main) is the mean of |f(x) - f(y)|² over positive pairs, whose gold score is at least 0.8 of `scale`;
uniformity is log mean exp(-2 |f(x) - f(y)|²) over all pairs of distinct sentences. Lower is better.
Corpora: `sentence1`, `sentence2`, `score`. Items: id and squared distance of the positive pairs.

    semrel-geometry:
      protocol: geometry
      set_of: semrel-sts
      scale: [0, 1]
"""

import pandas as pd

from seedbed.evaluation.aggregation import MEAN
from seedbed.evaluation.protocols import Metric, Protocol
from seedbed.evaluation.scores import Scores, Trial
from seedbed.io import UserError

POSITIVE = 0.8
"""Minimum score of a positive pair, as a fraction of the scale (paper 000, footnote 3)."""

PROTOCOL = Protocol(kind="pairs", asks=("vectors",), options=("scale",))
METRICS = {
    "alignment": Metric("alignment", ("distance",), MEAN, points=1, decimals=3, lower=True),
    "uniformity": Metric("uniformity", points=1, decimals=3, lower=True, count="sentences"),
}


def score(trial: Trial) -> Scores:
    """Compute the alignment of positive pairs and the uniformity of all distinct sentences.

    Raises:
        UserError: fewer than two positive pairs, or a zero vector.
    """
    from seedbed.evaluation.geometry import alignment, uniformity
    from seedbed.vectors.checked import unit_vectors

    test, (low, high) = trial.test, trial.task.scale
    gold = (test["score"].astype(float) - low) / (high - low)
    positive = test[gold >= POSITIVE - 1e-9]  # a score that is 0.8 on paper must not fail for its last bit
    if len(positive) < 2:
        least = f"{low + POSITIVE * (high - low):g}, {POSITIVE:g} of the scale from {low:g} to {high:g}"
        found = f"{len(positive)} pairs have a score of at least {least}"
        raise UserError(f"geometry: {found}; at least 2 are needed: check `scale:` of the task")
    sentences = pd.concat([test["sentence1"], test["sentence2"]]).drop_duplicates()
    a, b, every = trial.embed(positive["sentence1"], positive["sentence2"], sentences)
    distance = ((unit_vectors(a, "sentence1") - unit_vectors(b, "sentence2")) ** 2).sum(axis=1)
    metrics = {"alignment": alignment(a, b), "uniformity": uniformity(every), "sentences": float(len(sentences))}
    return Scores(metrics["alignment"], metrics, pd.DataFrame({"id": positive["id"], "distance": distance}))

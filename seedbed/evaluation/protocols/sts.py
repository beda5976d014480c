"""Semantic textual similarity: Spearman's rho of the cosine of two sentences with their gold score.

Corpora: `sentence1`, `sentence2`, `score` within `scale`. Items: id, gold, cosine. The main score is `cosine_spearman`;
`cosine_pearson` is next to it. Reimers and Gurevych 2019 (arXiv 1908.10084), section 4.

    semrel-sts:
      protocol: sts
      source: {file: "own/{lang}.tsv"}
      scale: [0, 1]
"""

from typing import Any

import numpy as np
import pandas as pd

from seedbed.evaluation.aggregation import PEARSON, SPEARMAN
from seedbed.evaluation.metrics.lexical import WORD_OVERLAP
from seedbed.evaluation.protocols import Metric, Protocol
from seedbed.evaluation.scores import ROUNDING, Scores, Trial
from seedbed.io import UserError
from seedbed.triplets.overlap import dice
from seedbed.vectors.checked import to_unit_length

PROTOCOL = Protocol(
    kind="pairs",
    asks=("vectors",),
    options=("scale", "mteb"),
    chooses=True,
    second=("sentence2",),
    mteb=("cosine_spearman",),
)
METRICS = {
    "spearman": Metric("cosine_spearman", ("gold", "cosine"), SPEARMAN),
    "pearson": Metric("cosine_pearson", ("gold", "cosine"), PEARSON),
}

DECIMALS = 12
"""Of a cosine: beyond them is rounding, which would rank pairs of equal sentences at random."""


def score(trial: Trial) -> Scores:
    """Compute the correlations of cosine similarities with gold scores.

    Raises:
        UserError: a correlation is undefined: a single pair, equal gold scores or cosines, or a zero vector.
    """
    from scipy.stats import pearsonr, spearmanr

    gold = trial.test["score"].astype(float).to_numpy()
    if (gold == gold[0]).all():
        many = "a single pair" if len(gold) < 2 else f"{len(gold)} pairs that all have the score {gold[0]:g}"
        raise UserError(f"sts: {many}; a correlation needs two pairs with different scores")
    zero = "sts: the encoder gives a zero vector, which has no cosine; its training collapsed"
    both = trial.embed(trial.test["sentence1"], trial.test["sentence2"])
    a, b = (to_unit_length(embeddings.astype(np.float64), zero) for embeddings in both)
    cosine = np.einsum("nd,nd->n", a, b).round(DECIMALS)
    if (cosine == cosine[0]).all():
        found = f"the encoder gives all {len(gold)} pairs the cosine {cosine[0]:.6g}, so nothing correlates with it"
        raise UserError(f"sts: {found}; its training collapsed")
    tests = {"cosine_spearman": spearmanr, "cosine_pearson": pearsonr}
    metrics = {name: float(test(gold, cosine).statistic) for name, test in tests.items()}
    items = pd.DataFrame({"id": trial.test["id"], "gold": gold, "cosine": cosine})
    return Scores(metrics["cosine_spearman"], metrics, items, unsettled={"cosine_spearman": unsettled(cosine)})


def unsettled(cosines: np.ndarray) -> float:
    """The most by which Spearman's rho may change where nearly equal cosines (n,) get another order.

    Neighbours that swap ranks change the sum of squared rank differences by at most 2 (n - 1), so rho by 12 / (n (n +
    1)), which is 0.02 of 24 pairs and 3e-4 of 200.
    """
    ordered, n = np.sort(cosines), len(cosines)
    swaps = (np.searchsorted(ordered, ordered + ROUNDING) - np.arange(n) - 1).sum()
    return 12 * float(swaps) / (n * (n + 1))


def lexical(test: pd.DataFrame) -> tuple[str, pd.DataFrame]:
    """The word-overlap baseline: its name, and its items (id, gold, cosine), whose `cosine` is the Dice coefficient of
    the sentences' words.
    """
    overlaps = [dice(a, b) for a, b in zip(test["sentence1"], test["sentence2"], strict=True)]
    return WORD_OVERLAP, pd.DataFrame({"id": test["id"], "gold": test["score"].astype(float), "cosine": overlaps})


def mteb_rows(test: pd.DataFrame) -> Any:
    """The test set in the form of mteb's STS tasks."""
    from datasets import Dataset

    scores = [float(value) for value in test["score"]]
    return Dataset.from_dict({name: list(test[name]) for name in ("sentence1", "sentence2")} | {"score": scores})

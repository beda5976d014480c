"""Whose English an encoder of two texts reads: the share of texts that each translator has (LiRA, figure 10).

`share of NAME` is a translator's, `uniform` what a choice at random would give each: the mean of 1 / translations that
can be chosen. Main: the greatest share. Nothing is encoded. Corpora: `text`. Items: id, translator, uniform.

    sts22-shares:
      protocol: shares
      source: {file: "own/{lang}.txt"}
"""

from dataclasses import replace

from seedbed.evaluation.aggregation import SHARE, one_class
from seedbed.evaluation.protocols import Metric, Protocol
from seedbed.evaluation.scores import Scores, Trial

PROTOCOL = Protocol(kind="text", asks=("choices",))
METRICS = {
    "share of {label}": Metric("share_{label}", ("translator",), replace(SHARE, read=one_class)),
    "uniform": Metric("uniform", ("uniform",)),
}


def score(trial: Trial) -> Scores:
    """Compute each translator's share of the chosen translations."""
    found = trial.choices(trial.test["text"].tolist())
    names = sorted({name for one in found for name in one.usable})
    items = trial.test[["id"]].assign(translator=[one.translator for one in found])
    items["uniform"] = [1 / len(one.usable) for one in found]
    shares = {f"share_{name}": float((items["translator"] == name).mean()) for name in names}
    return Scores(max(shares.values()), shares | {"uniform": float(items["uniform"].mean())}, items)

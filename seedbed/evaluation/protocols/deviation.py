"""How far a translation is from a human's, with the error and the bound of LiRA's theorem (paper 002, section 3).

Of an encoder of a text x and its chosen English y, where a human's English y* is known; g and h have length one:

    epsilon1             the greatest |g(x) - h(y)|
    deviation            the greatest |[g(x); h(y)] - [h(y*); h(y*)]|
    bound                epsilon1 + 2 C sqrt(2 e2), which is proved
    least printed bound  epsilon1 + |h(y) - h(y*)|, the least that the paper's epsilon1 + C sqrt(2 e2) can be

No divergence of meanings can be measured: e2 is the least that the theorem's proof leaves room for, the greatest
|h(y) - h(y*)|^2 / (2 C^2), and C is 1, the least that vectors of length one allow. So no true bound is below `bound`.
The paper's is false, but not for each text beyond its least: with its true e2 it may be greater. Then means over texts,
each by its own e2, and the share of texts beyond the least printed bound. Main: the mean deviation. Corpora: `text`,
`pivot`, a human's English of each. Items: id and a text's own numbers.

    own-deviation:
      protocol: deviation
      source: {file: "own/{lang}-eng.tsv"}
"""

import numpy as np

from seedbed.evaluation.aggregation import MEAN
from seedbed.evaluation.metrics.stability import deviation_bound
from seedbed.evaluation.protocols import Metric, Protocol
from seedbed.evaluation.scores import Scores, Trial

KERNEL = 1.0
"""C of the theorem."""
FORMS = {"proved": "bound", "printed": "least_printed_bound"}
"""Form of `stability.deviation_bound` -> column of the items."""
ROUNDING = 1e-6
"""Distances of float32 vectors that differ by no more than this count as equal."""

PROTOCOL = Protocol(kind="parallel", asks=("paths",))
METRICS = {
    "epsilon1": Metric("epsilon1", lower=True),
    "deviation": Metric("deviation", lower=True),
    "bound": Metric("bound", lower=True),
    "least printed bound": Metric("least_printed_bound", lower=True),
    "mean epsilon1": Metric("mean_epsilon1", ("epsilon1",), MEAN, lower=True),
    "mean deviation": Metric("mean_deviation", ("deviation",), MEAN, lower=True),
    "mean bound": Metric("mean_bound", ("bound",), MEAN, lower=True),
    "beyond least printed": Metric("beyond_least_printed", ("beyond",), lower=True),
}


def score(trial: Trial) -> Scores:
    """Compute error, deviation and bound of each text and over all texts; maxima have no interval."""
    test = trial.test
    texts, humans = (both.astype(np.float64) for both in trial.paths(test["text"], test["pivot"]))
    (g, h), ideal = (texts[:, 0], texts[:, 1]), humans[:, 1]
    error, apart = np.linalg.norm(g - h, axis=1), np.linalg.norm(h - ideal, axis=1)
    divergence = apart**2 / (2 * KERNEL**2)
    items = test[["id"]].assign(epsilon1=error, deviation=np.hypot(np.linalg.norm(g - ideal, axis=1), apart))
    worst = {"epsilon1": float(error.max()), "deviation": float(items["deviation"].max())}
    for form, name in FORMS.items():
        items[name] = deviation_bound(error, divergence, KERNEL, form=form)
        worst[name] = float(deviation_bound(error.max(), divergence.max(), KERNEL, form=form))
    items["beyond"] = (items["deviation"] > items["least_printed_bound"] + ROUNDING).astype(int)
    means = {f"mean_{name}": float(items[name].mean()) for name in ("epsilon1", "deviation", "bound")}
    own = int((apart < ROUNDING).sum())
    notes = [f"of {own} texts the human's own English, or what has the same vector, was chosen"] if own else []
    found = worst | means | {"beyond_least_printed": float(items["beyond"].mean())}
    return Scores(means["mean_deviation"], found, items, notes)

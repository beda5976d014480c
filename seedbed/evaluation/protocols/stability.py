"""How far a text's vector moves for each character that is edited (LiRA, paper 002, table 10, equations 25 and 26).

Of each text PERTURBED copies with so many seeded edits, drawn from its own characters; the greatest ratio of the
distance of vectors to the edit distance of texts, which may be less than the edits; then mean, standard deviation,
median, quantiles and the greatest over texts, for each number of EDITS. Main: the 95 % quantile at one edit. It is no
constant of the paper's theorem or corollary. Corpora: `text`, at most TEXTS of them. Items: id and the ratio at each
number of edits.

    sts22-stability:
      protocol: stability
      source: {file: "own/{lang}.txt"}
"""

import hashlib

import numpy as np
import pandas as pd

from seedbed.corpora.subset import subset
from seedbed.evaluation.protocols import Protocol
from seedbed.evaluation.scores import Scores, Trial
from seedbed.evaluation.stability import described, edit_distance, edited, lipschitz, metrics
from seedbed.io import UserError

EDITS = (1, 2, 3, 5, 8, 10)
"""How many edits a copy has: delta of table 10."""
PERTURBED = 4
"""Copies of a text for each number of edits; the paper names none."""
TEXTS = 500
"""The paper names none. Each is encoded 25 times."""

PROTOCOL = Protocol(kind="text", asks=("vectors",), edits=True)
METRICS = {
    name: metric
    for edits in EDITS
    for name, metric in metrics(f"ratio_{edits}", f"at {edits}", points=100, lower=True).items()
}


def score(trial: Trial) -> Scores:
    """Statistics of the ratios; UserError: no text has an edited copy that differs from it."""
    test = subset(trial.test[trial.test["text"] != ""], TEXTS).reset_index(drop=True)
    if test.empty:
        raise UserError("stability: every text is empty; at least one must have characters to edit")
    copies = pd.DataFrame([_copies(text) for text in test["text"]], index=test.index)
    original, *moved = trial.embed(test["text"], *(copies[name] for name in copies.columns))
    items = test[["id"]].copy()
    for place, edits in enumerate(EDITS):
        mine = slice(place * PERTURBED, (place + 1) * PERTURBED)
        pairs = (zip(test["text"], copies[name], strict=True) for name in copies.columns[mine])
        distances = np.stack([[edit_distance(one, other) for one, other in column] for column in pairs], axis=1)
        items[f"ratio_{edits}"] = lipschitz(original, np.stack(moved[mine], axis=1), distances)
    whole = items.dropna(ignore_index=True)
    if whole.empty:
        raise UserError("stability: no text has copies that differ from it at every number of edits; give longer texts")
    every = {f"{name}_{n}": value for n in EDITS for name, value in described(whole[f"ratio_{n}"]).items()}
    left = len(items) - len(whole)
    return Scores(every["p95_1"], every, whole, [f"{left} texts without an edited copy are left out"] if left else [])


def _copies(text: str) -> list[str]:
    """PERTURBED copies for each of EDITS, the same whatever other texts there are."""
    rng = np.random.default_rng(int.from_bytes(hashlib.sha256(text.encode()).digest()))
    return [edited(text, edits, rng) for edits in EDITS for _ in range(PERTURBED)]

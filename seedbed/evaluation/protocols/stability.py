"""How far a text's vector moves for each character that is edited (LiRA, paper 002, table 10, equations 25 and 26).

For each number of EDITS, each text has PERTURBED copies with seeded random edits by its own characters (letters with
their marks). A copy's ratio is the distance of vectors over the edit distance of texts, which may be less than the
edits. Metrics, for each number of EDITS: mean, standard deviation, median, quantiles and maximum of all ratios, as in
the paper's table, and of the greatest ratio of each text, equation 25's local constant. Main: the 95 % quantile of all
ratios at one edit. Neither is a constant of the paper's theorem or corollary. Corpora: `text`, at most TEXTS of them.
Items: id and the ratios.

    sts22-stability:
      protocol: stability
      source: {file: "own/{lang}.txt"}
"""

import hashlib

import numpy as np
import pandas as pd
from rapidfuzz.distance import Levenshtein

from seedbed.corpora.select.subset import subset
from seedbed.corpora.shape.clean import characters
from seedbed.evaluation.metrics.stability import apply_edits, lipschitz, metrics, ratios, summarise
from seedbed.evaluation.protocols import Protocol
from seedbed.evaluation.scores import Scores, Trial
from seedbed.io import UserError

EDITS = (1, 2, 3, 5, 8, 10)
"""Numbers of edits of a copy: delta of table 10."""
PERTURBED = 4
"""Copies of a text for each number of edits; the paper names none."""
TEXTS = 500
"""The maximum number of texts; the paper names none. Each is encoded 25 times."""

PROTOCOL = Protocol(kind="text", asks=("vectors",), edits=True)
RATIOS = {edits: [f"ratio_{edits}_{copy}" for copy in range(1, PERTURBED + 1)] for edits in EDITS}
"""Number of edits -> columns of the items, one for each copy's ratio."""
METRICS = {
    name: metric
    for edits, columns in RATIOS.items()
    for found in (
        metrics(columns, f"at {edits}", f"{edits}", points=100, lower=True),
        metrics([f"greatest_{edits}"], f"of the greatest at {edits}", f"greatest_{edits}", points=100, lower=True),
    )
    for name, metric in found.items()
}


def score(trial: Trial) -> Scores:
    """Compute STATISTICS of the ratios of all copies, and of each text's greatest ratio, for each number of edits.

    Raises:
        UserError: every text is empty.
    """
    test = subset(trial.test[trial.test["text"] != ""], TEXTS).reset_index(drop=True)
    if test.empty:
        raise UserError("stability: every text is empty; at least one must have characters to edit")
    copies = pd.DataFrame([_copies(text) for text in test["text"]], index=test.index)
    original, *moved = trial.embed(test["text"], *(copies[name] for name in copies.columns))
    items, every, texts = test[["id"]].copy(), {}, test["text"].map(characters)
    for place, (edits, columns) in enumerate(RATIOS.items()):
        mine = slice(place * PERTURBED, (place + 1) * PERTURBED)
        apart = [[*map(Levenshtein.distance, texts, copies[name].map(characters))] for name in copies.columns[mine]]
        found = ratios(original, np.stack(moved[mine], axis=1), np.transpose(apart))
        items[columns], items[f"greatest_{edits}"] = found, lipschitz(found)
        for key, own in ((f"{edits}", columns), (f"greatest_{edits}", [f"greatest_{edits}"])):
            every |= {f"{name}_{key}": value for name, value in summarise(items[own].to_numpy().ravel()).items()}
    return Scores(every["p95_1"], every, items)


def _copies(text: str) -> list[str]:
    """PERTURBED copies for each of EDITS, the same whatever other texts there are; none is the text."""
    rng = np.random.default_rng(int.from_bytes(hashlib.sha256(text.encode()).digest()))
    return [_other(text, edits, rng) for edits in EDITS for _ in range(PERTURBED)]


def _other(text: str, edits: int, rng: np.random.Generator) -> str:
    """An edited copy that differs from the text; edits that undo one another are sampled again."""
    while (copy := apply_edits(text, edits, rng)) == text:
        pass
    return copy

"""Stability of an encoder under edits of a text, and the deviation bound of LiRA's theorem (paper 002, section 3 and
A.1).
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seedbed.corpora.shape.clean import characters
from seedbed.evaluation.aggregation import Aggregate
from seedbed.evaluation.metrics import Metric
from seedbed.evaluation.significance import paired_permutation_test

STATISTICS: dict[str, Callable[..., NDArray[np.float64]]] = {
    "mean": np.mean,
    "std": np.std,
    "median": np.median,
    **{f"p{percent}": partial(np.quantile, q=percent / 100) for percent in (90, 95, 99)},
    "max": np.max,
}
"""Statistics over all texts in tables 9 and 10 of paper 002; each takes `axis`."""


def summarise(values: ArrayLike) -> dict[str, float]:
    """Name -> value of each of STATISTICS over numbers (n,); the standard deviation divides by n."""
    return {name: float(statistic(np.asarray(values), axis=-1)) for name, statistic in STATISTICS.items()}


def metrics(columns: Sequence[str], of: str = "", key: str = "", **shown: object) -> dict[str, Metric]:
    """STATISTICS of all numbers in some columns of items, as metrics of tables.

    The maximum has no interval: no resample contains a greater value, so that the interval would have no upper end.

    Args:
        of: suffix of the metrics' names.
        key: suffix of the metrics' keys.
        **shown: further fields of each `Metric`.
    """
    return {
        f"{name} {of}".strip(): Metric(
            f"{name}_{key}".strip("_"),
            () if name == "max" else tuple(columns),
            Aggregate(partial(statistic, axis=(-2, -1)), test=partial(paired_permutation_test, statistic=statistic)),
            **shown,
        )
        for name, statistic in STATISTICS.items()
    }


def ratios(original: ArrayLike, perturbed: ArrayLike, distances: ArrayLike) -> NDArray[np.float64]:
    """Rate at which vectors move: |h(y) - h(y')| / distance(y, y') of edited copies y' of each text y.

    Source: paper 002, equation 26.

    Args:
        original: h(y), (n, d).
        perturbed: h(y') of p copies of each text, (n, p, d).
        distances: distances of the texts, (n, p).

    Returns:
        (n, p), in float64; NaN at a distance of 0.
    """
    h, moved, apart = (np.asarray(x, dtype=np.float64) for x in (original, perturbed, distances))
    lengths = np.linalg.norm(moved - h[:, None], axis=2)
    return np.divide(lengths, apart, out=np.full_like(lengths, np.nan), where=apart > 0)


def lipschitz(found: NDArray[np.float64]) -> NDArray[np.float64]:
    """Local Lipschitz constant (n,) of each text: the maximum of its `ratios` (n, p); NaN if all are NaN.

    Source: paper 002, equation 25.
    """
    return np.fmax.reduce(found, axis=1, initial=np.nan)


def deviation_bound(
    anchoring: float | NDArray[np.float64],
    divergence: float | NDArray[np.float64],
    kernel: float,
    *,
    form: Literal["proved", "printed"] = "proved",
) -> float | NDArray[np.float64]:
    """Upper bound of |[g(x); h(y)] - [h(y*); h(y*)]|, where y* is a perfect translation of x and y another one.

    "proved": e1 + 2 C sqrt(2 e2). "printed": e1 + C sqrt(2 e2), equation 1 of paper 002, which does not hold: its proof
    uses |mu_p - mu_q| <= C TV(p, q) in equation 17, and TV is half of the distance |p - q|_1 that is needed.

    Args:
        anchoring: e1, the maximum of |g(x) - h(y)|, or that of each text (n,).
        divergence: e2, the maximum KL divergence of meanings, in nats, likewise.
        kernel: C, where k(s, s) <= C^2.
    """
    factor = {"proved": 2, "printed": 1}[form]
    return anchoring + factor * kernel * np.sqrt(2 * divergence)


def apply_edits(text: str, edits: int, rng: np.random.Generator) -> str:
    """Apply random character edits to a text that is not empty: insertions, deletions and substitutions.

    A character is a letter with its marks (`clean.characters`). Inserted characters come from the text itself. A single
    remaining character is never deleted, and in a text of one distinct character a substitution becomes an insertion.
    Later edits may undo earlier ones.
    """
    found = characters(text)
    alphabet = sorted({*found})
    for _ in range(edits):
        kind, place = rng.choice(["insert", "delete", "substitute"]), int(rng.integers(len(found)))
        others = [character for character in alphabet if character != found[place]]
        if kind == "delete" and len(found) > 1:
            del found[place]
        elif kind == "substitute" and others:
            found[place] = others[rng.integers(len(others))]
        else:
            found.insert(int(rng.integers(len(found) + 1)), alphabet[rng.integers(len(alphabet))])
    return "".join(found)

"""Lexical overlap within triplets, generated or gold (paper 000, figure 5)."""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from seedbed.corpora.shape.clean import terms

RESAMPLES = 1000
DRAWS = 10_000_000
"""Values that are sampled at a time."""


def dice(a: str, b: str) -> float:
    """Lexical overlap of two sentences: Dice coefficient of their sets of case-folded words (paper 000, figure 5).

    In scripts without spaces between words, it is that of their sets of pairs of adjacent characters.

    Example:
        >>> dice("The rain came", "the RAIN fell")
        0.6666666666666666
    """
    first, second = terms(a), terms(b)
    return 2 * len(first & second) / (len(first) + len(second)) if first or second else 0.0


def by_row(triplets: pd.DataFrame, side: str) -> NDArray[np.float64]:
    """Dice coefficient (n,) of each row's anchor and its text in the column `side`, "positive" or "negative"."""
    pairs = zip(triplets["anchor"], triplets[side], strict=True)
    return np.array([dice(anchor, target) for anchor, target in pairs], dtype=np.float64)


def summary(values: ArrayLike) -> dict[str, float | None]:
    """Statistics of the overlaps (n,) of one or more rows, for a report.

    Returns:
        `n`, `mean`, `low` and `high` (95 % percentile bootstrap interval of the mean, the same at each call; None for a
        single row), and the quartiles `q25`, `q50`, `q75`.
    """
    from scipy.stats import bootstrap  # half a second, which a plan has no need of

    series = np.asarray(values)
    found = {"mean": series.mean(), **{f"q{int(q * 100)}": np.quantile(series, q) for q in (0.25, 0.5, 0.75)}}
    if len(series) > 1:
        options = {"n_resamples": RESAMPLES, "batch": max(1, DRAWS // len(series)), "method": "percentile"}
        interval = bootstrap((series,), np.mean, rng=np.random.default_rng(0), **options).confidence_interval
        found |= {"low": interval.low, "high": interval.high}
    rounded = {name: round(float(value), 4) for name, value in found.items()}
    return {"n": len(series), "low": None, "high": None} | rounded

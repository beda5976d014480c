"""Lexical overlap within triplets, synthetic or gold (paper 000, figure 5)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.stats import bootstrap

from seedbed.corpora.clean import words

RESAMPLES = 1000
DRAWS = 10_000_000
"""Values that are drawn at a time."""

Summary = dict[str, float | None]


def dice(a: str, b: str) -> float:
    """Lexical overlap of two sentences: Dice coefficient of their case-folded word sets (paper 000, figure 5)."""
    first, second = set(words(a)), set(words(b))
    return 2 * len(first & second) / (len(first) + len(second)) if first or second else 0.0


def overlaps(triplets: pd.DataFrame) -> dict[str, Summary]:
    """Dice of anchor and positive, and of anchor and negative, over triplets: synthetic ones or an NLI corpus.

    Args:
        triplets: the columns `anchor`, `positive` and `negative`, one row or more.

    Returns:
        For `anchor-positive` and `anchor-negative`: `n`, `mean`, `low` and `high` (95 % percentile bootstrap interval
        of the mean over rows, the same on every call; None for a single row), and the quartiles `q25`, `q50`, `q75`.
    """
    return summaries({side: by_row(triplets, side) for side in ("positive", "negative")})


def summaries(values: Mapping[str, NDArray[np.float64]]) -> dict[str, Summary]:
    """What `overlaps` says, of the rows' own values (n,) by side."""
    return {f"anchor-{side}": _summary(rows) for side, rows in values.items()}


def by_row(triplets: pd.DataFrame, side: str) -> NDArray[np.float64]:
    """Dice (n,) of every row's anchor and its `positive` or `negative`."""
    pairs = zip(triplets["anchor"], triplets[side], strict=True)
    return np.array([dice(anchor, target) for anchor, target in pairs], dtype=np.float64)


def _summary(values: ArrayLike) -> Summary:
    series = np.asarray(values)
    low, high = _interval(series) if len(series) > 1 else (None, None)
    quartiles = {f"q{int(q * 100)}": _rounded(np.quantile(series, q)) for q in (0.25, 0.5, 0.75)}
    return {"n": len(series), "mean": _rounded(series.mean()), "low": low, "high": high, **quartiles}


def _interval(values: np.ndarray) -> tuple[float, float]:
    interval = bootstrap(
        (values,),
        np.mean,
        n_resamples=RESAMPLES,
        batch=max(1, DRAWS // len(values)),
        method="percentile",
        rng=np.random.default_rng(0),
    ).confidence_interval
    return _rounded(interval.low), _rounded(interval.high)


def _rounded(value: float) -> float:
    return round(float(value), 4)

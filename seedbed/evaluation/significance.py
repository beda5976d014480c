"""Which differences are real: Williams' test, false discovery rates, and the bootstrap over items and seeds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import false_discovery_control, permutation_test, rankdata
from scipy.stats import t as student

from seedbed.io import UserError

Statistic = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""Maps items (..., n_items) or (..., n_items, k) to values (...), as `mean` and `spearman` do."""

LEAST_ITEMS = 10  # a percentile interval over fewer has no meaning


@dataclass(frozen=True)
class Interval:
    """A statistic and its percentile interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Comparison:
    """How far one system lies above another, the percentile interval of that, and the two-sided p of no difference."""

    difference: float
    low: float
    high: float
    p: float


def williams(r12: float, r13: float, r23: float, n: int) -> tuple[float, float]:
    """Test that variable 1 correlates equally with variables 2 and 3 (Williams 1959; Steiger 1980, eq. 7).

    For two systems on one STS set: r12 and r13 are the correlations of gold with either system, r23 that of the
    systems with one another, n the number of items. With Spearman's rho it is an approximation.

    Returns:
        t, positive where r12 is greater, and the two-sided p at n - 3 degrees of freedom.

    Raises:
        UserError: fewer than 4 items, or correlations that no three variables can have.
    """
    determinant = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    # The bound on the determinant leaves room for rounding alone; written so that NaN fails too.
    if not (max(abs(r12), abs(r13), abs(r23)) <= 1 and determinant >= -1e-9):
        raise UserError(f"williams: correlations {r12}, {r13}, {r23}; no three variables can have them")
    if n < 4:
        raise UserError(f"williams: {n} items; at least 4 are needed")
    if math.isclose(r12, r13, abs_tol=1e-12):  # two systems that order alike give 0 / 0 below
        return 0.0, 1.0
    mean = (r12 + r13) / 2
    spread = 2 * (n - 1) / (n - 3) * max(determinant, 0.0) + mean**2 * (1 - r23) ** 3
    ratio = (n - 1) * (1 + r23) / spread if spread > 0 else math.inf
    t = (r12 - r13) * math.sqrt(ratio)
    return t, float(2 * student.sf(abs(t), n - 3))


def correlated(gold: ArrayLike, a: ArrayLike, b: ArrayLike) -> float:
    """Two-sided p that two systems' similarities (n,) have the same Spearman correlation with `gold`: Williams' test.

    Raises:
        UserError: as `williams`.
    """
    a, b = np.asarray(a), np.asarray(b)
    pairs = [np.stack(pair, axis=1) for pair in ((gold, a), (gold, b), (a, b))]
    r12, r13, r23 = (float(spearman(pair)) for pair in pairs)
    return williams(r12, r13, r23, len(a))[1]


def permuted(a: ArrayLike, b: ArrayLike, *, resamples: int = 2000, seed: int = 0) -> float:
    """Two-sided p that two systems' scores (n,) of the same items have one mean: each item's scores change places.

    Raises:
        UserError: shapes differ.
    """
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if a.shape != b.shape:
        raise UserError(f"permuted: scores {a.shape} and {b.shape}; both systems need the same items")
    if (a == b).all():
        return 1.0
    test = permutation_test(
        (a, b),
        lambda x, y, axis: (x - y).mean(axis=axis),
        permutation_type="samples",
        n_resamples=resamples,
        batch=100,
        rng=np.random.default_rng(seed),
    )
    return float(test.pvalue)


def benjamini_hochberg(p: ArrayLike) -> NDArray[np.float64]:
    """Adjusted p-values, in the given order: rejecting those up to q bounds the false discovery rate by q.

    Benjamini and Hochberg (1995), for independent or positively dependent tests.

    Args:
        p: p-values (n,).

    Raises:
        UserError: not one axis, or a value outside [0, 1].
    """
    p = np.asarray(p, dtype=np.float64)
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise UserError("benjamini_hochberg: p-values must be a list of numbers within [0, 1]")
    return false_discovery_control(p) if p.size else p


def mean(items: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean over items (..., n_items): accuracy of hits, or the mean of any score per query."""
    return items.mean(axis=-1)


def spearman(items: NDArray[np.float64]) -> NDArray[np.float64]:
    """Spearman's rho of gold and predicted similarity, items (..., n_items, 2), with average ranks for ties.

    A constant side orders nothing and gives 0, not NaN: few resamples of few items may hold only one gold value.
    """
    ranks = rankdata(items, axis=-2) - (items.shape[-2] + 1) / 2
    gold, predicted = ranks[..., 0], ranks[..., 1]
    scale = np.sqrt((gold**2).sum(axis=-1) * (predicted**2).sum(axis=-1))
    return (gold * predicted).sum(axis=-1) / np.where(scale == 0, 1, scale)


def macro_f1(items: NDArray[np.float64]) -> NDArray[np.float64]:
    """Macro F1 of gold and predicted classes, items (..., n_items, 2) of class numbers, as scikit-learn has it.

    A class that is neither gold nor predicted does not count. Thousands of resamples at once, which is why it is not
    scikit-learn's.
    """
    classes = int(items.max()) + 1
    gold, predicted = (items[..., side].reshape(-1, items.shape[-2]).astype(np.int64) for side in (0, 1))
    first = classes * np.arange(len(gold))[:, None]

    def count(chosen: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.bincount(chosen, minlength=len(gold) * classes).reshape(len(gold), classes)

    both = count((gold + first).ravel()) + count((predicted + first).ravel())
    of_class = 2 * count((gold + first)[gold == predicted]) / np.maximum(both, 1)
    return (of_class.sum(axis=1) / (both > 0).sum(axis=1)).reshape(items.shape[:-2])


def f1_of_items(items: NDArray[np.float64]) -> NDArray[np.float64]:
    """F1 of each item's gold class among all items, (n_items,); their mean is F1 weighted by support.

    Items are then resampled with the F1 that they have here. Were F1 computed of each resample, where a class is one
    sentence (MINERS' F1@k), a third of the sentences would be missing, with the precision that they cost others.

    Args:
        items: gold and predicted classes (n_items, 2), as numbers from 0 on.
    """
    gold, predicted = items.astype(np.int64).T
    classes = int(items.max()) + 1
    right, support, claimed = (
        np.bincount(chosen, minlength=classes) for chosen in (gold[gold == predicted], gold, predicted)
    )
    return (2 * right / np.maximum(support + claimed, 1))[gold]


def interval(
    statistic: Statistic,
    scores: ArrayLike,
    *,
    resamples: int = 2000,
    level: float = 0.95,
    seed: int = 0,
    batch: int = 100,
) -> Interval:
    """Percentile bootstrap interval of a statistic averaged over training seeds.

    Each replicate draws seeds and items, both with replacement; the drawn items are the same for all seeds, as the
    test set is. With S seeds their share of the variance comes out (S - 1) / S of what it is; with one it is unseen.

    Args:
        statistic: `mean`, `spearman`, or another Statistic.
        scores: one system's items (n_seeds, n_items) or (n_seeds, n_items, k).
        level: coverage of the interval.
        batch: replicates computed at once; bounds the memory, and does not change the result.

    Raises:
        UserError: fewer than 10 items, no seed, NaN or infinity, or a number of axes other than 2 or 3.
    """
    scores = _as_items(scores, "scores")
    (found,) = replicates(statistic, [scores], resamples=resamples, seed=seed, batch=batch)
    return Interval(float(statistic(scores).mean()), *percentiles(found, level))


def paired_bootstrap(
    statistic: Statistic,
    a: ArrayLike,
    b: ArrayLike,
    *,
    resamples: int = 2000,
    level: float = 0.95,
    seed: int = 0,
    batch: int = 100,
) -> Comparison:
    """Bootstrap of the difference a - b between two systems that were scored on the same items.

    As `interval`; each replicate draws the same items for both systems, and the seeds of each on their own (seed 1
    of one system has nothing in common with seed 1 of another). p is twice the share of replicates on the far side
    of zero, the data themselves counted in (Davison and Hinkley 1997, chapter 4): at least 2 / (resamples + 1).

    Args:
        a, b: items (n_seeds, n_items) or (n_seeds, n_items, k); numbers of seeds may differ.

    Raises:
        UserError: items of a and b do not match, or as `interval`.
    """
    a, b = _as_items(a, "a"), _as_items(b, "b")
    if a.shape[1:] != b.shape[1:]:
        raise UserError(f"paired_bootstrap: items {a.shape[1:]} and {b.shape[1:]}; both systems need the same items")
    of_a, of_b = replicates(statistic, [a, b], resamples=resamples, seed=seed, batch=batch)
    difference = float(statistic(a).mean() - statistic(b).mean())
    return Comparison(difference, *percentiles(of_a - of_b, level), two_sided(of_a - of_b))


def _as_items(scores: ArrayLike, name: str) -> NDArray[np.float64]:
    """`scores` as a float64 array (n_seeds, n_items[, k]), or a UserError."""
    scores = np.asarray(scores, dtype=np.float64)
    if scores.ndim not in (2, 3) or not scores.size:
        raise UserError(f"{name}: shape {scores.shape}; expected (n_seeds, n_items) or (n_seeds, n_items, k)")
    if scores.shape[1] < LEAST_ITEMS:
        raise UserError(f"{name}: {scores.shape[1]} items; a bootstrap needs at least {LEAST_ITEMS}")
    if not np.isfinite(scores).all():
        raise UserError(f"{name}: holds NaN or infinity; every item needs a score")
    return scores


def replicates(
    statistic: Statistic, systems: Sequence[NDArray[np.float64]], *, resamples: int, seed: int, batch: int = 100
) -> NDArray[np.float64]:
    """Bootstrap values (n_systems, resamples) of the statistic, averaged over drawn seeds.

    One draw of items serves all systems, (n_seeds, n_items[, k]) each, which pairs them.
    """
    rng = np.random.default_rng(seed)
    # All seeds before all items: the numbers drawn do not depend on where batches end.
    seeds = [rng.integers(len(items), size=(len(items), resamples)) for items in systems]
    batches = []
    for start in range(0, resamples, batch):
        n_items = systems[0].shape[1]
        drawn = rng.integers(n_items, size=(min(batch, resamples - start), n_items))
        batches.append([statistic(items[:, drawn]) for items in systems])
    values = [np.concatenate(parts, axis=1) for parts in zip(*batches, strict=True)]  # each (n_seeds, resamples)
    return np.stack([np.take_along_axis(v, s, axis=0).mean(axis=0) for v, s in zip(values, seeds, strict=True)])


def percentiles(values: NDArray[np.float64], level: float) -> tuple[float, float]:
    """The central interval that holds `level` of the replicates."""
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def two_sided(differences: NDArray[np.float64]) -> float:
    """p of no difference from its replicates: twice the share on the far side of zero."""
    far = min((differences <= 0).sum(), (differences >= 0).sum())
    return min(1.0, float(2 * (far + 1) / (len(differences) + 1)))

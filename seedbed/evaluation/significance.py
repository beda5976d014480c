"""Statistical tests of differences: Williams' test, permutation tests, false discovery rates, and the bootstrap over
items and seeds.
"""

import itertools
import math
from collections.abc import Callable, Mapping
from decimal import Decimal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seedbed.io import UserError

Statistic = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""Maps items (..., n_items, k) to values (...), as `spearman` does."""

LEAST_ITEMS = 10  # a percentile interval over fewer has no meaning


def williams(r12: float, r13: float, r23: float, n: int) -> tuple[float, float]:
    """Williams' test that variable 1 correlates equally with variables 2 and 3 (Williams 1959; Steiger 1980, eq. 7).

    For two systems on one STS test set. With Spearman's rho it is an approximation.

    Args:
        r12: correlation of gold scores with the first system.
        r13: correlation of gold scores with the second system.
        r23: correlation of the two systems.
        n: the number of items, 4 or more.

    Returns:
        t, positive if r12 is greater, and the two-sided p at n - 3 degrees of freedom.

    Raises:
        UserError: fewer than 4 items, or correlations that no three variables can have.

    Example:
        >>> williams(0.5, 0.5, 0.2, 50)
        (0.0, 1.0)
    """
    from scipy.stats import t as student

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


def spearman(items: NDArray[np.float64]) -> NDArray[np.float64]:
    """Spearman's rho of gold and predicted similarity, items (..., n_items, 2), with average ranks for ties.

    If either column is constant, the result is 0 instead of NaN: a resample of few items may hold a single gold value.
    """
    from scipy.stats import rankdata

    return pearson(rankdata(items, axis=-2))


def pearson(items: NDArray[np.float64]) -> NDArray[np.float64]:
    """Pearson's r of gold and predicted similarity, items (..., n_items, 2); 0 if a column is constant."""
    # By `ptp`: the mean of equal numbers may differ from them by rounding.
    constant = (np.ptp(items, axis=-2) == 0).any(axis=-1)
    gold, predicted = np.moveaxis(items - items.mean(axis=-2, keepdims=True), -1, 0)
    scale = np.sqrt((gold**2).sum(axis=-1) * (predicted**2).sum(axis=-1))
    return np.where(constant, 0.0, (gold * predicted).sum(axis=-1) / np.where(constant | (scale == 0), 1, scale))


def williams_p(
    ours: NDArray[np.float64],
    theirs: NDArray[np.float64],
    resamples: int = 0,
    seed: int = 0,
    correlation: Statistic = spearman,
) -> float:
    """Two-sided p-value, by Williams' test, that two systems correlate equally with gold scores.

    Of several training seeds each correlation is the mean over seeds, as in tables. Averaged scores would be those of
    an ensemble, which correlates better than each of its members.

    Args:
        ours: gold scores and the first system's, (n, 2) or (n_seeds, n, 2).
        theirs: gold scores and the second system's, likewise; it may have another number of seeds.
        resamples, seed: not used; other tests have them.
        correlation: `spearman` or `pearson`, of items (..., n, 2).

    Raises:
        UserError: fewer than 4 items, or correlations that no three variables can have.
    """
    ours, theirs = (items.reshape(-1, *items.shape[-2:]) for items in (ours, theirs))
    between = np.stack([np.stack(pair, axis=-1) for pair in itertools.product(ours[..., 1], theirs[..., 1])])
    r12, r13, r23 = (float(correlation(pairs).mean()) for pairs in (ours, theirs, between))
    return williams(r12, r13, r23, ours.shape[1])[1]


def paired_permutation_test(
    ours: NDArray[np.float64],
    theirs: NDArray[np.float64],
    resamples: int = 2000,
    seed: int = 0,
    statistic: Callable[..., NDArray[np.float64]] = np.mean,
) -> float:
    """Two-sided p-value, by a paired permutation test, that two systems' scores have the same mean or other statistic.

    Args:
        ours: scores (n, k) of the first system, or (n_seeds, n, k), which are averaged over seeds.
        theirs: scores of the second system on the same items, likewise.
        resamples: the number of random permutations; all 2^n are used if there are at most as many.
        seed: seed of the permutations.
        statistic: computes a statistic of scores over `axis`, the last two.
    """
    from scipy.stats import permutation_test

    ours, theirs = (scores.reshape(-1, *scores.shape[-2:]).mean(axis=0) for scores in (ours, theirs))
    if (ours == theirs).all():
        return 1.0
    both, places = np.concatenate([ours, theirs]), np.arange(len(ours))
    test = permutation_test(
        (places, places + len(ours)),
        lambda x, y, axis: statistic(both[x], axis=(-2, -1)) - statistic(both[y], axis=(-2, -1)),
        permutation_type="samples",
        n_resamples=resamples,
        batch=100,
        rng=np.random.default_rng(seed),
    )
    return float(test.pvalue)


def benjamini_hochberg(p: ArrayLike) -> NDArray[np.float64]:
    """Benjamini-Hochberg adjusted p-values (n,), in the given order; rejecting those up to q bounds the false discovery
    rate by q.

    Source: Benjamini and Hochberg (1995), for independent or positively dependent tests.

    Raises:
        UserError: not one axis, or a value outside [0, 1].
    """
    from scipy.stats import false_discovery_control

    p = np.asarray(p, dtype=np.float64)
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise UserError("benjamini_hochberg: p-values must be a list of numbers within [0, 1]")
    return false_discovery_control(p) if p.size else p


def macro_f1(items: NDArray[np.float64]) -> NDArray[np.float64]:
    """Macro F1 of gold and predicted classes, items (..., n_items, 2) of class numbers, equal to scikit-learn's.

    A class that is neither gold nor predicted does not count, nor does the prediction -1, of no class. It handles
    thousands of resamples at once, which scikit-learn's function does not.
    """
    rows = items.astype(np.int64).reshape(-1, *items.shape[-2:]) + 1
    gold, predicted, classes = rows[..., 0], rows[..., 1], int(rows.max()) + 1
    first = classes * np.arange(len(gold))[:, None]

    def count(chosen: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.bincount(chosen, minlength=len(gold) * classes).reshape(len(gold), classes)[:, 1:]

    both = count((gold + first).ravel()) + count((predicted + first).ravel())
    of_class = 2 * count((gold + first)[gold == predicted]) / np.maximum(both, 1)
    return (of_class.sum(axis=1) / (both > 0).sum(axis=1)).reshape(items.shape[:-2])


def f1_terms(gold: NDArray[np.float64], predicted: NDArray[np.float64]) -> NDArray[np.float64]:
    """Contribution of each item to the macro F1 of classes, to first order; the mean over items is that F1.

    A permutation test of these terms compares the F1 of two systems, as hits would compare their accuracy. For a class
    of B gold and predicted items together, an item adds F1 + n (2 hit - F1 (gold + predicted)) / B.

    Args:
        gold: whether each class is the item's gold class, (..., n_items, n_classes), 0 or 1.
        predicted: whether it is predicted, likewise.

    Returns:
        (..., n_items, 1); classes that are neither gold nor predicted do not count.
    """
    named = (gold + predicted).sum(axis=-2, keepdims=True)
    f1 = 2 * (gold * predicted).sum(axis=-2, keepdims=True) / np.maximum(named, 1)
    terms = f1 + gold.shape[-2] * (2 * gold * predicted - f1 * (gold + predicted)) / np.maximum(named, 1)
    there = named > 0
    return (terms * there).sum(axis=-1, keepdims=True) / np.maximum(there.sum(axis=-1, keepdims=True), 1)


def f1_of_items(items: NDArray[np.float64]) -> NDArray[np.float64]:
    """Contribution (n_items,) of each item to the support-weighted F1; the mean of the contributions is that F1.

    An item contributes the F1 of its gold class. A wrong prediction subtracts what it costs the predicted class: that
    class's support, times how much higher its F1 is without the item. The mean of these costs is added back to every
    item. Items are resampled with these values. With the plain F1 of the gold class, 95 % intervals of MINERS' F1@k,
    whose classes are single sentences, cover the value in 84 to 93 % of samples only. Computing F1 on each resample
    would leave out a third of the sentences, with their cost to the precision of others.

    Args:
        items: gold and predicted class (n_items, 2), as numbers from 0.
    """
    gold, predicted = items.astype(np.int64).T
    classes = int(items.max()) + 1
    right, support, claimed = (
        np.bincount(chosen, minlength=classes) for chosen in (gold[gold == predicted], gold, predicted)
    )
    both = support + claimed
    f1, without = 2 * right / np.maximum(both, 1), 2 * right / np.maximum(both - 1, 1)
    taken = np.where(gold == predicted, 0, (support * (without - f1))[predicted])
    return f1[gold] - taken + taken.mean()


def replicates(
    statistic: Statistic,
    systems: Mapping[str, NDArray[np.float64]],
    *,
    resamples: int,
    seed: int,
    batch: int = 100,
) -> dict[str, NDArray[np.float64]]:
    """Bootstrap values (resamples,) of a statistic over items by system, averaged over its training seeds.

    All systems and seeds share the sampled items, which pairs the systems. The variance between seeds is not in them,
    see `with_seeds`.

    Args:
        statistic: maps items (..., n_items, k) to values (...).
        systems: name -> items (n_seeds, n_items, k), with the same items for all.
        batch: replicates that are computed at once; it bounds the memory and does not change results.
    """
    rng = np.random.default_rng(seed)
    n_items = next(iter(systems.values())).shape[1]
    parts: dict[str, list[NDArray[np.float64]]] = {name: [] for name in systems}
    for start in range(0, resamples, batch):
        drawn = rng.integers(n_items, size=(min(batch, resamples - start), n_items))
        for name, items in systems.items():
            parts[name].append(statistic(items[:, drawn]).mean(axis=0))
    return {name: np.concatenate(own) for name, own in parts.items()}


def with_seeds(over_items: NDArray[np.float64], *by_seed: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """Bootstrap values (resamples,) over items, widened by the variance between training seeds.

    The mean of S scores with standard deviation s has the variance s² / S, estimated with S - 1 degrees of freedom.
    Normal deviations with both variances are divided by a chi with the degrees of freedom of the sum (Welch 1947), so
    that the percentiles are those of Welch's t-test if items do not vary, and those of the bootstrap if seeds do not.

    Sampling seeds with replacement instead would give (S - 1) / S of the variance and a normal's tails: of equal
    systems with 2 or 3 seeds, 6 to 30 % would differ at the level of 5 %. Here 2 to 6 % do, and 1 % where seeds differ
    in nothing but which items they get right, a variance that both parts contain.

    Args:
        over_items: values of a system, see `replicates`, or differences of two.
        by_seed: scores (n_seeds,) of the system, or of each of the two. A single seed adds nothing: its variance is
            not known.
        seed: seed of the normal and chi-squared deviates.
    """
    known = [(own.var(ddof=1) / len(own), len(own) - 1) for own in by_seed if len(own) > 1]
    between = sum(variance for variance, _ in known)
    if not between:
        return over_items
    whole = over_items.var() + between
    freedom = whole**2 / sum(variance**2 / own for variance, own in known)
    rng = np.random.default_rng([seed, 1])  # not the numbers that sampled the items
    deviations = over_items - over_items.mean() + math.sqrt(between) * rng.standard_normal(len(over_items))
    return over_items.mean() + deviations * np.sqrt(freedom / rng.chisquare(freedom, len(over_items)))


def percentiles(values: NDArray[np.float64], level: float) -> tuple[float, float]:
    """The central interval (low, high) that contains the share `level` of the replicates (resamples,)."""
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def alpha(level: float) -> float:
    """1 - level in decimal arithmetic: 0.05 for 0.95, for which floating point has 0.05000000000000004."""
    return float(1 - Decimal(str(float(level))))


def percent(level: float) -> str:
    """A level in per cent, without the sign: "95", "99.5"."""
    return f"{100 * level:g}"


def rejects(p: float, level: float) -> bool:
    """Whether a p-value is below 1 - level; NaN is not.

    It is rounded to 12 decimals before, so that a p-value that equals 1 - level up to floating-point error is not below
    it.
    """
    return bool(round(p, 12) < alpha(level))


def rounded(p: float, level: float, decimals: int) -> float:
    """A p-value rounded to `decimals`, such that it stays below 1 - level, or not below it: see `rejects`.

    At level 0.95, 0.04996 becomes 0.0499, because 0.0500 is not below 0.05. The level is rounded to as many decimals.
    """
    near, bound = round(p, decimals), alpha(round(level, decimals))
    if rejects(p, level):
        return min(near, max(round(bound - 10**-decimals, decimals), 0.0))
    return max(near, bound)


def two_sided(differences: NDArray[np.float64]) -> float:
    """Two-sided p-value of no difference, from bootstrap replicates of the difference.

    Twice the share of replicates on the smaller side of zero, at least 2 / (resamples + 1): the data themselves count
    as one replicate (Davison and Hinkley 1997, chapter 4). A replicate of zero up to floating-point error is on both
    sides.
    """
    signs = differences.round(12)
    far = min((signs <= 0).sum(), (signs >= 0).sum())
    return min(1.0, float(2 * (far + 1) / (len(differences) + 1)))

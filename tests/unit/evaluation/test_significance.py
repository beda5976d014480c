"""Tests and intervals against formulas worked by hand, scipy, and simulations where the truth is known."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import sklearn.metrics
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from seedbed.evaluation.significance import (
    benjamini_hochberg,
    correlated,
    f1_of_items,
    interval,
    macro_f1,
    mean,
    paired_bootstrap,
    permuted,
    replicates,
    spearman,
    williams,
)
from seedbed.io import UserError


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


# Williams' test


def test_williams_by_hand() -> None:
    # r12 = .5, r13 = .4, r23 = .1, n = 103, the numbers of Steiger (1980, p. 246):
    # |R| = 1 - .25 - .16 - .01 + 2 (.5)(.4)(.1) = .62;  mean r = .45;  (1 - r23)^3 = .729
    # t = .1 sqrt(102 (1.1) / (2 (102 / 100) .62 + .2025 (.729))) = .1 sqrt(112.2 / 1.4124225)
    t, p = williams(0.5, 0.4, 0.1, 103)
    assert t == pytest.approx(0.1 * math.sqrt(112.2 / 1.4124225), rel=1e-12)
    assert t == pytest.approx(0.8913, abs=5e-5)
    assert p == pytest.approx(0.375, abs=5e-4)


def test_williams_is_antisymmetric_and_the_two_sided_tail_of_t() -> None:
    t, p = williams(0.6, 0.4, 0.3, 50)
    assert williams(0.4, 0.6, 0.3, 50) == (-t, p)
    assert p == pytest.approx(2 * stats.t(47).cdf(-t))


def test_williams_p_is_uniform_when_nothing_differs() -> None:
    n, trials = 40, 3000
    common, noise = rng().normal(size=(trials, 1, n)), rng(1).normal(size=(trials, 2, n))
    variables = np.concatenate([common, common + noise], axis=1)  # both systems see the gold equally well
    p = []
    for sample in variables:
        r = np.corrcoef(sample)
        p.append(williams(r[0, 1], r[0, 2], r[1, 2], n)[1])
    assert stats.kstest(p, "uniform").pvalue > 0.01
    assert 0.04 < np.mean(np.array(p) < 0.05) < 0.06


def test_williams_at_the_edge() -> None:
    assert williams(0.7, 0.7, 1.0, 100) == (0.0, 1.0)  # two systems that order alike
    assert williams(0.3 + 1e-16, 0.1 + 0.2, 1.0, 100) == (0.0, 1.0)
    assert williams(0.6, -0.6, 1 - 2 * 0.36, 100) == (math.inf, 0.0)  # gold is a combination of both systems


@pytest.mark.parametrize("correlations", [(0.9, -0.9, 0.9), (1.1, 0, 0), (math.nan, 0, 0), (0.5, 0.5, -1.5)])
def test_impossible_correlations(correlations: tuple[float, float, float]) -> None:
    with pytest.raises(UserError, match="no three variables"):
        williams(*correlations, 100)


def test_williams_needs_four_items() -> None:
    with pytest.raises(UserError, match="3 items; at least 4"):
        williams(0.5, 0.4, 0.1, 3)


# False discovery rate


def test_benjamini_hochberg_published_example() -> None:
    # The fifteen p-values of Benjamini and Hochberg (1995), section 3.2: at q = .05 they reject four.
    p = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344]
    p += [0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0]
    adjusted = benjamini_hochberg(p)
    assert (adjusted <= 0.05).sum() == 4
    by_hand = [0.0015, 0.003, 0.0095, 0.035625, 0.0603, 0.0298 * 15 / 7, 0.0298 * 15 / 7, 0.0645, 0.0765]
    np.testing.assert_allclose(adjusted[:9], by_hand)


@given(st.lists(st.floats(0, 1), max_size=30))
def test_benjamini_hochberg_by_its_definition(p: list[float]) -> None:
    m = len(p)
    # The least q at which the step-up procedure rejects p_i: over all p_j >= p_i, the least m p_j / #{p <= p_j}.
    expected = [min(min(1, m * pj / sum(x <= pj for x in p)) for pj in p if pj >= pi) for pi in p]
    np.testing.assert_allclose(benjamini_hochberg(p), expected, rtol=1e-12)


@pytest.mark.parametrize("p", [[0.1, 1.2], [-0.1], [math.nan], [[0.1]]])
def test_benjamini_hochberg_refuses_what_is_no_p(p: list) -> None:
    with pytest.raises(UserError, match="within"):
        benjamini_hochberg(p)


# Statistics


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 40), st.integers(2, 12))
def test_spearman_is_scipys(seed: int, n: int, values: int) -> None:
    items = rng(seed).integers(values, size=(3, 2, n, 2)).astype(float)  # few values: many ties
    found = spearman(items)
    assert found.shape == (3, 2)
    for index in np.ndindex(3, 2):
        x, y = items[index].T
        constant = len(set(x)) == 1 or len(set(y)) == 1
        assert found[index] == pytest.approx(0 if constant else stats.spearmanr(x, y).statistic, abs=1e-12)


def test_mean_is_over_items() -> None:
    np.testing.assert_allclose(mean(np.array([[1.0, 0, 0, 1], [1, 1, 1, 1]])), [0.5, 1])


# Bootstrap


def sts(n_seeds: int = 3, n: int = 60, noise: float = 0.7, seed: int = 0) -> np.ndarray:
    """Gold and predicted similarity, (n_seeds, n, 2); gold is the same for every seed of every system."""
    gold = rng(99).uniform(size=n)
    predicted = gold + noise * rng(seed).normal(size=(n_seeds, n))
    return np.stack(np.broadcast_arrays(gold, predicted), axis=-1)


def test_the_interval_of_a_mean_is_the_textbook_one() -> None:
    scores = rng().normal(size=(1, 400))
    found = interval(mean, scores, resamples=4000)
    error = 1.96 * scores.std() / np.sqrt(400)
    assert found.value == pytest.approx(scores.mean())
    assert (found.low, found.high) == pytest.approx((found.value - error, found.value + error), abs=0.1 * error)


def test_the_interval_is_wider_at_a_higher_level() -> None:
    scores = sts()
    narrow, wide = (interval(spearman, scores, level=level, resamples=300) for level in (0.8, 0.99))
    assert wide.low < narrow.low < narrow.value < narrow.high < wide.high


def test_seeds_and_items_both_vary() -> None:
    """Scores u_s + v_i: the bootstrap variance is var(u) / n_seeds + var(v) / n_items."""
    of_seeds, of_items = np.array([-0.3, 0.0, 0.1, 0.4]), rng().normal(size=50)
    scores = of_seeds[:, None] + of_items
    found = interval(mean, scores, level=0.6827, resamples=8000)
    expected = np.sqrt(of_seeds.var() / 4 + of_items.var() / 50)
    assert (found.high - found.low) / 2 == pytest.approx(expected, rel=0.06)


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    samples = rng().normal(size=(400, 1, 40))
    found = [interval(mean, sample, resamples=200, level=0.9, seed=i) for i, sample in enumerate(samples)]
    assert 0.85 < np.mean([i.low <= 0 <= i.high for i in found]) < 0.94


def test_p_is_small_as_seldom_as_it_says() -> None:
    samples = rng(1).normal(size=(400, 2, 1, 40))
    p = np.array([paired_bootstrap(mean, a, b, resamples=200, seed=i).p for i, (a, b) in enumerate(samples)])
    assert 0.03 < np.mean(p <= 0.1) < 0.16
    assert 0.4 < np.mean(p <= 0.5) < 0.6


def test_a_real_difference_is_found_and_has_a_sign() -> None:
    better, worse = sts(noise=0.3, seed=1), sts(noise=1.5, seed=2)
    found = paired_bootstrap(spearman, better, worse, resamples=500)
    assert found.difference == pytest.approx(spearman(better).mean() - spearman(worse).mean())
    assert 0 < found.low < found.difference < found.high
    assert found.p == pytest.approx(2 / 501)
    assert paired_bootstrap(spearman, worse, better, resamples=500).high < 0


def test_swapping_the_systems_mirrors_the_comparison() -> None:
    a, b = rng(1).normal(size=(2, 1, 30))
    there, back = (paired_bootstrap(mean, *pair, resamples=300) for pair in ((a, b), (b, a)))
    assert (back.difference, back.low, back.high) == pytest.approx((-there.difference, -there.high, -there.low))
    assert back.p == there.p


def test_a_system_does_not_differ_from_itself() -> None:
    scores = sts(n_seeds=1)
    found = paired_bootstrap(spearman, scores, scores, resamples=100)
    assert (found.difference, found.low, found.high, found.p) == (0, 0, 0, 1)


def test_the_seeds_of_two_systems_are_drawn_apart() -> None:
    scores = np.repeat([[0.0], [1.0]], 20, axis=1)  # only seeds differ
    found = paired_bootstrap(mean, scores, scores, resamples=300)
    assert (found.difference, found.low, found.high) == (0, -1, 1)


def test_pairing_cancels_hard_items() -> None:
    """Two systems that share their hard items: a small gain that is invisible unpaired is real paired."""
    hard = rng().normal(size=(1, 200))
    a, b = hard + 0.1 + 0.05 * rng(1).normal(size=(1, 200)), hard
    assert paired_bootstrap(mean, a, b, resamples=300).low > 0
    assert interval(mean, a, resamples=300).low < interval(mean, b, resamples=300).high


def test_numbers_of_seeds_may_differ() -> None:
    found = paired_bootstrap(spearman, sts(n_seeds=4), sts(n_seeds=1), resamples=50)
    assert found.low <= found.high


@pytest.mark.parametrize("batch", [1, 7, 99, 1000])
def test_the_batch_does_not_matter(batch: int) -> None:
    a, b = sts(seed=1)[:, :33], sts(seed=2)[:2, :33]  # odd sizes: 32-bit draws straddle the batches
    assert paired_bootstrap(spearman, a, b, resamples=99, batch=batch) == paired_bootstrap(spearman, a, b, resamples=99)
    assert interval(spearman, a, resamples=99, batch=batch) == interval(spearman, a, resamples=99)


def test_the_seed_decides() -> None:
    scores = sts()
    first, again, other = (interval(spearman, scores, resamples=99, seed=seed) for seed in (1, 1, 2))
    assert first == again != other


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (np.ones((3, 9)), "9 items; a bootstrap needs at least 10"),
        (np.ones(20), "expected"),
        (np.ones((0, 20)), "expected"),
        (np.full((1, 20), np.nan), "NaN"),
    ],
)
def test_bad_scores_are_named(scores: np.ndarray, message: str) -> None:
    with pytest.raises(UserError, match=message):
        interval(mean, scores)
    with pytest.raises(UserError, match=message):
        paired_bootstrap(mean, scores, scores)


def test_systems_need_the_same_items() -> None:
    with pytest.raises(UserError, match="same items"):
        paired_bootstrap(mean, np.ones((1, 20)), np.ones((1, 21)))


def test_a_permutation_agrees_with_the_exact_one():
    a, b = rng(3).random(10), rng(4).random(10) + 0.15
    signs = np.array(list(itertools.product([1, -1], repeat=10)))
    means = (signs * (a - b)).mean(axis=1)
    exact = 2 * min((means <= (a - b).mean()).mean(), (means >= (a - b).mean()).mean())
    assert permuted(a, b, resamples=20_000) == pytest.approx(exact, abs=0.02)
    assert permuted(a, a) == 1.0
    assert permuted(a, b, seed=1) == permuted(a, b, seed=1)
    with pytest.raises(UserError, match="same items"):
        permuted(a, b[:5])


def test_a_permutation_pairs_items() -> None:
    """A small gain on every item is seen, however much harder one item is than another."""
    hard = np.linspace(0, 10, 30)
    assert permuted(hard + 0.1, hard) < 0.01 < 0.5 < permuted(hard + 0.1, hard[::-1])


def test_correlated_systems_by_williams():
    gold, noise, bad = rng(4).random((3, 200))
    good = gold + 0.1 * noise
    assert correlated(gold, good, bad) < 1e-6
    assert correlated(gold, good, 2 * good) == 1.0


def test_macro_f1_of_many_resamples_is_scikit_learns() -> None:
    items = rng(3).integers(0, 6, size=(2, 4, 15, 2)).astype(float)
    expected = [
        [sklearn.metrics.f1_score(sample[:, 0], sample[:, 1], average="macro", zero_division=0) for sample in seed]
        for seed in items
    ]
    np.testing.assert_allclose(macro_f1(items), expected, rtol=1e-12)


def test_a_class_that_a_resample_lacks_does_not_lower_its_f1() -> None:
    assert macro_f1(np.array([[[0, 0], [2, 2]], [[0, 0], [1, 2]]])).tolist() == pytest.approx([1, 1 / 3])


@pytest.mark.parametrize("classes", [6, 40])
def test_f1_of_items_has_scikit_learns_weighted_f1_as_its_mean(classes: int) -> None:
    items = rng(3).integers(0, classes, size=(40, 2)).astype(float)
    expected = sklearn.metrics.f1_score(items[:, 0], items[:, 1], average="weighted", zero_division=0)
    assert f1_of_items(items).mean() == pytest.approx(expected, rel=1e-12)


def test_an_average_of_f1_over_many_languages_lies_in_its_interval() -> None:
    """As MINERS has it: each sentence is a class, and a wrong one costs the precision of the sentence it names."""
    values, draws = [], []
    for seed in range(30):
        gold = np.arange(100)
        predicted = np.where(rng(seed).random(100) < 0.5, gold, rng(seed + 100).integers(0, 100, 100))
        items = f1_of_items(np.stack([gold, predicted], axis=1).astype(float))
        values.append(items.mean())
        draws.append(replicates(mean, [items[None]], resamples=200, seed=seed)[0])
    low, high = np.percentile(np.mean(draws, axis=0), [2.5, 97.5])
    assert low < np.mean(values) < high

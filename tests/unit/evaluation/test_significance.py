"""Tests and intervals against formulas worked by hand, scipy, and simulations where the truth is known."""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
import sklearn.metrics
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from seedbed.evaluation.aggregation import (
    F1_OF_CLASS,
    MACRO_F1,
    MEAN,
    SPEARMAN,
    WEIGHTED_F1,
    f1_by_item,
    macro_f1_by_item,
    mean,
)
from seedbed.evaluation.classification import of_labels
from seedbed.evaluation.significance import (
    Statistic,
    benjamini_hochberg,
    f1_of_items,
    macro_f1,
    paired_permutation_test,
    pearson,
    percentiles,
    replicates,
    spearman,
    two_sided,
    williams,
    williams_p,
    with_seeds,
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


@pytest.mark.parametrize("seed", range(5))
def test_pearson_is_scipys_and_nothing_correlates_with_a_constant(seed: int) -> None:
    items = rng(seed).normal(size=(4, 30, 2))
    items[0, :, 0] = 0.1 + 0.2  # whose mean is another number
    found = pearson(items)
    assert found[0] == 0
    assert found[1:] == pytest.approx([stats.pearsonr(one[:, 0], one[:, 1]).statistic for one in items[1:]], abs=1e-12)


def test_williams_test_is_of_the_correlation_that_a_table_shows() -> None:
    gold = rng(3).normal(size=60)
    ours, theirs = (np.stack([gold, gold + noise**3], axis=1) for noise in rng(4).normal(size=(2, 60)))
    r12, r13 = (stats.pearsonr(gold, items[:, 1]).statistic for items in (ours, theirs))
    r23 = stats.pearsonr(ours[:, 1], theirs[:, 1]).statistic
    assert williams_p(ours, theirs, correlation=pearson) == pytest.approx(williams(r12, r13, r23, 60)[1], rel=1e-9)
    assert williams_p(ours, theirs, correlation=pearson) != pytest.approx(williams_p(ours, theirs), rel=1e-3)


def test_of_several_seeds_williams_test_is_of_the_mean_correlations() -> None:
    """As a table shows them. Averaged scores are those of an ensemble, which is better than its members."""
    gold = rng(5).normal(size=600)
    ours, theirs = (
        np.stack([np.stack([gold, gold + noise * spread], axis=1) for noise in rng(seed).normal(size=(count, 600))])
        for seed, count, spread in ((6, 1, 1.2), (7, 4, 2.5))
    )
    r12, r13 = (float(spearman(items).mean()) for items in (ours, theirs))
    r23 = np.mean([stats.spearmanr(ours[0, :, 1], other[:, 1]).statistic for other in theirs])
    assert r12 > r13 + 0.2
    p = SPEARMAN.p_value(ours, theirs, 100, 0)
    assert p == pytest.approx(williams(r12, r13, r23, 600)[1], rel=1e-9) and p < 1e-6
    ensemble = williams_p(ours.mean(axis=0), theirs.mean(axis=0))
    assert ensemble > 0.05


@pytest.mark.parametrize("seed", range(5))
def test_what_items_add_to_macro_f1_has_it_as_its_mean(seed: int) -> None:
    items = rng(seed).integers(0, 4, size=(3, 40, 2)).astype(float)
    items[0][items[0] == 2] = 1  # a class that neither column has
    expected = [sklearn.metrics.f1_score(*one.T, average="macro", labels=np.unique(one)) for one in items]
    np.testing.assert_allclose(macro_f1_by_item(items).mean(axis=(1, 2)), expected, rtol=1e-12)
    of_one = (items == 3).astype(float)
    expected = [sklearn.metrics.f1_score(*one.T, zero_division=0) for one in of_one]
    np.testing.assert_allclose(f1_by_item(of_one).mean(axis=(1, 2)), expected, rtol=1e-12)


def test_equal_accuracy_is_not_equal_macro_f1() -> None:
    """One system never names the rare class; the other finds all of it and gives as many false alarms."""
    gold = np.arange(500) < 50
    never, alarms = np.zeros(500, bool), gold | ((np.arange(500) >= 50) & (np.arange(500) < 100))
    ours, theirs = (np.stack([gold, predicted], axis=1)[None].astype(float) for predicted in (never, alarms))
    assert MEAN.p_value((ours[..., :1] == ours[..., 1:]), (theirs[..., :1] == theirs[..., 1:]), 500, 0) == 1.0
    assert MACRO_F1.p_value(ours, theirs, 500, 0) < 0.01
    assert F1_OF_CLASS.p_value(ours, theirs, 500, 0) < 0.01


def test_macro_f1_of_systems_that_do_not_differ_is_significant_as_often_as_the_level_says() -> None:
    found = []
    for seed in range(120):
        gold, one, other = rng(seed).integers(0, 3, size=(3, 120))
        right = rng(seed + 1000).random((2, 120)) < 0.6
        pairs = [
            np.stack([gold, np.where(hit, gold, said)], axis=1) for hit, said in zip(right, (one, other), strict=True)
        ]
        found.append(MACRO_F1.p_value(*(pair[None].astype(float) for pair in pairs), 200, seed))
    assert 0.005 < np.mean(np.array(found) < 0.05) < 0.12
    assert 0.35 < np.median(found) < 0.65


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
    np.testing.assert_allclose(mean(np.array([[[1.0], [0], [0], [1]], [[1], [1], [1], [1]]])), [0.5, 1])


# Bootstrap


class Found(NamedTuple):
    """A statistic, or the difference of two systems, with its interval and p of nought."""

    value: float
    low: float
    high: float
    p: float


def interval(statistic: Statistic, scores: np.ndarray, *, level: float = 0.95, seed: int = 0, **how: int) -> Found:
    (over_items,) = replicates(statistic, {"": scores}, seed=seed, **how).values()
    drawn = with_seeds(over_items, statistic(scores), seed=seed)
    return Found(float(statistic(scores).mean()), *percentiles(drawn, level), two_sided(drawn))


def compared(statistic: Statistic, a: np.ndarray, b: np.ndarray, *, seed: int = 0, **how: int) -> Found:
    of_a, of_b = replicates(statistic, {"a": a, "b": b}, seed=seed, **how).values()
    value = float(statistic(a).mean() - statistic(b).mean())
    drawn = with_seeds(of_a - of_b, statistic(a), statistic(b), seed=seed)
    return Found(value, *percentiles(drawn, 0.95), two_sided(drawn))


def sts(n_seeds: int = 3, n: int = 60, noise: float = 0.7, seed: int = 0) -> np.ndarray:
    """Gold and predicted similarity, (n_seeds, n, 2); gold is the same for every seed of every system."""
    gold = rng(99).uniform(size=n)
    predicted = gold + noise * rng(seed).normal(size=(n_seeds, n))
    return np.stack(np.broadcast_arrays(gold, predicted), axis=-1)


def test_replicates_that_are_zero_but_for_the_last_bit_are_on_both_sides_of_it() -> None:
    rounded_off = 0.1 + 0.2 - 0.3
    assert rounded_off > 0 and two_sided(np.array([rounded_off] * 50 + [1.0] * 49)) == 1.0
    assert two_sided(np.array([rounded_off, -rounded_off, 1.0])) == two_sided(np.array([0.0, 0.0, 1.0])) == 1.0
    assert two_sided(np.array([rounded_off] * 9 + [1.0] * 90)) == pytest.approx(2 * 10 / 100)


def test_the_interval_of_a_mean_is_the_textbook_one() -> None:
    scores = rng().normal(size=(1, 400, 1))
    found = interval(mean, scores, resamples=4000)
    error = 1.96 * scores.std() / np.sqrt(400)
    assert found.value == pytest.approx(scores.mean())
    assert (found.low, found.high) == pytest.approx((found.value - error, found.value + error), abs=0.1 * error)


def test_the_interval_is_wider_at_a_higher_level() -> None:
    scores = sts()
    narrow, wide = (interval(spearman, scores, level=level, resamples=300) for level in (0.8, 0.99))
    assert wide.low < narrow.low < narrow.value < narrow.high < wide.high


def test_seeds_and_items_both_vary() -> None:
    """Scores u_s + v_i: the variance is var(u) / n_seeds + var(v) / n_items, of Welch's degrees of freedom."""
    of_seeds, of_items = np.array([-0.3, 0.0, 0.1, 0.4]), rng().normal(size=50)
    scores = of_seeds[:, None] + of_items
    found = interval(mean, scores[..., None], level=0.95, resamples=40_000)
    between, within = of_seeds.var(ddof=1) / 4, of_items.var() / 50
    freedom = (between + within) ** 2 / (between**2 / 3)
    expected = np.sqrt(between + within) * stats.t.ppf(0.975, freedom)
    assert (found.high - found.low) / 2 == pytest.approx(expected, rel=0.03)


@pytest.mark.parametrize(("ours", "theirs"), [([0.1, 0.5], [0.0, 0.3, 0.2]), ([0.6, 0.61, 0.7], [0.3, 0.5, 0.35, 0.2])])
def test_where_only_seeds_vary_it_is_welchs_t_test(ours: list[float], theirs: list[float]) -> None:
    drawn = with_seeds(np.full(200_000, np.mean(ours) - np.mean(theirs)), np.array(ours), np.array(theirs), seed=3)
    exact = stats.ttest_ind(ours, theirs, equal_var=False)
    assert percentiles(drawn, 0.9) == pytest.approx(tuple(exact.confidence_interval(0.9)), rel=0.03)
    assert two_sided(drawn) == pytest.approx(exact.pvalue, rel=0.1)
    alone = with_seeds(np.full(200_000, np.mean(ours)), np.array(ours), seed=3)
    student = stats.t.interval(0.9, len(ours) - 1, np.mean(ours), stats.sem(ours))
    assert percentiles(alone, 0.9) == pytest.approx(student, rel=0.03)


@pytest.mark.parametrize("n_seeds", [2, 3])
def test_few_seeds_do_not_make_equal_systems_differ(n_seeds: int) -> None:
    """Sampling them with replacement would say so of 30 % with two seeds and of 17 % with three."""
    draws = rng(7)
    seen = []
    for seed in range(400):
        of_items = 0.3 * draws.normal(size=(2, 1, 60))
        a, b = draws.normal(size=(2, n_seeds, 1)) + of_items
        seen.append(compared(mean, a[..., None], b[..., None], resamples=200, seed=seed).p)
    assert 0.01 < np.mean(np.array(seen) < 0.05) < 0.08


def test_an_answer_that_is_no_label_is_wrong_and_no_class_of_its_own() -> None:
    table = pd.DataFrame({"gold": [*"aabb"], "predicted": ["a", "", "b", "b"]})
    items = MACRO_F1.read(table, ["gold", "predicted"])
    expected = sklearn.metrics.f1_score(table["gold"], table["predicted"], labels=["a", "b"], average="macro")
    assert macro_f1(items) == pytest.approx(expected) == pytest.approx((2 / 3 + 1) / 2)
    assert MACRO_F1.test_scores(items).mean() == pytest.approx(expected)
    scores = of_labels(table.assign(label=table["gold"], id=range(4)), table["predicted"])
    assert scores.metrics["macro_f1"] == pytest.approx(expected)


def test_what_another_seed_would_change_is_not_known_of_one() -> None:
    drawn = rng().normal(size=50)
    assert with_seeds(drawn, np.array([0.3]), np.array([0.1]), seed=1) is drawn
    assert with_seeds(drawn, np.array([0.3, 0.3]), seed=1) is drawn


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    samples = rng().normal(size=(400, 1, 40, 1))
    found = [interval(mean, sample, resamples=200, level=0.9, seed=i) for i, sample in enumerate(samples)]
    assert 0.85 < np.mean([i.low <= 0 <= i.high for i in found]) < 0.94


def test_p_is_small_as_seldom_as_it_says() -> None:
    samples = rng(1).normal(size=(400, 2, 1, 40, 1))
    p = np.array([compared(mean, a, b, resamples=200, seed=i).p for i, (a, b) in enumerate(samples)])
    assert 0.03 < np.mean(p <= 0.1) < 0.16
    assert 0.4 < np.mean(p <= 0.5) < 0.6


def test_a_real_difference_is_found_and_has_a_sign() -> None:
    better, worse = sts(noise=0.3, seed=1), sts(noise=1.5, seed=2)
    found = compared(spearman, better, worse, resamples=500)
    assert found.value == pytest.approx(spearman(better).mean() - spearman(worse).mean())
    assert 0 < found.low < found.value < found.high
    assert found.p < 0.02
    assert compared(spearman, worse, better, resamples=500).high < 0


def test_swapping_the_systems_mirrors_the_comparison() -> None:
    a, b = rng(1).normal(size=(2, 1, 30, 1))
    there, back = (compared(mean, *pair, resamples=300) for pair in ((a, b), (b, a)))
    assert (back.value, back.low, back.high) == pytest.approx((-there.value, -there.high, -there.low))
    assert back.p == there.p


def test_a_system_does_not_differ_from_itself() -> None:
    scores = sts(n_seeds=1)
    found = compared(spearman, scores, scores, resamples=100)
    assert found == (0, 0, 0, 1)


def test_the_seeds_of_two_systems_are_not_paired() -> None:
    scores = np.repeat([[[0.0]], [[1.0]]], 20, axis=1)  # only seeds differ
    found = compared(mean, scores, scores, resamples=300)
    assert found.value == 0 and found.low < -1 and found.high > 1


def test_pairing_cancels_hard_items() -> None:
    """Two systems that share their hard items: a small gain that is invisible unpaired is real paired."""
    hard = rng().normal(size=(1, 200, 1))
    a, b = hard + 0.1 + 0.05 * rng(1).normal(size=hard.shape), hard
    assert compared(mean, a, b, resamples=300).low > 0
    assert interval(mean, a, resamples=300).low < interval(mean, b, resamples=300).high


def test_numbers_of_seeds_may_differ() -> None:
    found = compared(spearman, sts(n_seeds=4), sts(n_seeds=1), resamples=50)
    assert found.low <= found.high


@pytest.mark.parametrize("batch", [1, 7, 99, 1000])
def test_the_batch_does_not_matter(batch: int) -> None:
    a, b = sts(seed=1)[:, :33], sts(seed=2)[:2, :33]  # odd sizes: 32-bit draws straddle the batches
    assert compared(spearman, a, b, resamples=99, batch=batch) == compared(spearman, a, b, resamples=99)
    assert interval(spearman, a, resamples=99, batch=batch) == interval(spearman, a, resamples=99)


def test_the_seed_decides() -> None:
    scores = sts()
    first, again, other = (interval(spearman, scores, resamples=99, seed=seed) for seed in (1, 1, 2))
    assert first == again != other


def test_a_permutation_agrees_with_the_exact_one():
    a, b = rng(3).random((10, 1)), rng(4).random((10, 1)) + 0.15
    signs = np.array(list(itertools.product([1, -1], repeat=10)))
    means = (signs * (a - b)[:, 0]).mean(axis=1)
    exact = 2 * min((means <= (a - b).mean()).mean(), (means >= (a - b).mean()).mean())
    assert paired_permutation_test(a, b, resamples=20_000) == pytest.approx(exact, abs=0.02)
    assert paired_permutation_test(a, a) == 1.0
    assert paired_permutation_test(a, b, seed=1) == paired_permutation_test(a, b, seed=1)


def test_a_permutation_pairs_items() -> None:
    """A small gain on every item is seen, however much harder one item is than another."""
    hard = np.linspace(0, 10, 30)[:, None]
    assert paired_permutation_test(hard + 0.1, hard) < 0.01 < 0.5 < paired_permutation_test(hard + 0.1, hard[::-1])


def test_correlated_systems_by_williams():
    gold, noise, bad = rng(4).random((3, 200))
    good = gold + 0.1 * noise
    good, bad, double = (np.stack([gold, system], axis=1) for system in (good, bad, 2 * good))
    assert williams_p(good, bad) < 1e-6
    assert williams_p(good, double) == 1.0


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


def test_a_wrong_answer_takes_from_the_sentence_that_it_names() -> None:
    # Sentence 0 is found by itself and named by 1 and 2: F1 = 2 / (1 + 3) = 1/2, and 2/3 without either. 3 is alone.
    items = np.array([[0, 0], [1, 0], [2, 0], [3, 3]], float)
    taken = 2 / 3 - 1 / 2
    plain = np.array([1 / 2, -taken, -taken, 1])
    np.testing.assert_allclose(f1_of_items(items), plain + 2 * taken / 4, rtol=1e-12)


def test_no_interval_of_f1_is_above_one() -> None:
    answers = np.arange(100)
    answers[:2] = 7, 8  # two wrong, whose cost is added back to all
    table = pd.DataFrame({"id": answers, "place": np.arange(100), "forward_1": answers}).astype(str)
    items = WEIGHTED_F1.read(table, ["place", "forward_1"])
    assert items.max() > 1 and WEIGHTED_F1.statistic(items) == pytest.approx(items.mean())
    drawn = replicates(WEIGHTED_F1.statistic, {"": items[None]}, resamples=500, seed=1)[""]
    low, high = WEIGHTED_F1.interval(drawn, 0.95)
    assert drawn.max() > 1 and 0.9 < low < high == 1


@pytest.mark.parametrize("noise", [0.7, 1.0])
def test_intervals_of_f1_hold_the_value_as_often_as_they_say(noise: float) -> None:
    """Pairs of noisy copies of one vector, found by their nearest; the value is the mean over all draws."""
    means, errors = [], []
    for seed in range(400):
        meaning, *sides = rng(seed).standard_normal((3, 100, 20))
        source, target = (meaning + noise * side for side in sides)
        distances = (target**2).sum(axis=1) - 2 * source @ target.T
        items = f1_of_items(np.stack([np.arange(100), distances.argmin(axis=1)], axis=1).astype(float))
        means.append(items.mean())
        errors.append(items.std() / 10)
    # The spread of the value over draws is what one draw says of it, to 6 %: with the own F1 alone it is 8 to 19 % less.
    assert np.mean(errors) / np.std(means) == pytest.approx(1, abs=0.06)
    assert np.mean(np.abs(np.array(means) - np.mean(means)) < 1.96 * np.array(errors)) > 0.92


def test_an_average_of_f1_over_many_languages_lies_in_its_interval() -> None:
    """As MINERS has it: each sentence is a class, and a wrong one costs the precision of the sentence it names."""
    values, draws = [], []
    for seed in range(30):
        gold = np.arange(100)
        predicted = np.where(rng(seed).random(100) < 0.5, gold, rng(seed + 100).integers(0, 100, 100))
        items = f1_of_items(np.stack([gold, predicted], axis=1).astype(float))
        values.append(items.mean())
        draws.append(replicates(mean, {"": items[None, :, None]}, resamples=200, seed=seed)[""])
    low, high = np.percentile(np.mean(draws, axis=0), [2.5, 97.5])
    assert low < np.mean(values) < high

"""Lipschitz ratios and the bound of paper 002 against brute force, and the protocols made of them."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from rapidfuzz.distance import Levenshtein

from seedbed.corpora.shape.clean import characters
from seedbed.evaluation import protocols
from seedbed.evaluation.metrics.stability import apply_edits, deviation_bound, lipschitz, ratios
from seedbed.evaluation.protocols import stability
from seedbed.evaluation.scores import System
from seedbed.evaluation.scoring import score, texts
from seedbed.evaluation.settings import Task
from seedbed.io import UserError

RNG = np.random.default_rng(0)


def test_lipschitz_is_the_greatest_ratio_of_two_loops() -> None:
    h, moved, distances = RNG.normal(size=(5, 3)), RNG.normal(size=(5, 4, 3)), RNG.integers(0, 4, (5, 4))
    distances[1], distances[2] = 0, 3
    expected = []
    for i in range(5):
        own = [math.dist(h[i], moved[i, j]) / distances[i, j] for j in range(4) if distances[i, j]]
        expected.append(max(own, default=math.nan))
    found = lipschitz(ratios(h, moved, distances))
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert math.isnan(expected[1])
    order = [3, 0, 2, 1]
    np.testing.assert_array_equal(lipschitz(ratios(h, moved[:, order], distances[:, order])), found)
    np.testing.assert_array_equal(lipschitz(ratios(h[2:], moved[2:], distances[2:])), found[2:])
    assert np.isnan(lipschitz(ratios(h, moved[:, :0], distances[:, :0]))).all()


def levenshtein(one: str, other: str) -> int:
    """Wagner and Fischer's table."""
    above = list(range(len(other) + 1))
    for i, x in enumerate(one, start=1):
        row = [i]
        for j, y in enumerate(other, start=1):
            row.append(min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (x != y)))
        above = row
    return above[-1]


@pytest.mark.parametrize("edits", [1, 3, 10])
def test_an_edited_text_is_no_farther_than_its_edits_and_of_its_own_characters(edits: int) -> None:
    text = "Ruwan sama ya sauka."
    copies = [apply_edits(text, edits, np.random.default_rng(seed)) for seed in range(60)]
    assert all(levenshtein(text, copy) <= edits and {*copy} <= {*text} for copy in copies)
    assert len({*copies}) > 30 and {len(copy) - len(text) for copy in copies} >= {-1, 0, 1}
    assert copies[0] == apply_edits(text, edits, np.random.default_rng(0))
    for short in ("a", "aa", "ab"):
        assert all(apply_edits(short, edits, np.random.default_rng(seed)) for seed in range(30))


def test_an_edit_takes_a_letter_with_its_marks() -> None:
    text = "ที่ดีมีครูที่รัก"
    inside = {"ที่", "ดี", "มี", "ค", "รู", "รั", "ก"}
    copies = [apply_edits(text, 1, np.random.default_rng(seed)) for seed in range(40)]
    assert all({*characters(copy)} <= inside for copy in copies)
    assert {Levenshtein.distance(characters(text), characters(copy)) for copy in copies} <= {0, 1}
    rows = pd.DataFrame({"id": [*"abcd"], "text": ["ที่นี่สี่ชี้" * n for n in (1, 2, 3, 4)]})
    found = score(
        Task(protocol="stability"), rows, System(lambda given: np.array([[len(t)] for t in given], np.float32))
    )
    assert {*found.items.filter(regex="ratio_1_").to_numpy().ravel()} == {0, 3}, "a letter with two marks is one edit"


def test_the_printed_theorem_is_false_and_the_proved_bound_holds() -> None:
    """Two meanings s = +1 and -1 with feature phi(s) = s, so C = 1; y* has +1 with 0.7, y with 0.3, and g(x) = h(y)."""
    p, q = np.array([0.7, 0.3]), np.array([0.3, 0.7])  # of the perfect translation, and of ours
    meanings = np.array([1.0, -1.0])
    perfect, ours = p @ meanings, q @ meanings
    divergence = float((p * np.log(p / q)).sum())
    deviation = math.dist([ours, ours], [perfect, perfect])
    assert deviation == pytest.approx(0.8 * math.sqrt(2)) and divergence == pytest.approx(0.3389, abs=1e-4)
    printed, proved = (deviation_bound(0, divergence, 1, form=form) for form in ("printed", "proved"))
    assert printed < deviation < proved
    assert (printed, proved) == pytest.approx((0.823, 1.647), abs=1e-3)


def test_the_proved_bound_holds_for_any_distributions_and_features() -> None:
    for _ in range(300):
        p, q = RNG.dirichlet(np.ones(4) * 0.7, 2)
        features = RNG.normal(size=(4, 3))
        kernel = np.linalg.norm(features, axis=1).max()
        perfect, ours = p @ features, q @ features
        anchor = ours + RNG.normal(size=3) * 0.2
        divergence = float((p * np.log(p / q)).sum())
        deviation = math.dist([*anchor, *ours], [*perfect, *perfect])
        assert deviation <= deviation_bound(math.dist(anchor, ours), divergence, kernel)
    assert deviation_bound(0.5, 0.0, 0.7) == deviation_bound(0.5, 0.0, 0.7, form="printed") == 0.5
    assert deviation_bound(0, 1, 0.6867) == pytest.approx(1.9423, abs=1e-4), "equation 19 has the factor of 2"


def encode(given: list[str]) -> np.ndarray:
    """Each text's sum of code points, its length and its first: small edits move it."""
    return np.array([[sum(map(ord, text)) / 100, len(text), ord(text[0])] for text in given], np.float32)


TEST = pd.DataFrame({"id": [f"r{n}" for n in range(12)], "text": [f"yara suna wasa a fili {n}" for n in range(12)]})


def test_norms_are_numpys() -> None:
    found = score(Task(protocol="norms"), TEST, System(encode))
    lengths = np.linalg.norm(encode(TEST["text"].tolist()).astype(float), axis=1)
    np.testing.assert_allclose(found.items["norm"], lengths, rtol=1e-12)
    assert found.main == found.metrics["max"] == lengths.max() and not found.notes
    assert found.metrics["std"] == lengths.std() and found.metrics["p90"] == np.quantile(lengths, 0.9)
    unit = score(
        Task(protocol="norms"), TEST, System(lambda given: np.eye(3, dtype=np.float32)[[len(t) % 3 for t in given]])
    )
    assert unit.notes == ["all vectors have one length: the encoder normalises them"]


def test_stability_is_of_all_ratios_and_of_the_greatest_of_each_text() -> None:
    found = score(Task(protocol="stability"), TEST, System(encode))
    every: dict[int, list[list[float]]] = {edits: [] for edits in stability.EDITS}
    for text in TEST["text"]:
        copies = iter(stability._copies(text))
        for columns in every.values():
            own = [next(copies) for _ in range(stability.PERTURBED)]
            moved = [np.linalg.norm(encode([text])[0].astype(float) - encode([copy])[0]) for copy in own]
            columns.append([far / levenshtein(text, copy) for far, copy in zip(moved, own, strict=True)])
    for edits, columns in every.items():
        all_of_them, greatest = [ratio for own in columns for ratio in own], [max(own) for own in columns]
        assert len(all_of_them) == len(TEST) * stability.PERTURBED
        for name, values in (("", all_of_them), ("greatest_", greatest)):
            expected = {"mean": np.mean(values), "median": np.median(values), "p95": np.quantile(values, 0.95)}
            for statistic, value in (expected | {"std": np.std(values), "max": max(values)}).items():
                assert found.metrics[f"{statistic}_{name}{edits}"] == pytest.approx(value, rel=1e-9)
    assert found.main == found.metrics["p95_1"]
    assert {*found.metrics} == {metric.key for metric in stability.METRICS.values()} and not found.notes
    for name, metric in stability.METRICS.items():
        assert metric.lower, f"{name}: who moves least is the best"
        if metric.items:
            cells = metric.by.read(found.items, list(metric.items))[None]
            assert float(metric.by.statistic(cells)[0]) == pytest.approx(found.metrics[metric.key]), name


def test_a_copy_is_never_its_text() -> None:
    """Edits may undo one another, in short texts above all."""
    for text in ("a", "ab", "aa", "abc"):
        assert text not in stability._copies(text) and len(stability._copies(text)) == 24


def test_neither_order_nor_other_texts_change_a_texts_ratios() -> None:
    whole = score(Task(protocol="stability"), TEST, System(encode)).items.set_index("id")
    part = score(Task(protocol="stability"), TEST[::-3], System(encode)).items.set_index("id")
    pd.testing.assert_frame_equal(part, whole.loc[part.index])


def test_empty_texts_are_left_out() -> None:
    blank = TEST.assign(text=["", *TEST["text"][1:]])
    assert score(Task(protocol="stability"), blank, System(encode)).items["id"].tolist() == TEST["id"][1:].tolist()
    assert "" not in texts(Task(protocol="stability"), blank)
    with pytest.raises(UserError, match="^stability: every text is empty"):
        score(Task(protocol="stability"), TEST.assign(text=""), System(encode))


def test_tables_have_an_interval_of_all_but_the_greatest() -> None:
    items = RNG.gamma(2.0, size=(3, 200, 1))
    for protocol, name in (("norms", "p95"), ("stability", "p95 at 3")):
        found = protocols.metric(protocol, name)
        np.testing.assert_allclose(found.by.statistic(items), np.quantile(items[..., 0], 0.95, axis=1))
        assert found.items and found.key == name.replace(" at ", "_")
        assert protocols.metric(protocol, name.replace("p95", "max")).items == ()
    ours, wider = items, 2 * items - items.mean()
    assert protocols.metric("norms", "mean").by.p_value(ours, wider, 500, 0) > 0.5
    assert protocols.metric("norms", "p95").by.p_value(ours, wider, 500, 0) < 0.01


def test_quantiles_of_several_numbers_of_a_text_are_tested_as_they_are() -> None:
    """The same mean of each text, and other quantiles of all numbers."""
    middle, apart = RNG.normal(5, size=(200, 1)), RNG.gamma(2.0, size=(200, 1))
    near, far = (np.hstack([middle - width * apart, middle + width * apart])[None] for width in (0.1, 1))
    p95 = protocols.metric("stability", "p95 at 3").by.p_value
    assert p95(near, far, 500, 0) < 0.01 and p95(near, near, 500, 0) == 1
    assert protocols.metric("stability", "mean at 3").by.p_value(near, far, 500, 0) > 0.5

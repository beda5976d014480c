"""Tests of two languages: sets joined by id, two orders apart and averaged, an encoder for each side."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from seedbed.evaluation.aggregation import MEAN, SPEARMAN
from seedbed.evaluation.orders import concatenate_orders, join_languages, split_orders
from seedbed.evaluation.scores import System
from seedbed.evaluation.scoring import check, score
from seedbed.evaluation.settings import Task
from seedbed.evaluation.significance import replicates
from seedbed.io import UserError
from tests.unit.evaluation.test_protocols import encode, graded

STS = Task(protocol="sts")


def other(texts: list[str]) -> np.ndarray:
    """Another encoder of the same width."""
    return encode([f"{text}!" for text in texts]) + 0.3


def sets() -> list[pd.DataFrame]:
    """One test set in two languages: rows in another order, one missing from either, gold written in two ways."""
    one = graded(24).drop(columns=["passage", "question", "answers", "correct"])
    texts = {name: "x" + one[name] for name in ("sentence1", "sentence2")}
    two = one.assign(**texts, score=[f"{float(value) + 4e-7:.12f}" for value in one["score"]])[::-1]
    return [one.iloc[1:], two.iloc[1:].reset_index(drop=True)]


def cosines(rows: pd.DataFrame, first, second) -> np.ndarray:
    """Row by row, in float64."""
    found = []
    for row in rows.to_dict("records"):
        a, b = first([row["sentence1"]])[0].astype(np.float64), second([row["sentence2"]])[0].astype(np.float64)
        found.append(a @ b / np.sqrt((a @ a) * (b @ b)))
    return np.array(found)


def test_a_pair_has_the_rows_of_both_in_either_order() -> None:
    one, two = sets()
    found = join_languages(STS, "aze-kaz", [one, two])
    common = [name for name in one["id"] if name in set(two["id"])]
    assert found["order"].tolist() == ["aze-kaz"] * 22 + ["kaz-aze"] * 22 and found["id"].tolist() == common * 2
    by_id = {name: table.set_index("id") for name, table in (("aze", one), ("kaz", two))}
    for row in found.to_dict("records"):
        first, last = (by_id[code] for code in row["order"].split("-"))
        assert row["sentence1"] == first.loc[row["id"], "sentence1"]
        assert row["sentence2"] == last.loc[row["id"], "sentence2"]
        assert row["score"] == first.loc[row["id"], "score"]


def test_an_orders_rows_are_those_of_the_test_counted_from_0() -> None:
    test = join_languages(STS, "aze-kaz", sets())
    found = split_orders(test)
    assert list(found) == ["aze-kaz", "kaz-aze"]
    for order, rows in found.items():
        expected = test[test["order"] == order].drop(columns="order").reset_index(drop=True)
        pd.testing.assert_frame_equal(rows, expected)


def test_orders_stand_as_the_test_has_them() -> None:
    """A score file lists them, and a test of one's own may begin with either."""
    test = join_languages(STS, "aze-kaz", sets())
    assert list(split_orders(test[::-1])) == ["kaz-aze", "aze-kaz"]


def test_the_score_is_the_mean_of_the_orders_and_not_of_all_rows() -> None:
    test = join_languages(STS, "aze-kaz", sets())
    found = score(STS, test, System(encode, second=other))
    rho, every = [], []
    for order, sides in (("aze-kaz", (encode, other)), ("kaz-aze", (other, encode))):
        rows = test[test["order"] == order]
        every.append(cosines(rows, *sides))
        rho.append(spearmanr(rows["score"].astype(float), every[-1]).statistic)
    assert found.main == found.metrics["cosine_spearman"] == pytest.approx(np.mean(rho), abs=1e-12)
    pooled = spearmanr(test["score"].astype(float), np.concatenate(every)).statistic
    assert abs(rho[0] - rho[1]) > 1e-3 and abs(pooled - found.main) > 1e-3
    assert found.items["order"].tolist() == test["order"].tolist()
    np.testing.assert_allclose(found.items["cosine"], np.concatenate(every), atol=1e-6)
    check(STS, test)


def test_one_order_stays_alone_and_swapped_names_are_the_same_pair() -> None:
    one, two = sets()
    both = join_languages(STS, "aze-kaz", [one, two])
    alone = both[both["order"] == "kaz-aze"].reset_index(drop=True)
    found = score(STS, alone, System(encode, second=other))
    assert found.main == pytest.approx(spearmanr(alone["score"].astype(float), cosines(alone, other, encode)).statistic)
    plain = alone.drop(columns="order")
    turned = score(STS, plain, System(other, second=encode))
    assert turned.main == found.main and "order" not in turned.items, "without a name the first goes first"
    again = score(STS, join_languages(STS, "aze-kaz", [two, one]), System(encode, second=other))
    renamed = join_languages(STS, "aze-kaz", [one, two]).assign(
        order=lambda t: t["order"].map(lambda o: "-".join(o.split("-")[::-1]))
    )
    assert again.main == pytest.approx(score(STS, renamed, System(encode, second=other)).main, abs=1e-6)


def test_each_encoder_reads_each_text_once_and_what_both_have_is_read_by_both() -> None:
    one, two = sets()
    two.loc[:, "sentence1"] = one.set_index("id").reindex(two["id"])["sentence1"].fillna("OK").tolist()
    test = join_languages(STS, "aze-kaz", [one, two])
    asked: dict[str, list[str]] = {"one": [], "two": []}
    score(
        STS,
        test,
        System(
            lambda texts: asked["one"].extend(texts) or encode(texts),
            second=lambda texts: asked["two"].extend(texts) or other(texts),
        ),
    )
    assert all(len(texts) == len({*texts}) for texts in asked.values())
    first, last = test[test["order"] == "aze-kaz"], test[test["order"] == "kaz-aze"]
    assert {*asked["one"]} == {*first["sentence1"], *last["sentence2"]}
    assert {*asked["two"]} == {*first["sentence2"], *last["sentence1"]}
    assert {*asked["one"]} & {*asked["two"]} >= {*first["sentence1"]} & {*last["sentence1"]} != set()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda two: two.assign(id="b" + two["id"]), r"aze-kaz: no row of one language.*'1'"),
        (
            lambda two: two.assign(score=two["score"].where(two["id"] != "5", "0.9")),
            r"aze-kaz: id '5'.*'0.2.*'.*'0.9'",
        ),
    ],
)
def test_what_is_no_pair_is_one_line(change, told: str) -> None:
    one, two = sets()
    with pytest.raises(UserError, match=told):
        join_languages(STS, "aze-kaz", [one, change(two)])


@pytest.mark.parametrize("side", [0, 1])
def test_an_id_that_stands_twice_joins_nothing(side: int) -> None:
    given = sets()
    given[side] = pd.concat([given[side], given[side].iloc[[3, 3]]], ignore_index=True)
    with pytest.raises(UserError, match=rf"^aze-kaz: id '{given[side]['id'][3]}' appears twice"):
        join_languages(STS, "aze-kaz", given)


@pytest.mark.parametrize("names", [("one", "two"), ("aze-kaz", "kaz-uzn"), ("aze-kaz", "aze"), ("1", "2")])
def test_orders_that_are_of_no_pair_are_refused(names: tuple[str, str]) -> None:
    test = join_languages(STS, "aze-kaz", sets())
    test["order"] = test["order"].map(dict(zip(("aze-kaz", "kaz-aze"), names, strict=True)))
    for call in (lambda: score(STS, test, System(encode, second=other)), lambda: check(STS, test)):
        with pytest.raises(UserError, match="^order: .* is no order of .*; expected"):
            call()
    known = join_languages(STS, "aze-kaz", sets())
    assert score(STS, known, System(encode, second=other), language="aze-kaz").main
    with pytest.raises(UserError, match=r"^order: 'aze-kaz'.*expected eng-hau or hau-eng"):
        score(STS, known, System(encode, second=other), language="eng-hau")


def test_numbers_of_answers_must_agree_and_answers_stay_with_their_question() -> None:
    one = pd.DataFrame({"id": ["1"], "passage": "p", "question": "q", "answers": '["a", "b"]', "correct": "2"})
    two = pd.DataFrame({"id": ["1"], "passage": "P", "question": "Q", "answers": '["A", "B"]', "correct": "2"})
    choice = Task(protocol="choice")
    rows = join_languages(choice, "aze-kaz", [one, two])[["passage", "question", "answers"]].to_numpy().tolist()
    assert rows == [["P", "q", '["a", "b"]'], ["p", "Q", '["A", "B"]']]
    with pytest.raises(UserError, match=r"id '1'.*'2'.*'1'"):
        join_languages(choice, "aze-kaz", [one, two.assign(correct="1")])


def test_a_protocol_of_one_language_refuses_a_second() -> None:
    with pytest.raises(UserError, match="geometry has no tests of two languages"):
        score(Task(protocol="geometry"), graded(), System(encode, second=other))


@pytest.mark.parametrize("uneven", [False, True])
def test_an_interval_draws_items_with_both_their_orders(uneven: bool) -> None:
    """Of each resample the mean of both orders' correlations; an order with fewer rows has those that were drawn."""
    rng = np.random.default_rng(3)
    gold = rng.random(30)
    tables = [
        pd.DataFrame({"id": [str(i) for i in range(30)], "gold": gold, "cosine": gold + rng.normal(size=30)})
        for _ in range(2)
    ]
    if uneven:
        tables[1] = tables[1].iloc[5:25]
    items = concatenate_orders({"aze-kaz": tables[0], "kaz-aze": tables[1]})
    by = SPEARMAN.for_orders(items)
    found = by.read(items, ["gold", "cosine"])
    assert found.shape == (30, 4) and np.isnan(found).any() == uneven
    rho = [spearmanr(table["gold"], table["cosine"]).statistic for table in tables]
    assert by.statistic(found) == pytest.approx(np.mean(rho))
    (values,) = replicates(by.statistic, {"": found[None]}, resamples=40, seed=1).values()
    rng = np.random.default_rng(1)
    for value, drawn in zip(values, rng.integers(30, size=(40, 30)), strict=True):
        rows = [[place for place in drawn if str(place) in set(table["id"])] for table in tables]
        each = [
            table.set_index("id").loc[[str(place) for place in own]] for table, own in zip(tables, rows, strict=True)
        ]
        assert value == pytest.approx(np.mean([spearmanr(one["gold"], one["cosine"]).statistic for one in each]))
    assert MEAN.for_orders(tables[0]) is MEAN


def test_an_order_of_which_a_resample_has_nothing_does_not_count() -> None:
    whole = pd.DataFrame({"id": [*map(str, range(10))], "hit": [1.0, 0.0] * 5})
    items = concatenate_orders({"aze-kaz": whole, "kaz-aze": whole.iloc[:1]})
    by = MEAN.for_orders(items)
    found = by.read(items, ["hit"])
    assert by.statistic(found) == pytest.approx((0.5 + 1) / 2)
    assert by.statistic(found[1:]) == pytest.approx(4 / 9)


def test_a_mean_of_orders_is_of_orders_whatever_their_sizes() -> None:
    items = concatenate_orders({
        "a-b": pd.DataFrame({"id": list("pqr"), "correct": [1.0, 1.0, 0.0]}),
        "b-a": pd.DataFrame({"id": list("p"), "correct": [0.0]}),
    })  # fmt: skip
    by = MEAN.for_orders(items)
    assert by.statistic(by.read(items, ["correct"])) == pytest.approx((2 / 3 + 0) / 2)


@pytest.mark.parametrize(
    ("pairs", "told"),
    [
        (["aze-aze"], "aze-aze: one language twice"),
        (["aze-kaz", "kaz-aze"], "one pair in both orders"),
        (["aze"], r"'aze'.*ISO 639-3.*aze-kaz"),
        ("every", "expected `all`, pairs like"),
        ({"aze-kaz": {"file": ""}}, "pairs.aze-kaz: file: nothing is there"),
        ({"aze-kaz": {"hubb": "x"}}, r"pairs.aze-kaz.hubb:.*'hub'"),
    ],
)
def test_pairs_that_are_none_are_refused(pairs, told: str) -> None:
    with pytest.raises(UserError, match=told):
        Task.load(json.dumps({"protocol": "sts", "source": {"file": "x"}, "pairs": pairs}))


def test_orders_that_are_another_tasks_have_no_sources() -> None:
    task = {"protocol": "sts", "set_of": "other", "pairs": {"aze-kaz": {"file": "x"}}}
    with pytest.raises(UserError, match=r"pairs.aze-kaz: .*`set_of`.*other task"):
        Task.load(json.dumps(task))


def test_a_protocol_without_two_languages_reads_no_pairs() -> None:
    with pytest.raises(UserError, match=r"pairs: protocol bitext.*read"):
        Task.load('{"protocol": "bitext", "pairs": "all"}')

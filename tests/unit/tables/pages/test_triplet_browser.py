"""Anchors that most methods kept come first, each with all of its rows; a rejected row of each reason."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedbed.io import write_table
from seedbed.tables.pages.triplet_browser import browse, rejections, side_by_side, spread


def kept(ids, method):
    return pd.DataFrame([(i, f"anchor {i}", f"{method} yes {i}", f"{method} no {i}") for i in ids],
                        columns=["id", "anchor", "positive", "negative"])  # fmt: skip


def rejected(reasons):
    rows = [(str(n), f"a{n}", f"p{n}", f"n{n}", reason) for n, reason in enumerate(reasons)]
    return pd.DataFrame(rows, columns=["id", "anchor", "positive", "negative", "reason"])


def test_the_methods_of_an_anchor_stand_together_and_shared_anchors_come_first():
    tables = {"prompting": kept("abcd", "p"), "composition": kept("bdx", "c"), "xllora": kept("dy", "x")}
    shown = side_by_side(tables, 3)
    assert [item["anchor"] for item in shown] == ["anchor d", "anchor b", "anchor a"]
    assert [row["method"] for row in shown[0]["rows"]] == ["prompting", "composition", "xllora"]
    assert shown[1]["rows"][1] == {"method": "composition", "positive": "c yes b", "negative": "c no b"}


def test_one_method_alone_is_shown_from_first_to_last():
    assert [item["anchor"] for item in side_by_side({"p": kept("abcde", "p")}, 3)] == [
        "anchor a",
        "anchor c",
        "anchor e",
    ]
    assert side_by_side({}, 3) == [] and side_by_side({"p": kept("a", "p")}, 0) == []


def test_one_row_of_each_reason_the_commonest_first(tmp_path):
    path = tmp_path / "hau.rejected.tsv"
    write_table(rejected(["positive: b", "negative: a", "negative: a", "positive: c", "negative: a"]), path)
    rows = rejections(path, 2)
    assert [(row["reason"], row["count"], row["side"], row["anchor"]) for row in rows] == [
        ("negative: a", 3, "negative", "a2"), ("positive: b", 1, "positive", "a0"),
    ]  # fmt: skip


def test_nothing_rejected_is_no_fault(tmp_path):
    write_table(rejected([]), tmp_path / "hau.rejected.tsv")
    assert rejections(tmp_path / "hau.rejected.tsv", 5) == []


def test_a_method_of_which_every_row_was_rejected_has_its_reasons_alone(tmp_path):
    write_table(kept("", "p"), tmp_path / "g/p/hau.tsv")
    write_table(kept("ab", "q"), tmp_path / "g/q/hau.tsv")
    write_table(kept("", "p"), tmp_path / "g/p/ind.tsv")
    write_table(rejected(["positive: b"]), tmp_path / "g/p/hau.rejected.tsv")
    found = browse(sorted(tmp_path.glob("g/*/???.tsv")), [tmp_path / "g/p/hau.rejected.tsv"], 5, 5)
    assert [row["method"] for one in found["hau"]["anchors"] for row in one["rows"]] == ["q", "q"]
    assert [row["method"] for row in found["hau"]["rejected"]] == ["p"] and found["ind"]["anchors"] == []


@pytest.mark.parametrize(("generators", "names"), [(["g"], ["p"]), (["g", "h"], ["g p", "h p"])])
def test_the_generator_is_named_where_there_are_several(tmp_path, generators, names):
    for generator in generators:
        write_table(kept("ab", "p"), tmp_path / generator / "p" / "hau.tsv")
        write_table(rejected(["positive: b"]), tmp_path / generator / "p" / "ind.rejected.tsv")
    found = browse(sorted(tmp_path.glob("*/*/hau.tsv")), sorted(tmp_path.glob("*/*/ind.rejected.tsv")), 1, 1)
    assert list(found) == ["hau", "ind"]
    assert [row["method"] for row in found["hau"]["anchors"][0]["rows"]] == names
    assert found["hau"]["rejected"] == [] and found["ind"]["anchors"] == []
    assert [row["method"] for row in found["ind"]["rejected"]] == names


@given(st.lists(st.integers(), unique=True), st.integers(0, 20))
def test_a_spread_keeps_order_and_ends(items, count):
    found = spread(items, count)
    assert len(found) == min(len(items), count)
    assert [item for item in items if item in found] == found
    assert count < 2 or not items or (found[0], found[-1]) == (items[0], items[-1])

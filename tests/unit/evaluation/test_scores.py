"""Scores that have no value are told before anything is written; a score file and its items come together."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from seedbed.evaluation import classification, files
from seedbed.evaluation.files import origin_in, read_set, write
from seedbed.evaluation.protocols import sts
from seedbed.evaluation.scores import Scores, System
from seedbed.evaluation.scoring import score
from seedbed.evaluation.settings import Task
from seedbed.io import UserError, read_table, write_table
from tests.unit.evaluation.test_protocols import encode, graded

STS = Task(protocol="sts")


@pytest.mark.parametrize(
    ("test", "message"),
    [
        (graded()[:1], r"sts: a single pair.*two pairs"),
        (graded().assign(score="0.5"), r"sts: 30 pairs.*score 0.5"),
    ],
)
def test_a_test_set_without_a_correlation_is_told(test: pd.DataFrame, message: str) -> None:
    with pytest.raises(UserError, match=message):
        score(STS, test, System(encode))


@pytest.mark.parametrize(("value", "message"), [(1, "pairs the cosine 1, so nothing"), (0, "zero vector")])
def test_an_encoder_that_collapsed_is_told(value: float, message: str) -> None:
    with pytest.raises(UserError, match=f"sts: the encoder .*{message}.*; its training collapsed"):
        score(STS, graded(), System(lambda texts: np.full((len(texts), 4), value, np.float32)))


def test_one_class_alone_has_its_scores() -> None:
    test = pd.DataFrame({"id": list("abc"), "text": list("xyz"), "label": "joy"})
    train = pd.DataFrame({"id": list("abcd"), "text": list("xyzw"), "label": ["joy", "joy", "joy", "fear"]})
    for found in (
        classification.of_labels(test, ["joy"] * 3),
        score(Task(protocol="knn"), test, System(encode), train=train),
    ):
        assert found.main == 1 and {*found.metrics.values()} == {1.0}


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("where", ["main", "metric"])
def test_a_score_without_a_value_leaves_nothing(tmp_path: Path, value: float, where: str) -> None:
    found = Scores(value if where == "main" else 0.5, {"rho": value}, pd.DataFrame({"id": ["1"], "x": [1]}))
    with pytest.raises(UserError, match=f"score: (main_score|rho) is {value} over 1 items"):
        write(found, {}, tmp_path / "task" / "hau.json")
    assert not list(tmp_path.iterdir())


def test_a_score_file_that_cannot_be_written_leaves_no_items(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(value: object, path: Path) -> None:
        path.write_text("{")
        raise OSError(28, "No space left on device")

    path = tmp_path / "hau.json"
    old = Scores(0.5, {}, pd.DataFrame({"id": ["1"], "x": [1]}))
    write(old, {}, path)
    monkeypatch.setattr(files, "write_json", full)
    with pytest.raises(OSError, match="No space"):
        write(Scores(0.7, {}, pd.DataFrame({"id": ["2"], "x": [2]})), {}, path)
    assert sorted(tmp_path.iterdir()) == [tmp_path / "hau.items.tsv", path]
    assert json.loads(path.read_text())["main_score"] == 0.5
    assert list(read_table(tmp_path / "hau.items.tsv", ["id"])["id"]) == ["1"]


def test_a_score_file_and_its_items_keep_their_bytes(tmp_path: Path) -> None:
    found = score(STS, graded(), System(encode))
    files = write(found, {"protocol": "sts"}, tmp_path / "own" / "hau.json")
    write_table(found.items, tmp_path / "items.tsv")
    assert (tmp_path / "own/hau.items.tsv").read_bytes() == (tmp_path / "items.tsv").read_bytes()
    assert files == [tmp_path / "own/hau.json", tmp_path / "own/hau.items.tsv"]
    assert {metric.key for metric in sts.METRICS.values()} <= {*found.metrics}


@pytest.mark.parametrize(
    ("protocol", "cells", "message"),
    [
        ("sts", {"sentence1": "a", "sentence2": "b", "score": "0,5"}, r"'1'.*'0,5'; expected a number"),
        ("sts", {"sentence1": "a", "sentence2": "b", "score": "nan"}, r"'1'.*'nan'; expected a number"),
        ("sts", {"sentence1": "a", "sentence2": "b", "score": "inf"}, r"'1'.*'inf'; expected a number"),
        (
            "sts",
            {"sentence1": "a", "sentence2": "b", "score": "2"},
            r"id '1'.*'2'; expected.*0 to 1",
        ),
        ("knn", {"text": "a", "label": " "}, "id '1' has no label"),
    ],
)
def test_a_set_is_checked_where_it_is_read(tmp_path: Path, protocol: str, cells: dict, message: str) -> None:
    write_table(pd.DataFrame([{"id": "1"} | cells]), tmp_path / "set.tsv")
    with pytest.raises(UserError, match=message):
        read_set(Task(protocol=protocol), tmp_path / "set.tsv")


@pytest.mark.parametrize(
    "content", ["[]", "{}", '{"origin": "file x"}', '{"origin": [{"kind": "elsewhere", "name": "x"}]}']
)
def test_a_record_that_is_none_says_how_it_is_made_again(tmp_path: Path, content: str) -> None:
    (tmp_path / "record.json").write_text(content)
    with pytest.raises(UserError, match=r"fetch_corpus; delete it.*Snakemake"):
        origin_in(tmp_path / "record.json")


def test_more_neighbours_than_pairs_is_told() -> None:
    """As many would have every translation among the nearest, whatever the encoder."""
    pairs = pd.DataFrame({"id": list("12345"), "text": list("abcde"), "pivot": list("fghij")})
    for k, count, remedy in (([1, 5], 2, "set `k"), ([1, 5], 5, "set `k"), ([1], 1, "give more, or leave")):
        with pytest.raises(
            UserError, match=rf"bitext: k is {k[-1]}, and more pairs are needed than the {count}; {remedy}"
        ):
            score(Task(protocol="bitext", k=k), pairs[:count], System(encode))


def test_items_of_bitext_are_those_of_its_accuracy_at_the_first_k() -> None:
    pairs = pd.DataFrame({"id": list("1234"), "text": list("abcd"), "pivot": list("efgh")})
    for k in ([1, 2], [2, 3]):
        found = score(Task(protocol="bitext", k=k), pairs, System(encode))
        assert found.items[["forward", "backward"]].to_numpy().mean() == found.metrics["accuracy"]
        assert found.metrics["accuracy"] < 1


def test_of_two_equal_translations_the_first_is_found() -> None:
    """As in MINERS' code, where an index is right, not a text; the record of the set says how many repeat."""
    pairs = pd.DataFrame({"id": ["1", "2"], "text": ["a", "a"], "pivot": ["b", "b"]})
    found = score(Task(protocol="bitext"), pairs, System(encode))
    assert found.items["forward"].tolist() == [1, 0] and found.main == 0.5

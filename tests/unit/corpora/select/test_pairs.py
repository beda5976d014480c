"""Labelled pairs, as words or XNLI's integers; what is neither stops at once."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from seedbed.corpora.read.assets import Store
from seedbed.corpora.settings import Cleaning, Source
from seedbed.corpora.shape.labels import read_pairs
from seedbed.io import UserError
from tests.whole import fetch

ROWS = {
    "premise": ["The rain came down."] * 3,
    "hypothesis": ["It rained all night.", "It was very dry.", "People went home."],
    "label": ["0", "contradiction", "1"],
}


def written(path: Path, **changes: list[str]) -> Path:
    pd.DataFrame({"id": range(3), **ROWS, **changes}).to_csv(path, sep="\t", index=False)
    return path


def fetched(path: Path, **source: object) -> pd.DataFrame:
    store = Store(path.parent / "downloads", path.parent / "lock.json")
    return fetch(Source(file=str(path), **source), "labelled_pairs", store, Cleaning())[0]


def test_labels_become_words_and_a_premise_keeps_all_its_hypotheses(tmp_path: Path) -> None:
    table = fetched(written(tmp_path / "pairs.tsv"))
    assert list(table.columns) == ["id", "premise", "hypothesis", "label"]
    assert list(table["label"]) == ["entailment", "contradiction", "neutral"]
    assert set(table["premise"]) == set(ROWS["premise"])


def test_other_columns_can_be_mapped(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    pd.DataFrame({"a": ROWS["premise"], "b": ROWS["hypothesis"], "gold": ROWS["label"]}).to_csv(path, sep="\t")
    assert len(fetched(path, columns={"premise": "a", "hypothesis": "b", "label": "gold"})) == 3


def test_an_unknown_label_is_named_with_its_row(tmp_path: Path) -> None:
    path = written(tmp_path / "pairs.tsv", label=["0", "-", "1"])
    message = "id '1' has label '-'; expected entailment, neutral, contradiction, or 0, 1, 2; leave other rows out"
    for read in (fetched, read_pairs):
        with pytest.raises(UserError, match=message):
            read(path)
    assert len(fetched(path, where={"label": ["0", "1", "2"]})) == 2


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    pd.DataFrame({"premise": ["a"], "label": ["0"]}).to_csv(path, sep="\t", index=False)
    with pytest.raises(UserError, match=r"'hypothesis'; map.*`columns:`"):
        fetched(path)
    with pytest.raises(UserError, match="no column"):
        read_pairs(path)


def test_one_label_is_a_test_set_but_nothing_to_learn_from(tmp_path: Path) -> None:
    path = written(tmp_path / "pairs.tsv", label=["1", "1", "1"])
    assert len(read_pairs(path)) == 3
    with pytest.raises(UserError, match=r"'neutral'.*two labels"):
        read_pairs(path, train=True)

"""Neighbouring sentences of documents become pairs: across blocks, never across documents."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from pydantic import ValidationError

from seedbed.corpora.read.assets import Store
from seedbed.corpora.read.following import followed
from seedbed.corpora.settings import Cleaning, Source
from seedbed.io import UserError
from tests.whole import fetch, read

PAIRS = {"columns": {"sentence2": "sentence1"}}
ROWS = pd.DataFrame({"id": list("123456"), "sentence1": list("abcdef"), "document": list("xxyzzz")})
NEIGHBOURS = [["1", "a", "b"], ["4", "d", "e"], ["5", "e", "f"]]
LOOSE = Cleaning(min_characters=1, min_words=1)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "downloads", tmp_path / "lock.json")


@pytest.mark.parametrize("cuts", [(), (1,), (2,), (3,), (1, 2, 3, 4, 5), (0, 4, 4)])
def test_blocks_change_no_pair(cuts: tuple[int, ...]) -> None:
    blocks = [ROWS[start:stop] for start, stop in zip((0, *cuts), (*cuts, 6), strict=True)]
    counts: Counter[str] = Counter()
    found = pd.concat(followed(iter(blocks), Source(file="x", following=PAIRS | {"within": "document"}), counts))
    assert found[["id", "sentence1", "sentence2"]].to_numpy().tolist() == NEIGHBOURS
    assert counts == {"last of a document": 3}


@pytest.mark.parametrize("cuts", [(), (1,), (2,), (3,), (1, 2, 3, 4, 5), (0, 4, 4)])
@pytest.mark.parametrize(("within", "first"), [("document", ["1", "4"]), ("", ["1", "3", "5"])])
def test_disjoint_pairs_have_each_row_once(cuts: tuple[int, ...], within: str, first: list[str]) -> None:
    blocks = [ROWS[start:stop] for start, stop in zip((0, *cuts), (*cuts, 6), strict=True)]
    source = Source(file="x", following=PAIRS | {"within": within, "disjoint": True})
    assert list(pd.concat(followed(iter(blocks), source, Counter()))["id"]) == first


def test_without_documents_all_rows_are_one_and_nothing_is_asked_of_none() -> None:
    source = Source(file="x", following=PAIRS)
    assert list(pd.concat(followed(iter([ROWS]), source, Counter()))["sentence2"]) == list("bcdef")
    assert len(pd.concat(followed(iter([ROWS[:0]]), source, Counter()))) == 0
    assert next(followed(iter([ROWS]), Source(file="x"), Counter())) is ROWS


def test_sentences_of_stories_are_paired_as_they_follow_one_another(tmp_path: Path, store: Store) -> None:
    stories = ["One sleeps. Two walk. Three eat.", "Four wait. Five go."]
    (tmp_path / "d.jsonl").write_text("".join(json.dumps({"body": text}) + "\n" for text in stories))
    source = Source(
        file=str(tmp_path / "d.jsonl"),
        columns={"sentence1": "body"},
        explode={"sentence1": r"(?<=\.) "},
        following=PAIRS,
    )
    table, record = fetch(source, "matched_pairs", store, LOOSE)
    assert table.to_numpy().tolist() == [
        ["1.1", "One sleeps.", "Two walk."],
        ["1.2", "Two walk.", "Three eat."],
        ["2.1", "Four wait.", "Five go."],
    ]
    assert record["counts"] == {"read": 2, "last of a document": 2, "out of bounds": 0, "repeated": 0, "kept": 3}


@pytest.mark.parametrize("explode", [{}, {"sentence1": r"(?<=\.) "}])
def test_a_block_without_a_pair_changes_nothing(explode: dict[str, str], tmp_path: Path, store: Store) -> None:
    """Of a folder each file is a block: one has no row that `where` keeps, one a single row."""
    for name, part in (("a", "x"), ("b", "y"), ("c", "yy")):
        rows = "".join(f"{one}\t{name} {n} here.\n" for n, one in enumerate(part))
        (tmp_path / f"{name}.tsv").write_text("part\ttext\n" + rows)
    source = Source(
        file=str(tmp_path),
        member="*.tsv",
        where={"part": ["y"]},
        columns={"sentence1": "text"},
        following=PAIRS,
        rows=9,
    )
    found = read(source.updated({"explode": explode}), store)
    assert found[["sentence1", "sentence2"]].to_numpy().tolist() == [["c 0 here.", "c 1 here."]] * (not explode)


@pytest.mark.parametrize("sets", [False, True])
def test_the_last_row_of_a_file_is_not_paired_with_the_first_of_the_next(
    sets: bool, tmp_path: Path, store: Store
) -> None:
    (tmp_path / "a.txt").write_text("One sleeps.\nTwo walk.\n")
    (tmp_path / "b.txt").write_text("Three eat.\nFour wait.\nFive go.\n")
    files = [{"file": str(tmp_path / name)} for name in ("a.txt", "b.txt")]
    place = {"sets": dict(zip("xy", files, strict=True))} if sets else {"file": str(tmp_path), "member": "?.txt"}
    table, record = fetch(
        Source(**place, columns={"sentence1": "text"}, following=PAIRS), "matched_pairs", store, LOOSE
    )
    assert [*table] == ["id", "sentence1", "sentence2"]
    assert table[["sentence1", "sentence2"]].to_numpy().tolist() == [
        ["One sleeps.", "Two walk."],
        ["Three eat.", "Four wait."],
        ["Four wait.", "Five go."],
    ]
    assert record["counts"]["last of a document"] == 2
    with pytest.raises(UserError, match=r"no column 'line'; .*has [a-z, ]+$"):
        fetch(Source(**place, columns={"sentence1": "line"}, following=PAIRS), "matched_pairs", store, LOOSE)


def test_documents_named_line_by_line_in_another_file(tmp_path: Path, store: Store) -> None:
    (tmp_path / "text.txt").write_text("One sleeps.\nTwo walk.\nThree eat.\n")
    (tmp_path / "names.txt").write_text("news.1\nnews.1\nnews.2\n")
    source = Source(
        file=str(tmp_path / "text.txt"),
        columns={"sentence1": "text"},
        join={"document": {"file": str(tmp_path / "names.txt"), "columns": {}}},
        following=PAIRS | {"within": "document"},
    )
    table, _ = fetch(source, "matched_pairs", store, LOOSE)
    assert table.to_numpy().tolist() == [["1", "One sleeps.", "Two walk."]]


@pytest.mark.parametrize(
    ("following", "told"),
    [
        (PAIRS | {"within": "story"}, "x: no column 'story'; it has id, sentence1, document"),
        ({"columns": {"document": "sentence1"}}, "x: following: there is a column 'document'; give another name"),
        ({"columns": {"sentence2": "text"}}, "x: no column 'text'; it has id, sentence1, document"),
    ],
)
def test_columns_that_are_not_there_or_are_there_already(following: dict, told: str) -> None:
    with pytest.raises(UserError) as error:
        list(followed(iter([ROWS]), Source(file="x", following=following), Counter()))
    assert str(error.value) == told


def test_following_nothing_is_refused() -> None:
    with pytest.raises(ValidationError, match="at least 1 item"):
        Source(file="x", following={"columns": {}})

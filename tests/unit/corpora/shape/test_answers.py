"""Questions as corpora: where their answers stand, in SQuAD's files, on the hub and in a person's own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from seedbed.corpora.read import forms
from seedbed.corpora.read.assets import Store
from seedbed.corpora.read.fetch import fetch
from seedbed.corpora.settings import Cleaning, Source
from seedbed.corpora.shape.questions import spans
from seedbed.io import UserError

CONTEXT = "Soko\tla  Nairobi\nni kubwa."
ANSWERS = [{"text": "Nairobi", "answer_start": 9}, {"text": "la  Nairobi\nni", "answer_start": 5}]
SQUAD = {
    "data": [
        {"paragraphs": [{"context": CONTEXT, "qas": [{"id": "q1", "question": "Soko gani?", "answers": ANSWERS}]}]}
    ]
}


def fetched(tmp_path: Path, name: str, content: str, kind: str = "questions", **settings: Any) -> pd.DataFrame:
    (tmp_path / name).write_text(content, encoding="utf-8")
    source = Source(file=str(tmp_path / name), **settings)
    blocks, _ = fetch(source, kind, Store(tmp_path / "d", tmp_path / "lock.json"), Cleaning(), test=True)
    return pd.concat(blocks, ignore_index=True)


def test_squads_answers_keep_their_places(tmp_path: Path) -> None:
    """White space of a context becomes blanks one by one: what is cleaned further would move every answer."""
    table = fetched(tmp_path, "x.json", json.dumps(SQUAD), format="squad")
    assert list(table) == ["id", "question", "context", "answers", "starts"]
    row = table.iloc[0]
    assert row["context"] == "Soko la  Nairobi ni kubwa."
    assert json.loads(row["answers"]) == ["Nairobi", "la  Nairobi ni"] and json.loads(row["starts"]) == [9, 5]
    assert spans(table, "x") == [(9, 16)]


def test_retrieval_reads_the_same_of_squad_as_before(tmp_path: Path) -> None:
    table = fetched(tmp_path, "x.json", json.dumps(SQUAD), "retrieval", format="squad")
    assert table.to_dict("records") == [
        {"id": "q1", "query": "Soko gani?", "document": "Soko la Nairobi ni kubwa."},
    ]


def test_the_hubs_object_of_answers_is_two_lists() -> None:
    cell = {"text": np.array(["Nairobi"], dtype=object), "answer_start": np.array([8], dtype=np.int32)}
    rows = pd.DataFrame(
        {"id": ["a", "b", "c"], "answers": [cell, {"text": ["x"]}, None], "other": [{"text": 1}, {}, {}]}
    )
    table = forms.strings(rows)
    assert list(table["answers"]) == ['["Nairobi"]', '["x"]', "[]"]
    assert list(table["starts"]) == ["[8]", "[]", "[]"], "answers may have no place"
    assert list(table["other"]) == ["", "", ""]
    plain = forms.strings(pd.DataFrame({"answers": [["a", "b"], []]}))
    assert list(plain) == ["answers"] and list(plain["answers"]) == ["a b", ""], "lists are as they were"


def rows(**changes: Any) -> str:
    row = {"id": "q1", "question": "Nani?", "context": "Ni Amina.", "answers": {"text": ["Amina"], "answer_start": [3]}}
    return "\n".join(json.dumps(one) for one in (row, row | {"id": "q2"} | changes))


def test_a_file_of_json_lines_is_read_as_the_hubs_rows(tmp_path: Path) -> None:
    table = fetched(tmp_path, "x.jsonl", rows())
    assert list(table["answers"]) == ['["Amina"]'] * 2 and list(table["starts"]) == ["[3]"] * 2


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"question": " "}, "'q2' has no question"),
        ({"context": ""}, "'q2' has no context"),
        ({"answers": {"text": ["Amina"], "answer_start": [3, 4]}}, r"'q2'.*`starts`.*`answers`"),
    ],
)
def test_what_is_no_question_is_told_in_a_line(tmp_path: Path, changes: dict[str, Any], told: str) -> None:
    with pytest.raises(UserError, match=told) as error:
        fetched(tmp_path, "x.jsonl", rows(**changes))
    assert "\n" not in str(error.value)


def test_own_lists_must_be_lists(tmp_path: Path) -> None:
    head = "id\tquestion\tcontext\tanswers\tstarts\n"
    for cells, told in (
        ("Amina\t[3]", "answers that are no list such as"),
        ('["Amina"]\t["3"]', "starts that are no list"),
    ):
        with pytest.raises(UserError, match=told):
            fetched(tmp_path, "x.tsv", f"{head}q1\tNani?\tNi Amina.\t{cells}\n")

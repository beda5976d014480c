"""Columns inside objects, by dotted names: as the hub and the archive have X-CSQA."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from seedbed.corpora.read import forms
from seedbed.corpora.read.nested import names_in
from seedbed.corpora.settings import Source
from seedbed.io import UserError
from tests.unit.corpora.shape.test_answers import fetched

COLUMNS = {"id": "id", "question": "question.stem", "answers": "question.choices.text", "correct": "answerKey"}
LETTERS = {"correct": {letter: str(number) for number, letter in enumerate("ABCDE", start=1)}}
QUESTION = "What will happen to your knowledge with more learning?"
TEXTS = ["headaches", "bigger brain", "education", "growth", "knowing more"]


def row(key: str = "B") -> dict[str, Any]:
    """A question as the archive has it: an object for each option."""
    options = [{"label": label, "text": text} for label, text in zip("ABCDE", TEXTS, strict=True)]
    return {"id": "a", "lang": "en", "question": {"stem": QUESTION, "choices": options}, "answerKey": key}


def of_hub(given: dict[str, Any]) -> dict[str, Any]:
    """The same as the hub has it: an object of lists."""
    options = given["question"]["choices"]
    lists = {name: [option[name] for option in options] for name in ("label", "text")}
    return given | {"question": {**given["question"], "choices": lists}}


def written(tmp_path: Path, rows: list[dict[str, Any]], form: str) -> pd.DataFrame:
    if form == "parquet":
        pd.DataFrame(rows).to_parquet(tmp_path / "x.parquet")
        source = Source(file=str(tmp_path / "x.parquet"), columns=COLUMNS, replace=LETTERS)
        return next(iter(forms.parse("x.parquet", (tmp_path / "x.parquet").open("rb"), source)))
    return fetched(tmp_path, "x.jsonl", "\n".join(map(json.dumps, rows)), "choices", columns=COLUMNS, replace=LETTERS)


@pytest.mark.parametrize("shaped", [lambda given: given, of_hub])
def test_a_question_with_options_in_objects_is_read(tmp_path: Path, shaped: Any) -> None:
    table = written(tmp_path, [shaped(row())], "jsonl")
    assert table.iloc[0].to_dict() == {
        "id": "a", "passage": "", "question": QUESTION, "answers": json.dumps(TEXTS), "correct": "2",
    }  # fmt: skip


def test_parquet_has_the_same(tmp_path: Path) -> None:
    table = written(tmp_path, [of_hub(row()), of_hub(row("E"))], "parquet")
    assert list(table["question.stem"]) == [QUESTION] * 2
    assert [json.loads(cell) for cell in table["question.choices.text"]] == [TEXTS] * 2


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        ([3, 5], "[3, 5]"),
        ([0.5, 2.0], "[0.5, 2.0]"),
        ([True, False], "[true, false]"),
        ([0.5, None], ""),
        ([3, None], ""),
    ],
)
def test_numbers_and_truth_values_of_objects_are_those_of_every_form(cells: list[Any], found: str) -> None:
    rows = [{"o": {"n": cells}}]
    files = {"x.jsonl": io.BytesIO(json.dumps(rows[0]).encode()), "x.parquet": io.BytesIO()}
    pq.write_table(pa.Table.from_pylist(rows), files["x.parquet"])
    for name, stream in files.items():
        stream.seek(0)
        (block,) = forms.parse(name, stream, Source(file=name, columns={"n": "o.n"}))
        assert list(block["o.n"]) == [found], name


def test_a_blind_test_set_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"right.*blind.*take a split"):
        written(tmp_path, [row("")], "jsonl")


def test_what_leads_nowhere_is_no_column(tmp_path: Path) -> None:
    columns = {**COLUMNS, "question": "question.text"}
    content = json.dumps(row())
    with pytest.raises(UserError, match="no answer|question|empty"):
        fetched(tmp_path, "x.jsonl", content, "choices", columns=columns, replace=LETTERS)
    plain = forms.strings(pd.DataFrame({"question": [{"stem": 1}, None]}))
    assert list(plain) == ["question"], "nothing is reached that nobody names"
    named = Source(file="x", columns={"a": "q.a", "b": ["q.b.c", "d"]}, where={"q.lang": ["en"]})
    assert names_in(named) == ["q.a", "q.b.c", "q.lang"]
    own = pd.DataFrame({"q.a": ["flat"], "q": [{"a": "inside"}]})
    assert list(forms.strings(own, Source(file="x", columns={"a": "q.a"}))["q.a"]) == ["flat"]


def test_groups_of_rows_of_parquet_are_read_one_after_the_other(tmp_path: Path) -> None:
    """As the hub's are, which have a thousand rows: pyarrow converts no lists and objects of two at once."""
    rows = [{"words": ["a", "b"], "o": {"t": f"text {n}"}} for n in range(5)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "x.parquet", row_group_size=2)
    source = Source(file="x.parquet", columns={"n": "o.t"})
    found = pd.concat(forms.parse("x.parquet", (tmp_path / "x.parquet").open("rb"), source))
    assert found[["words", "o.t"]].to_numpy().tolist() == [["a b", f"text {n}"] for n in range(5)]


@pytest.mark.parametrize("rows", [[{"id": "a", "o": None}], []])
def test_a_block_of_nulls_has_the_columns_of_other_blocks(rows: list[dict[str, Any]]) -> None:
    found = forms.strings(pd.DataFrame(rows, columns=["id", "o"]), Source(file="x", columns={"t": "o.t"}))
    assert list(found) == ["id", "o", "o.t"] and (found["o.t"] == "").all()

"""Multiple choice as it is published: a column for each answer, or a list; what is refused when it is fetched."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from seedbed.io import UserError
from tests.unit.corpora.shape.test_answers import fetched

HUB = {
    "link": ["https://a", "https://a", "https://b"],
    "question_number": [1, 2, 1],
    "flores_passage": ["The  cat.", "The  cat.", "A dog."],
    "question": ["Who?", "What?", "Which\none?"],
    **{f"mc_answer{number}": [f"{number} {row}\t" for row in "abc"] for number in (1, 2, 3, 4)},
    "correct_answer_num": [4, 1, 2],
}
COLUMNS: dict[str, Any] = {
    "id": ["link", "question_number"], "passage": "flores_passage", "question": "question",
    **{f"answer_{number}": f"mc_answer{number}" for number in (1, 2, 3, 4)}, "correct": "correct_answer_num",
}  # fmt: skip


def belebele(tmp_path: Path, **changes: list[Any]) -> pd.DataFrame:
    rows = pd.DataFrame(HUB | changes).to_dict("records")
    content = "\n".join(json.dumps(row) for row in rows)
    return fetched(tmp_path, "x.jsonl", content, "choices", columns=COLUMNS)


def test_belebele_is_read_as_the_hub_has_it(tmp_path: Path) -> None:
    table = belebele(tmp_path)
    assert list(table) == ["id", "passage", "question", "answers", "correct"]
    assert table.iloc[2].to_dict() == {
        "id": "https://b 1", "passage": "A dog.", "question": "Which one?",
        "answers": '["1 c", "2 c", "3 c", "4 c"]', "correct": "2",
    }  # fmt: skip
    assert table["passage"].iloc[0] == "The cat.", "texts are cleaned"


def test_more_than_nine_answers_stay_in_their_order(tmp_path: Path) -> None:
    answers = [f"answer_{number}" for number in range(1, 13)]
    content = "\t".join(["id", *answers, "passage", "question", "correct"])
    content += "\n" + "\t".join(["a", *answers, "p", "q", "12"])
    table = fetched(tmp_path, "x.tsv", content, "choices")
    assert json.loads(table["answers"].iloc[0]) == answers


def test_a_list_of_answers_is_one(tmp_path: Path) -> None:
    row = {"id": "a", "passage": "p", "question": "q", "answers": '["x ", "y"]', "correct": " 2"}
    table = fetched(tmp_path, "x.jsonl", json.dumps(row), "choices")
    assert table.iloc[0].to_dict() == row | {"answers": '["x", "y"]', "correct": "2"}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"correct_answer_num": [5, 1, 1]}, r"'https://a 1'.*correct '5' of 4"),
        ({"mc_answer2": ["x", " ", "y"]}, r"'https://a 2'.*empty answer"),
    ],
)
def test_what_cannot_be_chosen_is_refused(tmp_path: Path, changes: dict, told: str) -> None:
    with pytest.raises(UserError, match=told):
        belebele(tmp_path, **changes)


def test_a_column_that_is_not_there_is_named(tmp_path: Path) -> None:
    for lacking in ("answers", "correct"):
        row = {"id": "a", "passage": "p", "question": "q", "answers": '["x", "y"]', "correct": "1"}
        del row[lacking]
        with pytest.raises(UserError, match=f"no column '{lacking}'"):
            fetched(tmp_path, "x.jsonl", json.dumps(row), "choices")

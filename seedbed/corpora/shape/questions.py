"""Extractive questions: answers with their positions in a context, both as JSON lists."""

import json
from typing import Any

import pandas as pd

from seedbed.corpora.shape.clean import CONTROL
from seedbed.io import UserError

PARTS = {"answers": "text", "starts": "answer_start"}
"""Our column -> SQuAD's name of it."""


def split_answers(rows: pd.DataFrame) -> pd.DataFrame:
    """Split SQuAD's answer objects, if there are any, into two columns of JSON lists: `answers` and `starts`.

    Answers are objects {text: [...], answer_start: [...]}, as on the hub. Those without a position have no starts.
    """
    if [*rows.columns].count("answers") != 1 or not any(isinstance(cell, dict) for cell in rows["answers"]):
        return rows
    return rows.assign(**{ours: [_json(_part(cell, its)) for cell in rows["answers"]] for ours, its in PARTS.items()})


def merge_answers(answers: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """The answers of a question in SQuAD's own files, one object each, as one object of lists."""
    return {name: [one[name] for one in answers if name in one] for name in PARTS.values()}


def _part(cell: Any, name: str) -> list[Any]:
    """One part of a row's answers; a row without answers has none."""
    found = cell.get(name) if isinstance(cell, dict) else None
    return [] if found is None else [*found]


def _json(values: list[Any]) -> str:
    return json.dumps([value if isinstance(value, str) else int(value) for value in values], ensure_ascii=False)


def in_place(table: pd.DataFrame, where: str) -> pd.DataFrame:
    """Normalise contexts and answers so that they fit a TSV and every character keeps its position.

    A tab, line break or control character becomes one blank; nothing else is cleaned, because positions count
    characters.

    Raises:
        UserError: an empty question or context; answers or starts that are not lists, or of different lengths.
    """
    for name in ("question", "context"):
        require_none(table[table[name].str.strip() == ""], f"has no {name}; give it one, or leave such rows out", where)
    answers, starts = lists(table, "answers", str, where), lists(table, "starts", int, where)
    uneven = [0 < len(places) != len(texts) for texts, places in zip(answers, starts, strict=True)]
    require_none(table[uneven], "has more or fewer `starts` than `answers`; give each answer its place, or none", where)
    return table.assign(
        context=table["context"].map(_blanked), answers=[_json([*map(_blanked, texts)]) for texts in answers]
    )


def _blanked(text: str) -> str:
    return CONTROL.sub(" ", text)


def lists(table: pd.DataFrame, column: str, of: type, where: str) -> list[list[Any]]:
    """Parse a column of JSON lists with values of one type.

    Raises:
        UserError: a cell is no such list.
    """
    found = [_read(cell) for cell in table[column]]
    wrong = [not (isinstance(one, list) and all(type(value) is of for value in one)) for one in found]
    example = '["Nairobi"]' if of is str else "[17]"
    require_none(table[wrong], f"has {column} that are no list such as {example}", where)
    return found


def _read(cell: str) -> Any:
    try:
        return json.loads(cell)
    except ValueError:
        return None


def require_answers(table: pd.DataFrame, where: str) -> None:
    """Check that every question has an answer that is not empty.

    Raises:
        UserError: one has none, or answers are not a list.
    """
    none = [not any(text.strip() for text in texts) for texts in lists(table, "answers", str, where)]
    require_none(table[none], "has no answer; give it one, or leave such rows out with `where:`", where)


def spans(table: pd.DataFrame, where: str) -> list[tuple[int, int]]:
    """Start and end (exclusive) of each row's first answer in its context, in characters.

    Raises:
        UserError: a row without an answer or its position, or an answer that is not at its position.
    """
    require_answers(table, where)
    answers, starts = lists(table, "answers", str, where), lists(table, "starts", int, where)
    require_none(table[[not places for places in starts]], "has no `starts`, so it cannot be trained on", where)
    found = [(places[0], places[0] + len(texts[0])) for texts, places in zip(answers, starts, strict=True)]
    there = zip(table["context"], found, answers, strict=True)
    wrong = [not 0 <= start < end or context[start:end] != texts[0] for context, (start, end), texts in there]
    require_none(table[wrong], "has an answer that is not at its place in the context; correct `starts`", where)
    return found


def require_none(wrong: pd.DataFrame, problem: str, where: str) -> None:
    """Raise an error that says the problem of the first of these rows, if there are any.

    Raises:
        UserError: there are rows.
    """
    if len(wrong):
        more = f" (and {len(wrong) - 1} rows more)" if len(wrong) > 1 else ""
        raise UserError(f"{where}: id {wrong['id'].iloc[0]!r}{more} {problem}")

"""Questions with answers to choose from: the answers a list in JSON, the right one by its number."""

from __future__ import annotations

import json
import re

import pandas as pd

from seedbed.corpora.shape.clean import clean
from seedbed.corpora.shape.questions import lists, refuse
from seedbed.io import UserError

OPTIONS = "answers"
"""The column of kind `choices` whose cells are lists of texts."""
_ONE = re.compile(r"answer_\d+")
"""A column that has one of the answers."""


def gathered(table: pd.DataFrame, where: str) -> pd.DataFrame:
    """The rows with clean answers in one column, and numbers of the right ones that hold; as they are without either.

    Args:
        table: with `correct`, a number from 1, and `answers`, a list in JSON; or a column for each answer, answer_1,
            answer_2, ..., as the hub has Belebele.

    Raises:
        UserError: as `options` and `right`.
    """
    names = [name for name in table.columns if _ONE.fullmatch(name)]
    if "correct" not in table.columns or not (names or "answers" in table.columns):
        return table
    if "answers" in table.columns:
        texts = lists(table, "answers", str, where)
    else:
        names.sort(key=lambda name: int(name.removeprefix("answer_")))
        texts = table[names].to_numpy().tolist()
    answers = [json.dumps([*map(clean, each)], ensure_ascii=False) for each in texts]
    table = table.assign(answers=answers, correct=table["correct"].str.strip())
    right(table, where)
    return table


def options(table: pd.DataFrame, where: str) -> list[list[str]]:
    """The answers of each row.

    Raises:
        UserError: no list, fewer than two answers, or an empty one. Two that are equal are what a benchmark may have.
    """
    found = lists(table, "answers", str, where)
    refuse(table[[len(each) < 2 for each in found]], "has fewer than two answers to choose from", where)
    empty = [not all(text.strip() for text in each) for each in found]
    refuse(table[empty], "has an empty answer; give it one, or leave such rows out", where)
    return found


def repeated(table: pd.DataFrame, where: str) -> int:
    """How many rows have two equal answers, of which the first is taken where they lie nearest; raises as `options`."""
    return sum(len({*each}) < len(each) for each in options(table, where))


def right(table: pd.DataFrame, where: str) -> list[int]:
    """The place, from 0, of the right answer of each row.

    Raises:
        UserError: as `options`; no row has a label, or `correct` is no whole number, or no answer has it.
    """
    counts = [len(each) for each in options(table, where)]
    if len(table) and (table["correct"].str.strip() == "").all():
        raise UserError(f"{where}: no row says which answer is right, as in a blind test set; take a split that does")
    wrong = [
        not (re.fullmatch(r"[0-9]+", number) and 1 <= int(number) <= count)
        for number, count in zip(table["correct"], counts, strict=True)
    ]
    if any(wrong):
        place = wrong.index(True)
        told = f"has correct {table['correct'].iloc[place]!r} of {counts[place]} answers; give its number, from 1"
        refuse(table[wrong], told, where)
    return [int(number) - 1 for number in table["correct"]]

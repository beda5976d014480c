"""Multiple-choice questions: the answers as a JSON list, and the number of the right one."""

import json
import re

import pandas as pd

from seedbed.corpora.shape.clean import clean
from seedbed.corpora.shape.questions import lists, require_none
from seedbed.io import UserError

OPTIONS = "answers"
"""Column of kind `choices` with lists of answers."""
_ONE = re.compile(r"answer_\d+")
"""A column that has one of the answers."""


def collect_answers(table: pd.DataFrame, where: str) -> pd.DataFrame:
    """Collect the answers of each row into one JSON list, with clean texts, and check the number of the right one.

    Args:
        table: rows with `correct`, a number from 1, and `answers`, a JSON list, or a column for each answer, answer_1,
            answer_2, ...; other tables are returned unchanged.

    Raises:
        UserError: fewer than two answers, an empty answer, or `correct` is not the number of one.
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
    correct_indices(table, where)
    return table


def options(table: pd.DataFrame, where: str) -> list[list[str]]:
    """The answers of each row, from its `answers`.

    Raises:
        UserError: not a list, fewer than two answers, or an empty one. Equal answers are allowed: benchmarks have them.
    """
    found = lists(table, "answers", str, where)
    require_none(table[[len(each) < 2 for each in found]], "has fewer than two answers to choose from", where)
    empty = [not all(text.strip() for text in each) for each in found]
    require_none(table[empty], "has an empty answer; give it one, or leave such rows out", where)
    return found


def count_repeated(table: pd.DataFrame, where: str) -> int:
    """The number of rows with two equal answers; `where` names the data in errors, see `options`."""
    return sum(len({*each}) < len(each) for each in options(table, where))


def correct_indices(table: pd.DataFrame, where: str) -> list[int]:
    """Index of the right answer of each row, from 0, by its `answers` and `correct`.

    Raises:
        UserError: no row is labelled, or `correct` is not the number of an answer.
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
        problem = f"has correct {table['correct'].iloc[place]!r} of {counts[place]} answers; give its number, from 1"
        require_none(table[wrong], problem, where)
    return [int(number) - 1 for number in table["correct"]]

"""What may be wrong with a row of texts: the checks that the audits of triplets and of translations share.

A fault is a pair: which rows (n,) have it, and its name. Each audit puts its faults in its own order, and of a row the
first one counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from seedbed.corpora.select.contamination import EvaluationTexts
from seedbed.corpora.select.language_id import LanguageId
from seedbed.corpora.shape.clean import comparable, script_share, words
from seedbed.triplets.settings import Audit
from seedbed.triplets.switching import latin_share, other_script

Fault = tuple[pd.Series | np.ndarray, str]


@dataclass(frozen=True)
class Expected:
    """The language and script that a generated text should be in."""

    in_pivot: bool
    """Whether in the pivot language instead of the anchor's."""
    script: str
    """ISO 15924 code."""


class Reasons:
    """Why each of n rows does not pass: its first fault.

    Args:
        count: n.
    """

    def __init__(self, count: int) -> None:
        self.found = np.full(count, "", dtype=object)
        """(n,), "" for rows that pass."""

    def add(self, rows: pd.Series | np.ndarray, why: str) -> None:
        """Add a reason to those of some rows (n,), true or false, that have none yet."""
        self.found[(self.found == "") & np.asarray(rows, dtype=bool)] = why


def empty(text: pd.Series) -> Fault:
    """Texts without a letter or digit."""
    return text.map(comparable) == "", "empty"


def cut(rows: pd.DataFrame, side: str, rules: Audit) -> Fault:
    """Completions that the length limit cut, by the column `..._finished` if the rows have it."""
    return rules.finished & (ended(rows, side) == "false"), "cut at the length limit"


def ended(rows: pd.DataFrame, side: str) -> pd.Series:
    """How the completions of a column ended: its `..._finished`; "true" if the rows lack it."""
    return rows.get(f"{side}_finished", pd.Series("true", rows.index))


def of_words(text: pd.Series, target: Expected, identify: LanguageId | None, rules: Audit) -> Iterator[Fault]:
    """Texts that repeat a word, or whose script or language is not the expected one.

    Args:
        text: (n,).
        target: the language and script that they should be in.
        identify: distinguishes the anchors' language from the pivot language; None: not checked.
        rules: settings of the checks.
    """
    yield text.map(repetition) > rules.max_repetition, "repeats itself"
    yield text.map(lambda value: script_share(value, target.script)) < rules.script_share, "script"
    if identify is not None:
        yield np.asarray(identify.in_language(list(text)), dtype=bool) == target.in_pivot, "language"
    if rules.other_script:
        yield text.map(lambda value: other_script(value, target.script)), "word in another script"
    yield text.map(lambda value: latin_share(value, target.script)) > rules.latin_words, "Latin words"


def length(text: pd.Series, source: pd.Series, rules: Audit) -> Fault:
    """Texts that are far longer or shorter than what they were generated from."""
    return length_ratio(source, text) > rules.length_ratio, "length"


def tested(text: pd.Series, seen: EvaluationTexts) -> Fault:
    """Texts of evaluation sets."""
    return text.map(seen.repeats), "in an evaluation set"


def repetition(text: str) -> float:
    """Share of the most frequent word in a text of six words or more, else 0."""
    parts = words(text)
    return max(Counter(parts).values()) / len(parts) if len(parts) >= 6 else 0.0


def length_ratio(a: pd.Series, b: pd.Series) -> pd.Series:
    """Characters of the longer text divided by those of the shorter, row by row."""
    lengths = pd.concat([a.str.len(), b.str.len()], axis=1).clip(lower=1)
    return lengths.max(axis=1) / lengths.min(axis=1)

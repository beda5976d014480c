"""What may be wrong with a row of texts: the checks that the audits of triplets and of translations share.

A fault is a pair: which rows (n,) have it, and its name. Each audit puts its faults in its own order, and of a row the
first one counts.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
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
class Checks:
    """The checks of texts that should be in one language and script."""

    rules: Audit
    script: str
    """ISO 15924 code of the texts."""
    seen: EvaluationTexts
    """Sentences of the evaluation sets."""
    identify: LanguageId | None = None
    """Distinguishes the anchors' language from the pivot language; None: not checked."""
    in_pivot: bool = False
    """Whether the texts should be in the pivot language instead of the anchors'."""

    def cut(self, rows: pd.DataFrame, side: str) -> Fault:
        """Rows whose completion in the column `side` was cut at the length limit, by the column `{side}_finished`."""
        return self.rules.finished & (ended(rows, side) == "false"), "cut at the length limit"

    def of_words(self, text: pd.Series) -> Iterator[Fault]:
        """Texts that repeat a word, or whose script or language is not the expected one."""
        rules = self.rules
        yield text.map(repetition) > rules.max_repetition, "repeats itself"
        yield text.map(lambda value: script_share(value, self.script)) < rules.script_share, "script"
        if self.identify is not None:
            yield self.identify.in_language(list(text)) == self.in_pivot, "language"
        if rules.other_script:
            yield text.map(lambda value: other_script(value, self.script)), "word in another script"
        yield text.map(lambda value: latin_share(value, self.script)) > rules.latin_words, "Latin words"

    def length(self, text: pd.Series, source: pd.Series) -> Fault:
        """Texts that are far longer or shorter than what they were generated from."""
        return length_ratio(source, text) > self.rules.length_ratio, "length"

    def tested(self, text: pd.Series) -> Fault:
        """Texts that repeat a text of an evaluation set, see `EvaluationTexts.repeats`."""
        return text.map(self.seen.repeats), "in an evaluation set"


def first_faults(faults: Iterable[Fault]) -> np.ndarray:
    """The name of each row's first fault (n,); "" for rows without one."""
    rows, names = zip(*faults, strict=True)
    return np.select([np.asarray(each, dtype=bool) for each in rows], names, "").astype(object)


def empty(text: pd.Series) -> Fault:
    """Texts without a letter or digit."""
    return text.map(comparable) == "", "empty"


def ended(rows: pd.DataFrame, side: str) -> pd.Series:
    """How the completions in the column `side` ended: the column `{side}_finished`; "true" if the rows lack it."""
    return rows.get(f"{side}_finished", pd.Series("true", rows.index))


def repetition(text: str) -> float:
    """Share of the most frequent word in a text of six words or more, else 0."""
    parts = words(text)
    return max(Counter(parts).values()) / len(parts) if len(parts) >= 6 else 0.0


def length_ratio(a: pd.Series, b: pd.Series) -> pd.Series:
    """Characters of the longer text divided by those of the shorter, row by row."""
    lengths = pd.concat([a.str.len(), b.str.len()], axis=1).clip(lower=1)
    return lengths.max(axis=1) / lengths.min(axis=1)

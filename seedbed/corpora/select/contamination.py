"""Decontamination: finding training texts that repeat evaluation texts."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Self

import numpy as np

from seedbed.blocks import Blocks
from seedbed.corpora.settings import NO_TEXT, OPTIONAL
from seedbed.corpora.shape.clean import runs, words
from seedbed.io import UserError, read_table


class EvaluationTexts:
    """An index of evaluation texts."""

    def __init__(self, texts: Iterable[str]) -> None:
        texts = list(texts)
        self.whole = {_whole(text) for text in texts}
        # Sorted, in a tenth of a set's memory.
        self.grams = np.unique(np.fromiter((gram for text in texts for gram in _grams(text)), np.int64))

    @classmethod
    def read(cls, sets: Iterable[Path]) -> Self:
        """All texts of files of evaluation sets: both sentences of pairs, queries and documents, translations."""
        no_text = ["id", *NO_TEXT, *OPTIONAL["retrieval"], "finish"]
        tables = [read_table(path, ["id"]).drop(columns=no_text, errors="ignore") for path in sets]
        return cls(text for table in tables for column in table.columns for text in table[column])

    def repeats(self, text: str) -> bool:
        """Whether a text equals an evaluation text up to case and punctuation, or shares eight consecutive words with
        one.

        In scripts without blanks, 24 characters count as eight words, 12 of Han.
        """
        if _whole(text) in self.whole:
            return True
        grams = np.fromiter(_grams(text), np.int64)
        places = np.searchsorted(self.grams, grams)
        return bool((self.grams[places[places < len(self.grams)]] == grams[places < len(self.grams)]).any())


def _whole(text: str) -> str:
    """The form in which a text equals another; blanks say nothing in scripts without them."""
    return " ".join(words(text))


def _grams(text: str) -> Iterable[int]:
    """A hash of each run: the passages of a retrieval set have millions."""
    return map(hash, runs(text))


IN_TESTS = "in a test set"
"""Reason for dropping a row of training data."""
IN_TRAINING = "in training data"
"""Reason for dropping a row of a test set that is newer than the training data."""
OTHERS = {
    IN_TESTS: "the study's test sets; train on other data",
    IN_TRAINING: "what was trained on before; give another test set, or take `apart_from` out of its task",
}


def without_tests(
    rows: Blocks, columns: Iterable[str], seen: EvaluationTexts, counts: Counter[str], reason: str = IN_TESTS
) -> Blocks:
    """Iterate over the rows of which no text repeats an evaluation text.

    Args:
        columns: names of text columns.
        seen: the evaluation texts, with their English translations where known.
        counts: dropped rows are added here under the reason.
        reason: IN_TESTS; or IN_TRAINING if the rows are a test set and `seen` are training texts.

    Raises:
        UserError: no row is left.
    """
    names, kept = [*columns], 0
    for block in rows:
        repeats = block[names].map(lambda text: bool(text) and seen.repeats(text)).any(axis=1)
        counts[reason] += int(repeats.sum())
        kept += int((~repeats).sum())
        yield block[~repeats]
    if not kept:
        raise UserError(f"all {counts[reason]} rows are in {OTHERS[reason]}")

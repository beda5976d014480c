"""Whether a training text repeats an evaluation text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from seedbed.blocks import Blocks
from seedbed.corpora.settings import NO_TEXT, OPTIONAL
from seedbed.corpora.shape.clean import runs, words
from seedbed.io import UserError, read_table


class EvaluationTexts:
    """An index of evaluation sentences."""

    def __init__(self, texts: Iterable[str]) -> None:
        texts = list(texts)
        self.whole = {_whole(text) for text in texts}
        # Sorted, in a tenth of a set's memory.
        self.grams = np.unique(np.fromiter((gram for text in texts for gram in _grams(text)), np.int64))

    def repeats(self, text: str) -> bool:
        """Whether a text equals an evaluation sentence but for case and punctuation, or shares eight words in a row
        with one: in scripts without blanks 24 characters, 12 of Han."""
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
"""Why a row of training data is left out."""
IN_TRAINING = "in training data"
"""Why a row of a test set is left out that was there after them."""
OTHERS = {
    IN_TESTS: "the study's test sets; train on other data",
    IN_TRAINING: "what was trained on before; give another test set, or take `apart_from` out of its task",
}


def without_tests(
    rows: Blocks, columns: Iterable[str], seen: EvaluationTexts, counts: Counter[str], reason: str = IN_TESTS
) -> Blocks:
    """The rows none of whose texts repeats an evaluation text.

    Args:
        columns: of texts.
        seen: the evaluation texts, and their English where it is known.
        counts: where the rows that are left out are counted, by the reason.
        reason: IN_TESTS; or IN_TRAINING of the rows of a test set, where `seen` are texts that were trained on.

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


def texts_of(tests: Iterable[Path]) -> list[str]:
    """Every sentence of some evaluation sets, both sides of each pair, queries and documents; of translations too."""
    no_text = ["id", *NO_TEXT, *OPTIONAL["retrieval"], "finish"]
    tables = [read_table(path, ["id"]).drop(columns=no_text, errors="ignore") for path in tests]
    return [text for table in tables for column in table.columns for text in table[column]]

"""Does a training text repeat an evaluation text?"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from seedbed.corpora.clean import comparable, words
from seedbed.corpora.settings import OPTIONAL
from seedbed.io import read_table

GRAM = 8
"""Consecutive words that two texts may share at most 7 of (the usual length; see docs/decisions.md)."""


class EvaluationTexts:
    """An index of evaluation sentences."""

    def __init__(self, texts: Iterable[str]) -> None:
        texts = list(texts)
        self.whole = {comparable(text) for text in texts}
        # Sorted, in a tenth of a set's memory.
        self.grams = np.unique(np.fromiter((gram for text in texts for gram in _grams(text)), np.int64))

    def repeats(self, text: str) -> bool:
        """Equal to one of them but for case and punctuation, or sharing eight words in a row."""
        if comparable(text) in self.whole:
            return True
        grams = np.fromiter(_grams(text), np.int64)
        places = np.searchsorted(self.grams, grams)
        return bool((self.grams[places[places < len(self.grams)]] == grams[places < len(self.grams)]).any())


def _grams(text: str) -> Iterable[int]:
    """A hash of each: the passages of a retrieval set have millions."""
    parts = words(text)
    return map(hash, zip(*(parts[start:] for start in range(GRAM)), strict=False))


def texts_of(tests: Iterable[Path]) -> list[str]:
    """Every sentence of some evaluation sets, both sides of each pair, queries and documents."""
    no_text = ["id", "score", *OPTIONAL["retrieval"]]
    tables = [read_table(path, ["id"]).drop(columns=no_text, errors="ignore") for path in tests]
    return [text for table in tables for column in table.columns for text in table[column]]

"""Language identification between a language and the pivot language, which generators fall back to.

Ready-made identifiers lack many low-resource languages; the study's own two corpora are enough to distinguish these
two.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.naive_bayes import MultinomialNB

from seedbed.corpora.select.subset import sentences
from seedbed.corpora.shape.clean import comparable
from seedbed.io import UserError, read_blocks

BATCH = 500
"""Sentences whose n-grams are counted at a time."""


class LanguageId:
    """Naive Bayes over character n-grams (1 to 4) of a language and the pivot language.

    Raises:
        UserError: no sentences in one of them.
    """

    def __init__(self, language: Sequence[str], pivot: Sequence[str]) -> None:
        if not len(language) or not len(pivot):
            raise UserError("language identification: no sentence in the language or in the pivot; give both a corpus")
        self._grams = HashingVectorizer(analyzer="char_wb", ngram_range=(1, 4), alternate_sign=False, norm=None)
        # One row for each class: the model needs their sums alone. Equal priors: a corpus of another size says nothing
        # about the next sentence.
        totals = [sum(counts.sum(axis=0) for counts in self._counted(texts)) for texts in (pivot, language)]
        self._bayes = MultinomialNB(alpha=0.1, fit_prior=False).fit(np.asarray(np.concatenate(totals)), [0, 1])

    def _counted(self, texts: Sequence[str]) -> Iterator[csr_matrix]:
        """The n-grams of texts, some texts at a time: of all they would take many times the memory of the texts."""
        for start in range(0, len(texts), BATCH):
            yield self._grams.transform([comparable(text) for text in texts[start : start + BATCH]])

    @classmethod
    def read(cls, language: Path, pivot: Path) -> Self:
        """Fit on corpus files, or on the samples of them that `subset.sentences` gives, with the same result."""
        return cls(*(list(sentences(read_blocks(path, ["id", "text"]))["text"]) for path in (language, pivot)))

    def in_language(self, texts: Sequence[str]) -> np.ndarray:
        """Booleans (n,): whether each text is more likely in the language than in the pivot language."""
        if not len(texts):
            return np.zeros(0, dtype=bool)
        return np.concatenate([self._bayes.predict(counts) for counts in self._counted(texts)]).astype(bool)


def as_many(*texts: Sequence[str]) -> list[list[str]]:
    """Reduce lists of texts to the length of the shortest, by taking texts at even distances."""
    least = min(map(len, texts))
    return [[one[place * len(one) // least] for place in range(least)] for one in texts]

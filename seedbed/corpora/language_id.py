"""Is a sentence in the language, or in the pivot language?

Ready-made identifiers do not know many low-resource languages (Hausa, for one). The fault that matters here is a text
in the pivot language, which generators fall back to, or in another script. Both are told apart from the study's own two
corpora, so a new language needs no new model and the verdict depends on its files alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import Pipeline, make_pipeline

from seedbed.corpora.clean import comparable
from seedbed.io import UserError

SAMPLE = 20_000
"""Sentences of each language that the model sees; more change nothing."""


class LanguageId:
    """Naive Bayes over character n-grams (1 to 4) of the language against the pivot language."""

    def __init__(self, language: Sequence[str], pivot: Sequence[str]) -> None:
        """Fit on sentences of both.

        Raises:
            UserError: no sentence in one of them.
        """
        if not len(language) or not len(pivot):
            raise UserError("language identification: no sentence in the language or in the pivot; give both a corpus")
        texts = [*language[:SAMPLE], *pivot[:SAMPLE]]
        labels = [1] * len(language[:SAMPLE]) + [0] * len(pivot[:SAMPLE])
        grams = HashingVectorizer(analyzer="char_wb", ngram_range=(1, 4), alternate_sign=False, norm=None)
        # Equal priors: a corpus of another size says nothing about the next sentence.
        self.model: Pipeline = make_pipeline(grams, MultinomialNB(alpha=0.1, fit_prior=False))
        self.model.fit([comparable(text) for text in texts], labels)

    def in_language(self, texts: Sequence[str]) -> np.ndarray:
        """(n,) booleans: more like the language than like the pivot."""
        if not len(texts):
            return np.zeros(0, dtype=bool)
        return self.model.predict([comparable(text) for text in texts]).astype(bool)

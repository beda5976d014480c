"""Lexical baselines: scores by the words of texts alone, without an encoder."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from seedbed.corpora.shape.clean import counted_terms

WORD_OVERLAP = "word overlap"
"""The Dice coefficient of the words of two sentences."""
BM25 = "BM25 search"
"""Documents ranked by the words that they share with a query."""
NAMES = (WORD_OVERLAP, BM25)
"""All lexical baselines; each name has a blank, so that it is never a recipe's."""


def bm25(queries: Sequence[str], documents: Sequence[str]) -> Iterator[NDArray[np.float32]]:
    """BM25 scores (m,) of all documents for each query, over `counted_terms`, without stemming or stop words.

    A query word that n of N documents contain, and that occurs f times in a document of length l, adds log(1 + (N - n +
    0.5) / (n + 0.5)) * f / (f + k1 * (1 - b + b * l / mean length)): Lucene's form of Robertson and Zaragoza 2009, with
    the defaults of bm25s (k1 1.5, b 0.75), as in mteb's BM25.
    """
    import bm25s

    index = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
    index.index([counted_terms(text) for text in documents], show_progress=False)
    for text in queries:
        terms = counted_terms(text)
        yield index.get_scores(terms) if terms else np.zeros(len(documents), np.float32)

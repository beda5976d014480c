"""SQuAD's scores of answers that are spans of a text."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence

from seedbed.corpora.shape.clean import split_words

ARTICLES = {"eng": re.compile(r"\b(a|an|the)\b")}
"""Language -> articles, which are removed before answers are compared; SQuAD removes those of English."""
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalised(text: str, language: str) -> str:
    """Normalise an answer as SQuAD does: lower case, without ASCII punctuation, articles and repeated spaces.

    Source: Rajpurkar et al. (2016), the official evaluation script. In languages other than English no word is an
    article.
    """
    text = text.lower().translate(_PUNCTUATION)
    if language in ARTICLES:
        text = ARTICLES[language].sub(" ", text)
    return " ".join(text.split())


def exact_match(answer: str, golds: Sequence[str], language: str) -> float:
    """1 if the normalised answer equals a normalised gold answer, of which there is one at least, else 0."""
    return float(normalised(answer, language) in {normalised(gold, language) for gold in golds})


def f1(answer: str, golds: Sequence[str], language: str) -> float:
    """Word-level F1 between an answer and that of one or more gold answers that gives the highest.

    In scripts without spaces between words each character is a word, as in MLQA's official script for Chinese (Lewis et
    al., 2020). If either has no words after normalisation, F1 is 1 if both have none, else 0, as in SQuAD 2.0
    (Rajpurkar et al., 2018).
    """
    said = split_words(normalised(answer, language))
    return max(_f1(said, split_words(normalised(gold, language))) for gold in golds)


def _f1(answer: list[str], gold: list[str]) -> float:
    if not answer or not gold:
        return float(answer == gold)
    shared = (Counter(answer) & Counter(gold)).total()
    return 2 * shared / (len(answer) + len(gold))

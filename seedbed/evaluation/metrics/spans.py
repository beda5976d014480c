"""Scores of answers that are spans of a text, as SQuAD computes them."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence

from seedbed.io import UserError

ARTICLES = {"eng": re.compile(r"\b(a|an|the)\b")}
"""Words without which answers are compared; SQuAD's are English's."""
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalised(text: str, language: str) -> str:
    """An answer as it is compared: in lower case, without punctuation of ASCII, articles and more than single blanks.

    Source: Rajpurkar et al. (2016), the official evaluation script; elsewhere than in English nothing is an article.

    Args:
        language: an ISO 639-3 code.
    """
    text = text.lower().translate(_PUNCTUATION)
    if language in ARTICLES:
        text = ARTICLES[language].sub(" ", text)
    return " ".join(text.split())


def exact_match(answer: str, golds: Sequence[str], language: str) -> float:
    """1 if the answer is one of the gold answers, normalised; else 0.

    Raises:
        UserError: no gold answers.
    """
    return float(normalised(answer, language) in {normalised(gold, language) for gold in _some(golds)})


def f1(answer: str, golds: Sequence[str], language: str) -> float:
    """F1 of the words that an answer shares with a gold answer, each as often as both have it; that of the best one.

    Where either is left without words, it is 1 if both are and else 0, as in SQuAD 2.0 (Rajpurkar et al., 2018).

    Raises:
        UserError: no gold answers.
    """
    return max(_f1(normalised(answer, language).split(), normalised(gold, language).split()) for gold in _some(golds))


def _f1(answer: list[str], gold: list[str]) -> float:
    if not answer or not gold:
        return float(answer == gold)
    shared = (Counter(answer) & Counter(gold)).total()
    return 2 * shared / (len(answer) + len(gold))


def _some(golds: Sequence[str]) -> Sequence[str]:
    if isinstance(golds, str) or not golds:
        raise UserError(f"spans: gold answers {golds!r}; expected a list of at least one text")
    return golds

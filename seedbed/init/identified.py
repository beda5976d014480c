"""Language identification by CLD2, which knows 165 languages; many low-resource languages are not among them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import pycld2
import regex

from seedbed.languages import registry

OTHERWISE = {
    **{"jav": "jw", "heb": "iw", "nob": "no"},
    # Languages that the registry lacks.
    **{"aar": "aa", "abk": "ab", "bis": "bi", "cos": "co", "div": "dv", "glv": "gv", "iku": "iu", "kal": "kl"},
    **{"nbl": "nr", "roh": "rm", "ton": "to", "ven": "ve"},
}
"""Language -> what CLD2 calls it, where that is neither its code of ISO 639-3 nor the registry's of ISO 639-1."""
SCRIPTS = {"zh-Hant": "zh"}
"""One language in two scripts, which CLD2 takes for two."""
NAMES = {code: name for name, code in pycld2.LANGUAGES if name in pycld2.DETECTED_LANGUAGES}
"""Code -> the name of a language, in capitals."""


class Identified(NamedTuple):
    """The language that most of a text is in."""

    name: str
    share: float
    """What part of the letters is in it."""
    expected: float
    """The share of the language that was expected."""


def code_of(code: str) -> str:
    """CLD2's code of a language (ISO 639-3); empty: CLD2 does not know the language."""
    names = (OTHERWISE.get(code), registry().get(code, {}).get("iso1"), code)
    return next((name for name in names if name in NAMES), "")


def identified(texts: Sequence[str], expected: str) -> Identified | None:
    """The language of texts that should be in `expected` (ISO 639-3); None: CLD2 is not sure.

    Source: Compact Language Detector 2, a naive Bayes classifier over parts of words.
    """
    text = regex.sub(r"\p{C}", " ", "\n".join(texts))  # what it refuses to read
    sure, _, found = pycld2.detect(text, isPlainText=True)
    shares: Counter[str] = Counter()
    for _, code, share, _ in found:
        shares[SCRIPTS.get(code, code)] += share / 100
    code = max(shares, key=lambda one: shares[one])
    if not sure or code not in NAMES:
        return None
    names = {code_of(one): row["name"] for one, row in registry().items()}
    name = names.get(code) or NAMES[code].capitalize()
    return Identified(name, shares[code], shares[code_of(expected)])

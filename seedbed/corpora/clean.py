"""Normal forms of a text: the one that is kept, and the one that is compared."""

from __future__ import annotations

import functools
import unicodedata

import regex

from seedbed.corpora.settings import Cleaning
from seedbed.io import UserError

_CONTROL = regex.compile(r"[\p{Cc}\p{Cf}\p{Co}\p{Cs}--[\s\u200c\u200d]]", regex.V1)
"""Control, format, private and surrogate characters that are no white space; the two joiners are spelling in Indic and
Arabic scripts."""
CONTROL = regex.compile(r"[\p{Cc}\p{Cs}]")
"""What no id or label may hold: tabs, line breaks, NUL and halves of characters among others."""
_SPACE = regex.compile(r"\s+")
_PUNCTUATION = regex.compile(r"[^\p{L}\p{M}\p{N}]+")
_LETTER = regex.compile(r"\p{L}")
_UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]")

UNICODE_SCRIPTS = {
    "Kore": ("Hang", "Hani"), "Jpan": ("Hira", "Kana", "Hani"), "Hrkt": ("Hira", "Kana"), "Hans": ("Hani",),
    "Hant": ("Hani",), "Hanb": ("Hani", "Bopo"), "Jamo": ("Hang",), "Aran": ("Arab",), "Cyrs": ("Cyrl",),
    "Geok": ("Geor",), "Latf": ("Latn",), "Latg": ("Latn",), "Syre": ("Syrc",), "Syrj": ("Syrc",), "Syrn": ("Syrc",),
}  # fmt: skip
"""Unicode scripts of those ISO 15924 codes that are no Unicode script themselves: styles and mixtures."""


def unicode_scripts(script: str) -> tuple[str, ...]:
    """The Unicode scripts of an ISO 15924 code; empty: it is no code, or one of no script (Zyyy, Zxxx, Qaaa)."""
    names = UNICODE_SCRIPTS.get(script, (script,))
    try:
        for name in names:
            regex.compile(rf"\p{{Script={name}}}")
    except regex.error:
        return ()
    return names if regex.fullmatch("[A-PR-Y][a-z]{3}", script) else ()


def clean(text: str) -> str:
    """NFC, white space (tabs and newlines too) as single blanks, no control characters, no blanks around.

    A clean text stays as it is: what is taken out goes first, since it may stand between two blanks, or between a
    letter and its mark.
    """
    return _SPACE.sub(" ", unicodedata.normalize("NFC", _CONTROL.sub("", text))).strip()


def comparable(text: str) -> str:
    """The form in which two texts count as the same: NFKC, case-folded, words of letters and digits only."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _PUNCTUATION.sub(" ", folded).strip()


def words(text: str) -> list[str]:
    """Words of a comparable text; characters in scripts that do not write blanks."""
    return _UNSPACED.sub(lambda match: f" {match[0]} ", comparable(text)).split()


def within_bounds(text: str, bounds: Cleaning) -> bool:
    """Whether a clean text lies within the bounds of length."""
    if not bounds.min_characters <= len(text) <= bounds.max_characters:
        return False
    return len(words(text)) >= bounds.min_words * (2 if _UNSPACED.search(text) else 1)


def script_share(text: str, script: str) -> float:
    """Share of a text's letters that belong to an ISO 15924 script, see `characters_of`; 1 without letters."""
    letters = "".join(_LETTER.findall(text))
    if not letters:
        return 1.0
    return len(regex.findall(f"[{characters_of(script)}]", letters)) / len(letters)


@functools.cache
def characters_of(script: str) -> str:
    """The characters of an ISO 15924 script inside a regular expression's brackets; a UserError if there are none."""
    if not (names := unicode_scripts(script)):
        raise UserError(f"script {script!r}: no such script; expected a code of ISO 15924 like Latn or Arab")
    return "".join(rf"\p{{Script={name}}}" for name in names)

"""Normal forms of a text: the one that is kept, and the one that is compared."""

from __future__ import annotations

import unicodedata

import regex

from seedbed.corpora.settings import Cleaning

_CONTROL = regex.compile(r"[\p{Cc}\p{Cf}\p{Co}\p{Cs}--[\u200c\u200d]]", regex.V1)
"""Control, format, private and surrogate characters; the two joiners are spelling in Indic and Arabic scripts."""
_SPACE = regex.compile(r"\s+")
_PUNCTUATION = regex.compile(r"[^\p{L}\p{M}\p{N}]+")
_LETTER = regex.compile(r"\p{L}")
_UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]")

UNICODE_SCRIPTS = {"Kore": ("Hang", "Hani"), "Jpan": ("Hira", "Kana", "Hani"), "Hans": ("Hani",), "Hant": ("Hani",)}
"""Unicode scripts of those ISO 15924 codes that are no Unicode script themselves."""


def clean(text: str) -> str:
    """NFC, white space (tabs and newlines too) as single blanks, no control characters, no blanks around."""
    # A control character may stand between two blanks, or between a letter and its accent.
    bare = _CONTROL.sub("", _SPACE.sub(" ", text))
    return _SPACE.sub(" ", unicodedata.normalize("NFC", bare)).strip()


def comparable(text: str) -> str:
    """The form in which two texts count as the same: NFKC, case-folded, words of letters and digits only."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _PUNCTUATION.sub(" ", folded).strip()


def words(text: str) -> list[str]:
    """Words of a comparable text; characters in scripts that do not write blanks."""
    return _UNSPACED.sub(lambda match: f" {match[0]} ", comparable(text)).split()


def within_bounds(text: str, bounds: Cleaning) -> bool:
    """Is a clean text a sentence of bearable length?"""
    if not bounds.min_characters <= len(text) <= bounds.max_characters:
        return False
    return len(words(text)) >= bounds.min_words * (2 if _UNSPACED.search(text) else 1)


def script_share(text: str, script: str) -> float:
    """Share of a text's letters that belong to an ISO 15924 script; 1 for a text without letters."""
    letters = _LETTER.findall(text)
    if not letters:
        return 1.0
    names = UNICODE_SCRIPTS.get(script, (script,))
    own = regex.compile("[" + "".join(rf"\p{{Script={name}}}" for name in names) + "]")
    return sum(bool(own.match(letter)) for letter in letters) / len(letters)

"""Normal forms of a text (for storing and for comparing), and its words, terms, length and script."""

import functools
import itertools
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator

import regex

from seedbed.corpora.settings import Cleaning
from seedbed.io import UserError

_CONTROL = regex.compile(
    r"[\p{Cc}\p{Cf}\p{Co}\p{Cs}--[\s\u200b\u200c\u200d]]"
    r"|(?<!\p{Line_Break=SA})\u200b|\u200b+(?!\p{Line_Break=SA}|\u200b)",
    regex.V1,
)
"""Control, format, private-use and surrogate characters other than white space. Three are spelling: the two joiners in
Indic and Arabic scripts, and the zero-width space, which separates words in Khmer, Thai and other scripts without
blanks (SA), where one between two of their letters remains.
"""
_UNREAD = regex.compile(r"[[\p{Cf}\u0640]--\u200c]", regex.V1)
"""What says nothing where texts are compared: soft hyphens, spaces without width, the joiner and other characters of
format, and tatweel, which stretches Arabic words. The non-joiner is written where others write a blank, and counts as
one.
"""
CONTROL = regex.compile(r"[\p{Cc}\p{Cs}]")
"""Characters that no id or label may contain: tabs, line breaks, NUL and surrogates among others."""
_SPACE = regex.compile(r"\s+")
_PUNCTUATION = regex.compile(r"[^[\p{L}\p{M}\p{N}]--[\u02bb\u02bc]]+", regex.V1)
"""With the two apostrophes that Unicode has as letters: a text may have any other in their place."""
LETTER = regex.compile(r"\p{L}")

_UNSPACED = r"\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{Line_Break=SA}"
"""Characters of scripts without blanks between words; SA (UAX 14): Thai, Lao, Khmer, Burmese, Shan and others."""
_CHARACTER = rf"(?=[{_UNSPACED}])\X"
_UNIT = regex.compile(rf"{_CHARACTER}|[^\s{_UNSPACED}]+")
_STRETCH = regex.compile(rf"(?:{_CHARACTER})+|[^\s{_UNSPACED}]+")
_IS_UNSPACED = regex.compile(f"[{_UNSPACED}]")

_HAN = regex.compile(r"\p{Han}")

RUN = 8
"""Words of a run, see `runs` and docs/data.md."""

UNICODE_SCRIPTS = {
    "Kore": ("Hang", "Hani"), "Jpan": ("Hira", "Kana", "Hani"), "Hrkt": ("Hira", "Kana"), "Hans": ("Hani",),
    "Hant": ("Hani",), "Hanb": ("Hani", "Bopo"), "Jamo": ("Hang",), "Aran": ("Arab",), "Cyrs": ("Cyrl",),
    "Geok": ("Geor",), "Latf": ("Latn",), "Latg": ("Latn",), "Syre": ("Syrc",), "Syrj": ("Syrc",), "Syrn": ("Syrc",),
}  # fmt: skip
"""Unicode scripts of the ISO 15924 codes that are not Unicode scripts themselves: styles and mixtures."""


def unicode_scripts(script: str) -> tuple[str, ...]:
    """The Unicode scripts of an ISO 15924 code; empty if it is not a code, or a code without a script (Zyyy, Zxxx,
    Qaaa).
    """
    names = UNICODE_SCRIPTS.get(script, (script,))
    try:
        for name in names:
            regex.compile(rf"\p{{Script={name}}}")
    except regex.error:
        return ()
    return names if regex.fullmatch("[A-PR-Y][a-z]{3}", script) else ()


def clean(text: str) -> str:
    """Normalise a text: NFC, white space (tabs and newlines too) as single blanks, no control characters, no blanks at
    the ends.

    Applied to its own result it changes nothing, because control characters are removed before blanks are joined and
    letters are composed.
    """
    return _SPACE.sub(" ", unicodedata.normalize("NFC", _CONTROL.sub("", text))).strip()


def comparable(text: str) -> str:
    """The form in which two texts count as equal: NFKC, case-folded, words of letters and digits only.

    Soft hyphens, the joiner and tatweel are left out, the non-joiner is a blank, and an apostrophe is no letter,
    whichever it is.
    """
    read = unicodedata.normalize("NFKC", text)  # before, since tatweel may come from a presentation form
    if _UNREAD.search(read):  # letters are composed after what stood between them is out
        read = unicodedata.normalize("NFKC", _UNREAD.sub("", read))
    return _PUNCTUATION.sub(" ", read.casefold()).strip()


def characters(text: str) -> list[str]:
    """Characters as people see them, letters with their marks (extended grapheme clusters, UAX 29)."""
    return regex.findall(r"\X", text)


def words(text: str) -> list[str]:
    """Words of a text after `comparable`; in scripts without spaces between words, its characters."""
    return split_words(comparable(text))


def split_words(text: str) -> list[str]:
    """A text split at blanks, and in scripts without blanks into characters."""
    return _UNIT.findall(text)


def terms(text: str) -> set[str]:
    """The set of words of a text in its comparable form; in scripts without blanks, of pairs of adjacent characters.

    Unrelated sentences in these scripts share about as few pairs as English ones share words (docs/data.md). A single
    character is a term too.
    """
    return {*counted_terms(text)}


def counted_terms(text: str) -> list[str]:
    """The terms of a text in their order, with repetitions."""
    return [term for stretch in _STRETCH.findall(comparable(text)) for term in _terms(stretch)]


def _terms(stretch: str) -> list[str]:
    if not _IS_UNSPACED.match(stretch):
        return [stretch]
    return [one + other for one, other in itertools.pairwise(characters(stretch))] or [stretch]


def runs(text: str) -> Iterator[tuple[str, ...]]:
    """Iterate over all runs of RUN consecutive words; in scripts without blanks, of 24 characters (12 of Han).

    Two texts share a run wherever they share a stretch of that length, even if the rest is in another script.
    """
    units = words(text)
    ends = [0, *itertools.accumulate(map(_thirds, units))]
    for first, start in enumerate(ends):
        last = bisect_left(ends, start + 3 * RUN)
        if last == len(ends):
            return
        yield tuple(units[first:last])


def _thirds(unit: str) -> int:
    """How much of a run a word or a character is, in thirds of a word."""
    if not _IS_UNSPACED.match(unit):
        return 3
    return 2 if _HAN.match(unit) else 1


def length(text: str) -> float:
    """The number of words of a text; in scripts without blanks two characters count as one word."""
    return sum(0.5 if _IS_UNSPACED.match(unit) else 1 for unit in words(text))


def within_bounds(text: str, bounds: Cleaning) -> bool:
    """Whether a clean text is within the bounds of length."""
    return bounds.min_characters <= len(text) <= bounds.max_characters and length(text) >= bounds.min_words


def script_share(text: str, script: str) -> float:
    """Share of a text's letters that belong to an ISO 15924 script; 1 without letters."""
    letters = "".join(LETTER.findall(text))
    if not letters:
        return 1.0
    return len(regex.findall(f"[{characters_of(script)}]", letters)) / len(letters)


@functools.cache
def characters_of(script: str) -> str:
    """The characters of an ISO 15924 script, for use inside brackets of a regular expression.

    Raises:
        UserError: no such script.
    """
    if not (names := unicode_scripts(script)):
        raise UserError(f"script {script!r}: no such script; expected a code of ISO 15924 like Latn or Arab")
    return "".join(rf"\p{{Script={name}}}" for name in names)

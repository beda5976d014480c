"""Extracting the numeric answer from a language model's text."""

import re
import unicodedata
from functools import cache

_LATEX = {
    re.compile(r"\{([.,])\}"): r"\1",
    re.compile(r",\\!"): ",",
    re.compile(r"(?<=\d)\\[ ,](?=\d)"): "\u202f",
}
"""LaTeX's separators within numbers, as in 10{,}000 and 10\\,000, and the characters that they print."""
_POINTS = r"(?:\.\d{3}){2,}|\.\d{3}(?=,\d+(?![.,]?\d))"
_EACH_POINT = r"(?:\.\d{3})+"


@cache
def _pattern(points: str) -> re.Pattern[str]:
    """Thousands separated by commas (also as in 1,23,456), spaces, apostrophes or `points`, a pattern; then maybe a
    decimal part.

    A full-width or Arabic comma separates thousands only: between other digits it separates clauses.
    """
    grouped = rf"[1-9]\d{{0,2}}(?:(?:,\d{{2,3}})*,\d{{3}}|(?:[ \u00a0\u202f\u066c，،'’]\d{{3}})+|{points})(?!\d)"
    return re.compile(rf"(?P<sign>(?<!\w)[-\u2212])?(?P<whole>{grouped}|\d+)(?:[.,\u066b．](?P<part>\d+))?")


def number(text: str, language: str = "") -> str:
    """The last number of a text in normal form, so that equal numbers give equal strings; empty if there is none.

    Digits of any script are read, and LaTeX as it prints. A comma, a space or an apostrophe before three digits
    separates thousands, another comma is a decimal comma, and a point is a decimal point unless there are several or a
    decimal comma follows. In a language that separates thousands by points, such as German, each point before three
    digits does. Leading zeros and trailing zeros of a fraction are dropped. A hyphen after a letter or digit is not a
    sign. Paper 002 scores MGSM by exact match and names no extraction.

    Args:
        language: its language, an ISO 639 code; empty, or one that CLDR does not have: points as in English.

    Example:
        >>> number("so it is 1,234.00"), number("১,২৩৪"), number("-0,50"), number("70.000", "deu")
        ('1234', '1234', '-0.5', '70000')
    """
    digits = "".join(str(unicodedata.decimal(character, character)) for character in text)
    for latex, printed in _LATEX.items():
        digits = latex.sub(printed, digits)
    if not (every := [*_pattern(_EACH_POINT if _groups_by_points(language) else _POINTS).finditer(digits)]):
        return ""
    found = every[-1]
    whole = re.sub(r"\D", "", found["whole"]).lstrip("0") or "0"
    part = (found["part"] or "").rstrip("0")
    value = f"{whole}.{part}" if part else whole
    return f"-{value}" if found["sign"] and value != "0" else value


@cache
def _groups_by_points(language: str) -> bool:
    """Whether a language separates thousands by points, by CLDR."""
    from babel import UnknownLocaleError
    from babel.numbers import get_group_symbol

    try:
        return bool(language) and get_group_symbol(language.partition("-")[0]) == "."
    except UnknownLocaleError:
        return False

"""Extracting the numeric answer from a language model's text."""

import re
import unicodedata

_POINTS = r"(?:\.\d{3}){2,}|\.\d{3}(?=,\d+(?![.,]?\d))"
_GROUPED = rf"[1-9]\d{{0,2}}(?:(?:,\d{{2,3}})*,\d{{3}}|(?:[ \u00a0\u202f\u066c，]\d{{3}})+|{_POINTS})(?!\d)"
"""Thousands apart by commas (also as in 1,23,456), by spaces, by two points or more, or by one before a decimal comma.
A full-width comma parts thousands alone: between other digits it parts a sentence."""
_NUMBER = re.compile(rf"(?P<sign>(?<!\w)[-\u2212])?(?P<whole>{_GROUPED}|\d+)(?:[.,\u066b．](?P<part>\d+))?")


def number(text: str) -> str:
    """The last number of a text in normal form, so that equal numbers give equal strings; empty if there is none.

    Digits of any script are read. A comma or a space before three digits separates thousands, another comma is a
    decimal comma, and a point is a decimal point unless there are several or a decimal comma follows. Leading zeros and
    trailing zeros of a fraction are dropped. A hyphen after a letter or digit is not a sign. Paper 002 scores MGSM by
    exact match and names no extraction.

    Example:
        >>> number("so it is 1,234.00"), number("১,২৩৪"), number("-0,50")
        ('1234', '1234', '-0.5')
    """
    digits = "".join(_ascii(character) for character in text)
    if not (every := [*_NUMBER.finditer(digits)]):
        return ""
    found = every[-1]
    whole = re.sub(r"\D", "", found["whole"]).lstrip("0") or "0"
    part = (found["part"] or "").rstrip("0")
    value = f"{whole}.{part}" if part else whole
    return f"-{value}" if found["sign"] and value != "0" else value


def _ascii(character: str) -> str:
    """A digit of any script as 0 to 9; other characters as they are."""
    value = unicodedata.decimal(character, None)
    return character if value is None else str(value)

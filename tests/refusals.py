"""What a refusal must say: its key and what its remedy hangs on, and not each word of its sentence."""

from __future__ import annotations

import re


def pattern(expected: str) -> str:
    """A regular expression of what is expected: parts with ` ... ` between them, in this order and in one line."""
    return ".*".join(map(re.escape, expected.split(" ... ")))


def tells(line: str, expected: str) -> bool:
    return re.search(pattern(expected), line) is not None

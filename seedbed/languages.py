"""The language registry: facts about languages that come with Seedbed."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from seedbed.io import read_table
from seedbed.resources import resource

REGISTRY = resource("languages.tsv")

ANY = "mul"
"""ISO 639-3 code for several languages; encoders that do not depend on a language, such as recipe base, are under it.
"""


@cache
def registry(path: Path = REGISTRY) -> dict[str, dict[str, str]]:
    """Code -> its columns; an empty cell means that the resource does not have the language.

    A code is ISO 639-3, or a collection of ISO 639-5 that a test set uses (`ber`, `btk`); followed by `-` and a script
    if the language has another row in another script (`hin-Latn`: Hinglish).
    """
    table = read_table(path, ["code", "name", "script"], unique="code")
    return {row["code"]: row for row in table.to_dict("records")}


def called(name: str) -> str:
    """The code of a language by its code, English name, ISO 639-1 code or FLORES code (`KIN`, `rw`, `kin_Latn`); "" if
    unknown. A code comes before the name of another language.
    """
    asked = name.casefold()
    if found := next((code for code in registry() if code.casefold() == asked), ""):
        return found
    names = ("iso1", "name", "flores")
    return next((code for code, row in registry().items() if asked in {row[key].casefold() for key in names}), "")


PLACEHOLDER = re.compile(r"\{([^\W\d]\w*)\}")
"""A name in braces, such as `{flores}`; not `{3}`, which is part of a regular expression."""


def placeholders(text: str) -> list[str]:
    """The names in braces in a text."""
    return PLACEHOLDER.findall(text)


def filled(text: str, facts: Mapping[str, str]) -> str:
    """A text with the values of one language for its placeholders."""
    return PLACEHOLDER.sub(lambda found: facts[found[1]], text)

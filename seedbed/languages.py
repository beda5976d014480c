"""The language registry: what is known of a language before a study says anything."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from seedbed.io import read_table
from seedbed.resources import resource

REGISTRY = resource("languages.tsv")

ANY = "mul"
"""ISO 639-3 for several languages: where the encoders of recipe base lie, which belong to none."""


@cache
def registry(path: Path = REGISTRY) -> dict[str, dict[str, str]]:
    """Code -> its columns; an empty cell means that the resource lacks the language.

    A code is ISO 639-3, or a collection of ISO 639-5 that a test set calls so (`ber`, `btk`); `-` and a script after it
    where the language has a row in another script too, or is written otherwise than usual (`hin-Latn`: Hinglish).
    """
    table = read_table(path, ["code", "name", "script"], unique="code")
    return {row["code"]: row for row in table.to_dict("records")}


def called(name: str) -> str:
    """The code of the language that English, ISO 639-1 or FLORES calls so (`rw`, `kin_Latn`), or nothing."""
    names = ("iso1", "name", "flores")
    found = (code for code, row in registry().items() if name.casefold() in {row[key].casefold() for key in names})
    return next(found, "")


def placeholders(text: str) -> list[str]:
    """The columns of the registry that a text names, like `{flores}`."""
    return re.findall(r"\{([^\W\d]\w*)\}", text)


def filled(text: str, facts: Mapping[str, str]) -> str:
    """A text with the columns of one language in the place of their names."""
    for name in placeholders(text):
        text = text.replace(f"{{{name}}}", facts[name])
    return text

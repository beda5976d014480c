"""Files of chosen translations: the English of each text, and whose it is."""

from collections.abc import Callable, Sequence
from itertools import compress
from pathlib import Path
from typing import NamedTuple

from seedbed.io import UserError, read_table


class ChosenEnglish(NamedTuple):
    """The translator whose English translation of a text was chosen, and those among whom it was chosen."""

    translator: str
    usable: tuple[str, ...]
    """The translators whose English could be."""


Chooser = Callable[[Sequence[str]], list[ChosenEnglish]]
"""Texts to whose English was chosen for each."""


def read_english(files: Sequence[Path]) -> dict[str, str]:
    """Text -> the English that was chosen for it, of several files of choices.

    Raises:
        UserError: as `read_table`; or a text has two different translations.
    """
    found: dict[str, str] = {}
    for file in files:
        table = read_table(file, ["id", "text", "english"])
        for text, english in zip(table["text"], table["english"], strict=True):
            if found.setdefault(text, english) != english:
                raise UserError(f"{file}: {text[:60]!r} has other English here than before; have it chosen again")
    return found


def read_choices(files: Sequence[Path]) -> dict[str, ChosenEnglish]:
    """Text -> the translator whose English was chosen for it, of several files of choices.

    Raises:
        UserError: as `read_table`; or there is no column of a translator's probability.
    """
    ending, found = ":probability", {}
    for file in files:
        table = read_table(file, ["id", "text", "translator"])
        chances = {name.removesuffix(ending): table[name] for name in table.columns if name.endswith(ending)}
        if not chances:
            raise UserError(f"{file}: no column ends in {ending!r}; expected one for each translator")
        there = zip(*(column != "" for column in chances.values()), strict=True)
        for text, translator, usable in zip(table["text"], table["translator"], there, strict=True):
            found[text] = ChosenEnglish(translator, tuple(compress(chances, usable)))
    return found

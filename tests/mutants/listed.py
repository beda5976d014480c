"""The planted bugs that the files beside this one list, and how one is put into a text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from seedbed import yamls

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Mutant:
    """A bug: a text in a file, the text in its place, and the tests of which one must then fail."""

    room: str
    name: str
    file: str
    old: str
    new: str
    tests: str
    """Words for pytest: files, and perhaps `-k` with an expression."""
    why: str
    """What would silently be wrong."""
    within: str = ""
    """The definition or rule that holds the text (`def vote`, `rule plot`); left out, the file."""
    must_die: bool = False
    """It survived once: its survival is an error, whatever the share."""


class StaleError(ValueError):
    """The list does not fit the code."""


def mutants() -> list[Mutant]:
    """All of them, room by room."""
    found = []
    for path in sorted(FOLDER.glob("*.yaml")):
        for group in yamls.read(path):
            shared = {"room": path.stem, "file": group["file"], "tests": group["tests"]}
            found += [Mutant(**shared | mutant) for mutant in group["mutants"]]
    return found


def planted(mutant: Mutant, text: str) -> str:
    """A file's text with the bug in it.

    Raises:
        StaleError: the old text is not there, or stands there twice.
    """
    start, end = _place(mutant, text)
    if (count := text[start:end].count(mutant.old)) != 1:
        raise StaleError(
            f"{mutant.file}: {mutant.old!r} stands {count} times {mutant.within and 'in ' + mutant.within}"
        )
    return text[:start] + text[start:end].replace(mutant.old, mutant.new) + text[end:]


def stale(chosen: Iterable[Mutant]) -> list[str]:
    """What of a list fits the code no longer, a line each."""
    found = []
    for mutant in chosen:
        try:
            if planted(mutant, text := Path(mutant.file).read_text(encoding="utf-8")) == text:
                found.append(f"{mutant.room}: {mutant.name}: {mutant.file}: it changes nothing")
        except (StaleError, OSError) as error:
            found.append(f"{mutant.room}: {mutant.name}: {error}")
        files = (word.partition("::")[0] for word in mutant.tests.split() if word.startswith("tests/"))
        found += [f"{mutant.room}: {mutant.name}: no {file}" for file in files if not Path(file).exists()]
    return found


def _place(mutant: Mutant, text: str) -> tuple[int, int]:
    """Where the definition begins and ends that holds the old text; it ends before the next line as far to the left."""
    if not mutant.within:
        return 0, len(text)
    if not (head := re.search(rf"^( *){re.escape(mutant.within)}\b", text, flags=re.M)):
        raise StaleError(f"{mutant.file}: no {mutant.within!r}")
    following = re.compile(rf"^ {{0,{len(head[1])}}}[^\s)]", flags=re.M).search(text, head.end())
    return head.start(), following.start() if following else len(text)

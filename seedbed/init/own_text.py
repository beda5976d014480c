"""Text files of a user: their sentences, and what language they are in."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import islice, pairwise
from math import ceil
from pathlib import Path
from typing import NamedTuple

import regex

from seedbed.corpora.read.forms import text_of
from seedbed.corpora.select.language_id import LanguageId, as_many
from seedbed.corpora.settings import Cleaning
from seedbed.corpora.shape.clean import (
    LETTER,
    characters_of,
    clean,
    comparable,
    script_share,
    unicode_scripts,
    within_bounds,
)
from seedbed.init import table_files
from seedbed.init.encodings import conversion, require_text
from seedbed.init.identified import code_of, identified
from seedbed.io import UserError, read_table
from seedbed.languages import called, registry
from seedbed.names import CODE
from seedbed.resources import resource
from seedbed.settings import suggest

LINES = 2000
"""Number of lines that are read to identify the language."""
LEAST = 64
"""Minimum number of sentences: those of a batch of `adjacent`."""
_CLEANING = Cleaning()
PIECE = 20 * _CLEANING.max_characters
"""Number of characters of a line that are read. A longer line has more than cleaning keeps, unless most are blanks."""
_BOUNDS = (
    f"of {_CLEANING.min_words} words or more and {_CLEANING.min_characters} to {_CLEANING.max_characters} characters, "
    "each counted once"
)
DIVIDED = "divide paragraphs into sentences, as docs/your-language.md shows with sed"
SHARE = 0.6
"""Minimum share of texts that have letters, and of letters in the language's script; also the minimum accuracy, above
chance, against English sentences.
"""
FOREIGN = 0.05
"""A text with a smaller share of sentences in its supposed language is in another language."""
ENGLISH = resource("demo/nli.eng.tsv")
NUMBERED = regex.compile(r"\d+\t")
"""How the lines of a text begin that are numbered, as in the Leipzig corpora."""
OTHERWISE = {
    r"\d+,": "begin with a number and a comma, as of a table; name it .csv, with the names of its columns first",
    r".*\t": "have tabs, as of a table; name it .tsv, with the names of its columns first",
    r"\s*\{.*\}\s*$": "are objects of JSON; name it .jsonl",
    r".*</?[A-Za-z][^<>]*>": "have markup, like <p>; save it as plain text, one sentence a line",
}
"""How the lines begin of what is no text -> what they do, and what would be right."""
MOST = 0.9
"""Share of lines like that above which they are no text, or their numbers no part of it."""
SCRIPTS = (
    "Latn", "Cyrl", "Arab", "Ethi", "Deva", "Beng", "Hebr", "Grek", "Thai", "Telu", "Taml", "Mymr", "Khmr",
    "Tibt", "Geor", "Armn", "Gujr", "Guru", "Orya", "Knda", "Mlym", "Sinh", "Laoo", "Thaa", "Adlm", "Nkoo",
    "Tfng", "Vaii", "Cans", "Cher", "Mong", "Syrc", "Olck", "Mtei", "Cakm", "Rohg", "Lisu", "Yiii", "Bali",
    "Java", "Sund", "Lana", "Osge", "Hang", "Hani", "Hira",
)  # fmt: skip
"""Candidate scripts for a language whose script is unknown: those that are in use (Unicode Standard Annex 31, tables 5
and 7)."""


class Guess(NamedTuple):
    """The identified language of a text."""

    code: str
    name: str
    script: str
    why: str
    sure: bool = False
    """Whether the user named the language, so that it is not checked."""


def sentences(path: Path) -> list[str]:
    """The sentences that a run keeps of the first LINES lines of a text, or of a table's column `text`.

    Raises:
        UserError: no such file, not UTF-8 (with a guess of what it is), no column `text`, or too few sentences.
    """
    found = _first_lines(path)
    if len(kept := _kept(found)) < LEAST:
        long = sum(len(text) > _CLEANING.max_characters for text in found)
        remedy = f"one a line; {long} lines are longer: {DIVIDED}" if long else "one a line"
        raise UserError(
            f"{path}: {len(kept)} sentences among its first {len(found)} lines, {_BOUNDS}; at least {LEAST} are "
            f"needed, {remedy}"
        )
    return kept


def _first_lines(path: Path) -> list[str]:
    """A piece of each of the first lines that are not blank; raises as `sentences`, but for too few."""
    table_files.require_file(path, "a text with one sentence a line")
    if table_files.is_table(path):
        return pieces(table_files.read(path, ["text"])["text"])
    require_text(path)
    lines = list(islice(lines_of(path), LINES))
    if _are(lines, NUMBERED):
        made = path.with_name(f"{path.stem}.text{path.suffix}")
        raise UserError(
            f"{path}: its lines begin with a number and a tab; take them away: "
            f"cut -f 2- < {shlex.quote(str(path))} > {shlex.quote(str(made))}"
        )
    for pattern, said in OTHERWISE.items():
        if _are(lines, regex.compile(pattern)):
            raise UserError(f"{path}: its lines {said}")
    return pieces(lines)


def _are(lines: list[str], pattern: regex.Pattern[str]) -> bool:
    """Whether a pattern matches the beginning of most lines that are not blank."""
    lines = [line for line in lines if line.strip()]
    return sum(bool(pattern.match(line)) for line in lines) > MOST * len(lines)


def pieces(texts: Iterable[str]) -> list[str]:
    """The clean beginnings, of at most PIECE characters, of the first LINES texts, without blank ones."""
    return [piece for text in islice(texts, LINES) if (piece := clean(text[:PIECE]))]


def _kept(texts: list[str]) -> list[str]:
    """Those that a run does not leave out; of those that count as the same the first."""
    kept: dict[str, str] = {}
    for text in texts:
        if within_bounds(text, _CLEANING):
            kept.setdefault(comparable(text), text)
    return list(kept.values())


def left_out(path: Path) -> list[str]:
    """A message about what a run leaves out of the first lines of a text; empty if that is less than a tenth."""
    lines = _first_lines(path)
    fitting, kept = sum(within_bounds(text, _CLEANING) for text in lines), len(_kept(lines))
    lost = len(lines) - kept
    if lost < len(lines) / 10:
        return []
    long = sum(len(text) > _CLEANING.max_characters for text in lines)
    remedy = f"Of {long} longer ones, {DIVIDED}." if long else "Put each on a line."
    if (repeated := fitting - kept) > lost / 2:
        remedy = f"{repeated} repeat a line before them."
    return [f"A run leaves out {lost} of the first {len(lines)} lines: sentences are {_BOUNDS}. {remedy}"]


def wrapped(path: Path) -> list[str]:
    """A message about lines of a text that are broken at a width; empty if those are half of them or fewer.

    Such a line ends where the next one's first word would pass the width, which all but a few long lines have.
    """
    lines = [] if table_files.is_table(path) else _first_lines(path)
    width = max(sorted(map(len, lines))[: ceil(0.95 * len(lines))], default=0)
    heads = [(len(line), len(after.split(" ", 1)[0])) for line, after in pairwise(lines) if " " in after]
    if 2 * sum(line + 1 + word > width for line, word in heads) <= len(lines):
        return []
    joined = """awk -v RS= '{gsub(/\\n/, " ")} 1'"""
    return [
        f"Its lines seem to be broken at {width} characters, within sentences: join those of each paragraph by "
        f"{joined}, then {DIVIDED}."
    ]


def lines_of(path: Path) -> Iterator[str]:
    """Iterate over the lines of a text file, each cut to `PIECE` characters, in the encoding and line ends of a run.

    Raises:
        UserError: the file is not UTF-8; the message has a command that converts it.
    """
    with path.open("rb") as stream:
        try:
            for part in text_of(stream, str(path)):
                yield from (line[:PIECE] for line in part.removesuffix("\n").split("\n"))
        except UserError as error:
            if not isinstance(error.__context__, UnicodeDecodeError):
                raise
            raise UserError(f"{error}; from Windows-1252, say, by: {conversion(path, 'WINDOWS-1252')}") from None


def neighbours(path: Path, count: int) -> int:
    """The number of pairs of consecutive lines, among the first `count` of a text, that a run keeps; equal ones count
    once.
    """
    lines = [clean(line) for line in islice(lines_of(path), count)]
    kept = [comparable(line) if within_bounds(line, _CLEANING) else "" for line in lines]
    return len({(one, other) for one, other in pairwise(kept) if one and other})


def are_sorted(path: Path) -> bool:
    """Whether nearly all of the first LINES lines of a text are in alphabetical order, numbers aside."""
    lines = [regex.sub(r"\d", "", comparable(line)) for line in islice(lines_of(path), LINES)]
    after = [one < other for one, other in pairwise(lines) if one != other]
    return sum(after) > MOST * len(after)


def language_of(
    path: Path, texts: list[str], code: str = "", name: str = "", script: str = "", *, sure: bool = False
) -> Guess:
    """The language of a text: the one that is named, or that the file is named after; where the user is `sure`, it is
    not checked.

    Raises:
        UserError: none is named, an unknown one has no name, or the text is in another script, or in another language.
    """
    why = "as --language says"
    parts = [part for part in regex.split(r"[._\s-]+", path.stem) if len(part) > 1]
    if not code:
        code, why = next(filter(None, map(called, reversed(parts))), ""), f"as the file is named {path.name}"
    else:
        code = called(code) or code
    if not code:
        remedy = "give --language, a code of ISO 639-3 like kin"
        raise UserError(f"{path}: its name has no language that is known; {remedy}{_meant(parts)}")
    row = registry().get(code, {})
    if not regex.fullmatch(CODE, code):
        raise UserError(f"--language {code}: expected a code of ISO 639-3, three letters like kin")
    if not (name or row.get("name")):
        near = suggest(code, sorted(registry()))
        raise UserError(f"--language {code}: not in the language registry; {near}; or give --name, its English name")
    if script and not unicode_scripts(script):
        raise UserError(f"--script {script}: not known; expected a script of ISO 15924, like Latn")
    if not (script := script or row.get("script") or _script(texts)):
        raise UserError(f"{path}: its letters are in no script that is known; give --script, of ISO 15924, like Latn")
    found = Guess(code, name or row["name"], script, why, sure)
    require_language(str(path), texts, found)
    if not (sure or code == "eng") and (seen := distinguished(texts)) < (1 + SHARE) / 2:
        raise UserError(
            f"{path}: reads like English: {1 - seen:.0%} of sentences cannot be distinguished; expected {found.name}"
        )
    return found


def _meant(parts: list[str]) -> str:
    """The known code that a part of a file's name is like, if that may be a code of ISO 639-3, as a question."""
    for part in reversed(parts):
        near = suggest(part.lower(), sorted(registry())) if regex.fullmatch(r"[A-Za-z]{3}", part) else ""
        if near.startswith("did you mean"):
            return f"; {part}: {near}"
    return ""


def _script(texts: list[str]) -> str:
    """The script of most letters; empty: none of SCRIPTS."""
    text = " ".join(texts[:200])
    counts = {script: len(regex.findall(f"[{characters_of(script)}]", text)) for script in SCRIPTS}
    return max(counts, key=lambda script: counts[script]) if any(counts.values()) else ""


def distinguished(texts: Sequence[str]) -> float:
    """The share of texts, and of as many English sentences, that are distinguished from each other.

    Half of each trains, and half is classified: English cannot be distinguished from English.
    """
    own, other = as_many(texts, _english())
    told = LanguageId(own[::2], other[::2])
    seen = float(told.in_language(own[1::2]).mean()), 1 - float(told.in_language(other[1::2]).mean())
    return sum(seen) / 2


def english_share(known: Sequence[str], texts: Sequence[str]) -> float:
    """The share of texts that read like English, and not like the sentences that are known to be in their language."""
    return 1 - float(_told_from_english(tuple(known)).in_language(texts).mean())


@lru_cache(maxsize=1)
def _told_from_english(known: tuple[str, ...]) -> LanguageId:
    """What learnt from sentences and as many English ones: the same for all columns of all tables."""
    return LanguageId(*as_many(known, _english()))


@cache
def _english() -> tuple[str, ...]:
    """English sentences, from which the language of a text is distinguished."""
    return tuple(read_table(ENGLISH, ["anchor"])["anchor"])


def require_language(where: str, texts: list[str], language: Guess) -> None:
    """Require that most texts have letters, in the script of their language, and, if CLD2 knows the language, that they
    are in no other one.

    Args:
        where: what the texts are, for the message.

    Raises:
        UserError: one of these is not so.
    """
    if (lettered := sum(bool(LETTER.search(text)) for text in texts) / len(texts)) < SHARE:
        raise UserError(f"{where}: {lettered:.0%} of its texts have letters; expected sentences in {language.name}")
    share = sum(script_share(text, language.script) for text in texts) / len(texts)
    if share < SHARE:
        raise UserError(
            f"{where}: {share:.0%} of its letters are {language.script}, in which {language.name} is written, and most "
            f"are {_script(texts) or 'of no known script'}; give another text, or --language and --script of this one"
        )
    if language.sure or not code_of(language.code) or not (found := identified(texts, language.code)):
        return
    if found.share >= SHARE and found.expected < FOREIGN:
        raise UserError(
            f"{where}: {found.share:.0%} of it reads like {found.name}; expected {language.name}, {language.why}; give "
            "another text, or --language of this one, or --sure if it is right"
        )


def remark(texts: list[str], language: Guess) -> str:
    """A message on how well the language of texts that passed the checks is known."""
    if language.sure:
        return "Whether the text is in that language was not checked."
    if not code_of(language.code):
        return (
            f"The text is not English; whether it is {language.name}, which CLD2 does not know by the code "
            f"{language.code}, or another language with the same script was not seen."
        )
    if not (found := identified(texts, language.code)):
        return "CLD2 is not sure which language the text is in."
    return f"CLD2 reads {found.expected:.0%} of the text as {language.name}."

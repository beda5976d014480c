"""Which data may have rows in common: what encoders train on as a whole, and what tests and choices read."""

import math
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from glob import escape
from itertools import product, starmap
from pathlib import Path
from typing import Any

from seedbed.corpora.settings import SPLIT_BY, Source
from seedbed.study.model import Study, once_per_study
from seedbed.urls import without_secrets

TRAINED_ON_WHOLE = ("pairs", "matched_pairs", "retrieval")
"""Kinds of corpora that encoders train on as a whole, without sampling."""
ONE_TEXT = ("text", "messages")
"""Formats with one column of texts, `text`."""
SPLITS = {
    "train": {"train", "training"},
    "validation": {"validation", "valid", "val", "dev"},
    "test": {"test", "testing", "eval", "evaluation"},
}
"""Split -> words in names of files by which the hub takes them for it; files with none of these are of `train`."""
CONVERTED = "refs/convert/parquet"
"""Branch of a hub data set in which the files of each configuration are in a folder of its name."""
ARCHIVE = re.compile(r"\.(zip|tar|tar\.gz|tgz)$", re.IGNORECASE)
"""Ending of a file that has files."""
SEPARATE = "separate them by `where`, by `buckets` with the same `buckets_by`, or by `skip` and `first`"
"""What to do with data that must have no rows in common, for messages."""
TOKENS = re.compile(r"\[([*?[])\]|([*?]|\[[^\]]+\])|(.)", re.DOTALL)
"""Parts of a pattern: an escaped character, a wildcard, or another character."""


def trained_on_whole(study: Study, corpus: str) -> bool:
    """Whether encoders train on every row of a corpus: pairs, queries, or a text whose translations are candidates."""
    translated = {recipe.data.candidates for recipe in study.recipes.values() if recipe.data}
    return study.roles.get(corpus) in TRAINED_ON_WHOLE or corpus in translated


def require_untested(study: Study, where: str, corpus: str, code: str, *, writes: bool = False) -> None:
    """Require that a corpus that is trained on is not read from the place of a test set, in whatever language.

    Args:
        where: the key of what is trained, for the message.
        writes: True for what writes the texts of encoders, which no test of classifiers alone is about.

    Raises:
        ValueError: it may share rows with one.
    """
    found = _tests_with_rows(study, corpus, code)
    if found := [one for one in found if study.of_encoders(one[0]) or not writes]:
        task, tested = found[0]
        place = task if tested == code else f"{task} in {tested}"
        raise ValueError(
            f"{where}: {corpus} of {code} has rows of the test set of {place}; train on another split, or {SEPARATE}"
        )


@once_per_study
def _tests_with_rows(study: Study, corpus: str, code: str) -> list[tuple[str, str]]:
    """Task and language, or order of two, of each test set that may share rows with a corpus, those of its language
    first.
    """
    source = study.corpus(corpus, code)
    if source is None:
        return []
    readings = [*_readings(source)]
    found = [(task, lang) for task, lang, tested in _tests(study) if _share(readings, tested)]
    return sorted(found, key=lambda one: (one[1] != code, one))


@once_per_study
def _tests(study: Study) -> list[tuple[str, str, list[list[Source]]]]:
    """Task, language or order of two, and `_readings` of each test set."""
    places = [*product(study.tasks, study.languages), *study.own_sets]
    return [(task, code, [*_readings(test)]) for task, code in places if (test := study.test(task, code))]


def share_rows(one: Source, other: Source) -> bool:
    """Whether two sources may share rows: sets or top-ups of them read one place, and no setting separates them."""
    return _share([*_readings(one)], [*_readings(other)])


def _share(ours: list[list[Source]], theirs: list[list[Source]]) -> bool:
    """`share_rows` of the `_readings` of two sources."""
    return any(
        _same_place(some[-1], others[-1]) and not any(starmap(_separate, product(_levels(some), _levels(others))))
        for some, others in product(ours, theirs)
    )


def _readings(source: Source) -> Iterator[list[Source]]:
    """Each source whose rows a source may have, after those that it is a set of, whose settings hold for it too.

    Not those in `join`, whose columns its rows get: test sets and training data may have one text in English.
    """
    if not source.sets:
        yield [source]
    for one in source.sets.values():
        yield from ([source, *inner] for inner in _readings(one))
    for more in (source.topped_up(), source.otherwise):
        if more:
            yield from _readings(more)


def _levels(sources: list[Source]) -> list[list[Source]]:
    """Each source of a list of `_readings`, with those after it."""
    return [sources[place:] for place in range(len(sources))]


def _separate(some: list[Source], others: list[Source]) -> bool:
    """Whether settings of the first sources of two lists, see `_levels`, leave no row that both have."""
    one, other = some[0], others[0]
    wheres = product(_wheres(some), _wheres(others))
    return (
        any(column == its and not _same_value(values, its_values) for (column, values), (its, its_values) in wheres)
        or (_parted(one.buckets, other.buckets) and _hashed(some) == _hashed(others))
        # Of two sets of one source, whose rows follow one another, a row of the one is another row of the other.
        or (_parted(_rows(one), _rows(other)) and _numbering(one) == _numbering(other) and some[1:] == others[1:])
    )


def _wheres(sources: list[Source]) -> Iterator[tuple[Any, list[str]]]:
    """Of each column in `where` of the first source where its texts are from, as of `_columns`, and its values."""
    source, *inner = sources
    known = _columns(inner)[0] if inner else {}
    return ((known.get(column, column), values) for column, values in source.where.items())


def _hashed(sources: list[Source]) -> tuple[Any, ...]:
    """What the `buckets` of the first source hash, as of `_columns`; of two equal ones, a row has the same text."""
    columns, more = _columns(sources)
    if by := sources[0].buckets_by:
        return (columns.get(by, by),)
    if more and SPLIT_BY[0] not in columns:
        # The file's own first column, which is this one if it is there, unless it is one of those that are changed.
        return (SPLIT_BY[0], *(columns[name] for name in SPLIT_BY if name in columns))
    first = next((name for name in (*SPLIT_BY, *columns) if name in columns and name != "id"), "")
    return (columns.get(first, ""),)


def _columns(sources: list[Source]) -> tuple[dict[str, Any], bool]:
    """Our columns of a source -> where their texts are from: the column's name in the file, with what changes it.

    Args:
        sources: the source; if it has sets, one of them after it.

    Returns:
        The columns that settings name, and whether there are others, whose names only the file has.
    """
    source, *inner = sources
    known, more = _columns(inner) if inner else ({"text": "text"}, False) if source.form in ONE_TEXT else ({}, True)
    parts = {
        part: (_origin_of(column, known), place)
        for column, names in sorted(source.divide.items())
        for place, part in enumerate(names)
    }
    known |= parts
    if source.columns:
        # In the order in which a job has them.
        known, more = parts | {ours: _origin_of(name, known) for ours, name in sorted(source.columns.items())}, False
    for column in source.join:
        other, matching = source.joined(column)
        its, its_more = _columns([other])
        added = {name: (_places(other), its[name]) for name in its if name not in ("id", *matching.by.values())}
        known |= added if matching.by else {column: next(iter(added.values()), (_places(other), ""))}
        more = more or (its_more and bool(matching.by))
    for name in {*source.replace, *source.transliterate, *source.explode}:
        expressions = [*source.replace.get(name, {}).items()]
        changes = (expressions, source.transliterate.get(name), source.explode.get(name))
        known[name] = (known.get(name, name), changes)
    if source.following:
        known |= {new: ("following", known.get(old, old)) for new, old in source.following.columns.items()}
    return known, more


def _origin_of(name: str | int | list[str], known: dict[str, Any]) -> Any:
    """Where the texts are from of a column that a source names, or of several that it joins."""
    return [_origin_of(one, known) for one in name] if isinstance(name, list) else known.get(name, name)


def _parted(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Whether two ranges, each from its first number up to its last, have no number in common."""
    return max(one[0], other[0]) >= min(one[1], other[1])


def _rows(source: Source) -> tuple[float, float]:
    """The rows that a source reads of all that its files have, which follow one another."""
    return source.skip, math.inf if source.first is None else source.skip + source.first


def _numbering(source: Source) -> tuple[Any, ...]:
    """What says which row of its files a number is: read by position, the header is a row."""
    return source.sets, _places(source), source.form, source.by_position


def _places(source: Source) -> list[str]:
    """What a source reads, as patterns: a split of a hub data set, or files; all of an archive if none is named."""
    member = source.member or ""
    if source.file:
        inside = member if _has_wildcard(member) else ""
        # A link in a folder is what it leads to.
        path = escape(str(Path(source.file, "" if inside else member).resolve()))
        inside = inside or ("*" if ARCHIVE.search(path) else "")
        return [f"{path}/{inside}" if inside else path]
    hub = (source.hub or "").casefold()
    if hub and not member:
        return [f"{escape(hub)}/{escape(source.config) if source.config else '*'}/{escape(source.split)}"]
    url = re.sub("^[a-z]+://", "", without_secrets(source.archive or ""))
    return [f"{escape(origin)}/{member or '*'}" for origin in source.package or [hub or url]]


def _same_place(one: Source, other: Source) -> bool:
    """Whether two sources without sets may read the same split or file."""
    if one.hub and other.hub and bool(one.member) != bool(other.member):
        by_file, by_split = (one, other) if one.member else (other, one)
        config = by_split.config if by_file.revision == CONVERTED else None
        if config and not _overlap(by_file.member, f"{escape(config)}/*"):
            return False
        return one.hub.casefold() == other.hub.casefold() and _of_split(by_file.member, by_split.split)
    return any(starmap(_overlap, product(_places(one), _places(other))))


def _of_split(member: str, split: str) -> bool:
    """Whether files of a hub data set may be of a split: the split that their name says, as the hub reads it."""
    words = {*re.findall(r"[a-z]+", member.casefold())}
    named = {name for name, keywords in SPLITS.items() if words & keywords}
    if named or not _has_wildcard(member):
        return split.casefold() in (named or {"train"}) or split.casefold() in words
    return True


def _same_value(some: list[str], others: list[str]) -> bool:
    """Whether a value of one `where` is one of the other, either of which may be a prefix: *."""
    return any(
        one == other
        or (one.endswith("*") and other.removesuffix("*").startswith(one[:-1]))
        or (other.endswith("*") and one.removesuffix("*").startswith(other[:-1]))
        for one, other in product(some, others)
    )


def _has_wildcard(name: str) -> bool:
    """Whether a name is a pattern."""
    return bool({*"*?["} & {*name})


def _overlap(one: str, other: str) -> bool:
    """Whether some name may match both of two patterns; of two with wildcards their beginnings and ends decide."""
    some, others = _literals(one), _literals(other)
    if len(some) == 1:
        return fnmatchcase(some[0], other)
    if len(others) == 1:
        return fnmatchcase(others[0], one)
    begins = some[0].startswith(others[0]) or others[0].startswith(some[0])
    return begins and (some[-1].endswith(others[-1]) or others[-1].endswith(some[-1]))


@cache
def _literals(pattern: str) -> list[str]:
    """The texts before, between and after the wildcards of a pattern; one text: it has none."""
    found = [""]
    for escaped, wildcard, plain in TOKENS.findall(pattern):
        if wildcard:
            found.append("")
        found[-1] += escaped or plain
    return found

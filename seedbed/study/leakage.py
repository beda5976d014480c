"""Which data may have rows in common: what encoders train on as a whole, and what tests and choices read."""

import math
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from itertools import product, starmap
from pathlib import Path

from seedbed.corpora.settings import Source
from seedbed.study.model import Study
from seedbed.urls import without_secrets

TRAINED_ON_WHOLE = ("pairs", "matched_pairs", "retrieval")
"""Kinds of corpora that encoders train on as a whole, without sampling."""


def trained_on_whole(study: Study, corpus: str) -> bool:
    """Whether encoders train on every row of a corpus: pairs, queries, or a text whose translations are candidates."""
    translated = {recipe.data.candidates for recipe in study.recipes.values() if recipe.data}
    return study.roles.get(corpus) in TRAINED_ON_WHOLE or corpus in translated & {*study.corpora.others}


def share_rows(one: Source, other: Source) -> bool:
    """Whether two sources may share rows: sets or top-ups of them read one place, and no setting separates them."""
    return any(
        _meet(_places(some[-1]), _places(others[-1])) and not any(starmap(_separate, product(some, others)))
        for some, others in product(_readings(one), _readings(other))
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


def _separate(one: Source, other: Source) -> bool:
    """Whether settings of two sources, or of what they are sets of, leave no row that both have."""
    return (
        any(not _meet(one.where[column], other.where[column]) for column in {*one.where} & {*other.where})
        or (_parted(one.buckets, other.buckets) and _hash_alike(one, other))
        or (_parted(_rows(one), _rows(other)) and one.sets == other.sets and _places(one) == _places(other))
    )


def _hash_alike(one: Source, other: Source) -> bool:
    """Whether the `buckets` of two sources hash the same texts: columns of one name, or the same column of a place."""
    return _hashed_column(one) == _hashed_column(other) or _hashed(one) == _hashed(other)


def _hashed_column(source: Source) -> str:
    """Our name of the column that `buckets` hash; empty: the first."""
    return source.buckets_by or ("pivot" if "pivot" in {*source.columns, *source.join} else "")


def _hashed(source: Source) -> tuple[list[str], str | int | list[str]]:
    """What a source reads its column from that `buckets` hash: a place, and the column's name there."""
    ours = _hashed_column(source)
    if ours in source.join:
        other, _ = source.joined(ours)
        return _places(other), _first_column(other)
    return _places(source), source.columns.get(ours, ours) or _first_column(source)


def _first_column(source: Source) -> str | int | list[str]:
    """The name there of the first column that a source names, `id` apart."""
    return next((theirs for ours, theirs in source.columns.items() if ours != "id"), "")


def _parted(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Whether two ranges, each from its first number up to its last, have no number in common."""
    return max(one[0], other[0]) >= min(one[1], other[1])


def _rows(source: Source) -> tuple[float, float]:
    """The rows that a source reads of all that its files have, which follow one another."""
    return source.skip, math.inf if source.first is None else source.skip + source.first


def _places(source: Source) -> list[str]:
    """What a source reads: a split of a hub data set, or files, each of which may be a pattern."""
    if source.file:
        return [str(Path(source.file, source.member or "").resolve())]
    if source.hub and not source.member:
        return [f"{source.hub}/{source.config or 'default'}/{source.split}"]
    return [
        f"{origin}/{source.member or ''}"
        for origin in source.package or [source.hub or without_secrets(source.archive or "")]
    ]


def _meet(some: Iterable[str], others: Iterable[str]) -> bool:
    """Whether a name of one list matches a name of the other, either of which may be a pattern."""
    return any(a == b or fnmatchcase(a, b) or fnmatchcase(b, a) for a in some for b in others)

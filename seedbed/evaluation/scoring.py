"""Scoring one system on one test set: its protocol is asked, of both orders where the test is of two languages."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from seedbed.corpora.settings import COLUMNS, NO_TEXT
from seedbed.evaluation import protocols
from seedbed.evaluation.aggregation import ORDER
from seedbed.evaluation.orders import parts, together
from seedbed.evaluation.scores import Answer, Scores, Trial
from seedbed.evaluation.settings import Task
from seedbed.io import UserError
from seedbed.names import languages_of, pair_of
from seedbed.vectors.neighbours import nearest
from seedbed.vectors.store import at_once
from seedbed.vectors.types import Encode, Layers, Search

if TYPE_CHECKING:
    from seedbed.encoders.translations.files import Chooser


def score(
    task: Task,
    test: pd.DataFrame,
    encode: Encode | None = None,
    *,
    train: pd.DataFrame | None = None,
    search: Search | None = None,
    answer: Answer | None = None,
    layers: Layers | None = None,
    paths: Layers | None = None,
    choices: Chooser | None = None,
    language: str = "",
    second: Encode | None = None,
) -> Scores:
    """Score a system, an encoder or a classifier, on one task.

    Of a test of two languages each order is scored on its own, and every number is the mean of theirs: two rank
    correlations are never one of all rows.

    Args:
        test: the columns of the protocol's kind (`corpora.settings.COLUMNS`); of two languages maybe with
            `orders.ORDER`, else the first language goes first in all rows.
        encode: of an encoder; or of the one that finds a classifier's shots.
        train: the same columns of the training set, where the protocol has one.
        search: how neighbours are found where that is not by the task's distance: of several encoders at once.
        answer: of a classifier.
        layers, paths, choices: of an encoder that has any.
        language: of the test items.
        second: of two languages, the other's encoder; a text that both have is encoded by each.

    Raises:
        UserError: an embedding is not finite, the protocol cannot be applied to this test set, or it asks for what the
            system does not have.
    """
    asks = protocols.declared(task.protocol).asks
    has = ["labels"] if answer else ["distances"] if search else ["vectors", "distances"]
    has += [name for name, given in {"layers": layers, "paths": paths, "choices": choices}.items() if given]
    if not {*has} & {*asks}:
        wanted, there = " or ".join(asks), " and ".join(has)
        raise UserError(f"score: protocol {task.protocol} asks for {wanted}, and this system has {there} alone")
    if second:
        return _of_orders(task, test, at_once(encode, ()), at_once(second, ()), language)
    question = trial_of(task, test, encode, train, search)
    seen, both = (
        make and partial(_encode_distinct, lambda texts, make=make: np.swapaxes(make(texts), 0, 1))
        for make in (layers, paths)
    )
    trial = replace(question, answer=answer, layers=seen, paths=both, choices=choices, language=language)
    return protocols.load(task.protocol).score(trial)


def _of_orders(task: Task, test: pd.DataFrame, encode: Encode, second: Encode, language: str) -> Scores:
    """The mean of the scores of each order; its items say of which they are."""
    names, found = protocols.declared(task.protocol).second, {}
    if not names:
        raise UserError(f"score: protocol {task.protocol} has no tests of two languages; leave `second` out")
    for order, rows in parts(test, language).items():
        turned = order and languages_of(order) != languages_of(pair_of(order))
        sides = (second, encode) if turned else (encode, second)
        trial = replace(trial_of(task, rows, None), embed=partial(_encode_sides, sides, names), language=language)
        found[order] = protocols.load(task.protocol).score(trial)
    every = [*found.values()]
    metrics = {name: float(np.mean([one.metrics[name] for one in every])) for name in every[0].metrics}
    items = together({order: one.items for order, one in found.items()}) if ORDER in test.columns else every[0].items
    notes = [note for one in every for note in one.notes]
    return Scores(float(np.mean([one.main for one in every])), metrics, items, notes)


def _encode_sides(sides: tuple[Encode, Encode], second: Sequence[str], *columns: pd.Series) -> list[np.ndarray]:
    """Embeddings of each column's texts by the encoder of its language; see `_encode_distinct`."""
    places = [column.name in second for column in columns]
    given = [[column for column, place in zip(columns, places, strict=True) if place == side] for side in (False, True)]
    found = [iter(_encode_distinct(encode, *own) if own else ()) for encode, own in zip(sides, given, strict=True)]
    return [next(found[place]) for place in places]


class _ReachedError(Exception):
    """The sets are right so far: the system is asked."""


def check(task: Task, test: pd.DataFrame, train: pd.DataFrame | None = None) -> None:
    """Find what a protocol refuses of its sets, before a system answers, which takes long or costs money.

    Raises:
        UserError: as `score`, but for what answers alone can show.
    """

    def ask(*_: Any) -> Any:
        raise _ReachedError

    answer = ask if protocols.declared(task.protocol).asks == ("labels",) else None
    for rows in parts(test).values():
        with suppress(_ReachedError):
            given = Trial(task, rows, train, ask, ask, answer, layers=ask, paths=ask, choices=ask)
            protocols.load(task.protocol).score(given)


def trial_of(
    task: Task,
    test: pd.DataFrame,
    encode: Encode | None,
    train: pd.DataFrame | None = None,
    search: Search | None = None,
) -> Trial:
    """What a protocol is given to score an encoder; arguments as of `score`."""
    found = search or (lambda queries, corpus, k: nearest(queries, corpus, k, metric=task.distance)[1])
    return Trial(task, test, train, partial(_encode_distinct, encode), found)


def texts(task: Task, test: pd.DataFrame, train: pd.DataFrame | None = None) -> list[str]:
    """The distinct texts whose embeddings `score` asks for: none where it looks at layers or paths alone."""
    protocol = protocols.declared(task.protocol)
    if own := getattr(protocols.load(task.protocol), "texts", None):
        return [*dict.fromkeys(own(test))]
    columns = COLUMNS[protocol.kind] if {*protocol.asks} - {"layers", "paths", "choices"} else ()
    names = [name for name in columns if name not in NO_TEXT]
    texts = [table[name] for table in (test, train) if table is not None for name in names]
    return [text for text in dict.fromkeys(chain.from_iterable(texts)) if text]  # a document without a query


def _encode_distinct(encode: Encode, *columns: pd.Series) -> list[np.ndarray]:
    """Embeddings (n, ...) of each column's texts; each distinct text of all columns is encoded once, in one call."""
    codes, distinct = pd.factorize(pd.concat([column.reset_index(drop=True) for column in columns]))
    encoded = np.asarray(encode(list(distinct)), dtype=np.float32)
    if not np.isfinite(encoded).all():
        raise UserError("score: the encoder gives embeddings that are not finite; its training diverged")
    ends = np.cumsum([len(column) for column in columns])[:-1]
    return [encoded[places] for places in np.split(codes, ends)]

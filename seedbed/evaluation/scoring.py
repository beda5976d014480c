"""Scoring one system on one test set by its task's protocol; a two-language test is scored in both orders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from seedbed.corpora.settings import COLUMNS, NO_TEXT, READ_AS, TEXT
from seedbed.evaluation import protocols
from seedbed.evaluation.aggregation import ORDER
from seedbed.evaluation.orders import concatenate_orders, split_orders
from seedbed.evaluation.scores import Embed, Scores, System, Trial
from seedbed.evaluation.settings import Task
from seedbed.io import UserError
from seedbed.names import languages_of, pair_of
from seedbed.vectors.neighbours import nearest
from seedbed.vectors.store import encode_ahead
from seedbed.vectors.types import Encode, Layers, ReadAs, Search, reading


def score(
    task: Task, test: pd.DataFrame, system: System, train: pd.DataFrame | None = None, language: str = ""
) -> Scores:
    """Score an encoder or a classifier on one task.

    In a two-language test each order is scored separately and every metric is the mean of both; a correlation is never
    computed over the rows of both orders.

    Args:
        test: the columns of the protocol's kind (`corpora.settings.COLUMNS`); for two languages maybe with
            `orders.ORDER`, else all rows are in the first language's order.
        train: the training set with the same columns, if the protocol has one.
        language: the language of the test items, or their pair, such as `aze-kaz`.

    Raises:
        UserError: an embedding is not finite, the protocol cannot be applied to this test set, or it requires what the
            system does not have.

    Example:
        >>> task = Task(protocol="sts", source={"file": "hau.tsv"})
        >>> test = read_table("hau.tsv", ["id", "sentence1", "sentence2", "score"])
        >>> score(task, test, System(encoder.encode)).main
        0.53
    """
    asks = protocols.declared(task.protocol).asks
    has = ["labels"] if system.answer else ["distances"] if system.search else ["vectors", "distances"]
    has += [name for name in ("layers", "paths", "choices") if getattr(system, name)]
    if not {*has} & {*asks}:
        wanted, there = " or ".join(asks), " and ".join(has)
        raise UserError(f"score: protocol {task.protocol} asks for {wanted}, and this system has {there} alone")
    if system.second:
        return _of_orders(task, test, remembering(system.encode), remembering(system.second), language)
    trial = replace(
        trial_of(task, test, system.encode, train, system.search),
        answer=system.answer,
        layers=system.layers and _text_by_text(system.layers),
        paths=system.paths and _text_by_text(system.paths),
        choices=system.choices,
        language=language,
    )
    return protocols.load(task.protocol).score(trial)


def _of_orders(task: Task, test: pd.DataFrame, encode: Encode, second: Encode, language: str) -> Scores:
    """The mean of the scores of each order; its items say of which they are."""
    names, found = protocols.declared(task.protocol).second, {}
    if not names:
        raise UserError(f"score: protocol {task.protocol} has no tests of two languages; leave `second` out")
    for order, rows in split_orders(test, language).items():
        turned = order and languages_of(order) != languages_of(pair_of(order))
        sides = (second, encode) if turned else (encode, second)
        of_side = partial(_of_side, sides, names)
        trial = replace(trial_of(task, rows, None), embed=partial(_encode_each, of_side), language=language)
        found[order] = protocols.load(task.protocol).score(trial)
    every = [*found.values()]
    metrics = {name: float(np.mean([one.metrics[name] for one in every])) for name in every[0].metrics}
    items = (
        concatenate_orders({order: one.items for order, one in found.items()})
        if ORDER in test.columns
        else every[0].items
    )
    notes = [note for one in every for note in one.notes]
    return Scores(float(np.mean([one.main for one in every])), metrics, items, notes)


def remembering(encode: Encode, texts: Sequence[str] = ()) -> Encode:
    """Wrap `encode` so that no text is embedded twice; `texts` are embedded now, in one call.

    A `ReadAs`, which has other prompts for queries than for documents, embeds a text at most once for each of them. It
    ignores `texts`, because it cannot know yet what their protocol reads them as.
    """
    if isinstance(encode, ReadAs):
        return encode.each(partial(encode_ahead, texts=()))
    return encode_ahead(encode, texts)


def _of_side(sides: tuple[Encode, Encode], second: Sequence[str], column: str) -> Encode:
    """The `encode` of a column's texts: by the encoder of its language, as what they are read as."""
    return _of_column(sides[column in second], column)


def _of_column(encode: Encode, column: str) -> Encode:
    return reading(encode, READ_AS.get(column, TEXT))


def _encode_each(of_column: Callable[[str], Encode], *columns: pd.Series) -> list[np.ndarray]:
    """Embeddings of each column's texts by the `encode` of its name; see `_encode_distinct`."""
    own = [of_column(str(column.name)) for column in columns]
    found = {}
    for encode in dict.fromkeys(own):
        given = {place: column for place, column in enumerate(columns) if own[place] is encode}
        found |= dict(zip(given, _encode_distinct(encode, *given.values()), strict=True))
    return [found[place] for place in range(len(columns))]


def _text_by_text(layers: Layers) -> Embed:
    """Embeddings of columns of texts by several layers or paths, (n, layers, d) of each column."""
    return partial(_encode_distinct, lambda texts: np.swapaxes(layers(texts), 0, 1))


class _ReachedError(Exception):
    """A check has reached the first query of the system: the data sets are valid so far."""


def check(
    task: Task, test: pd.DataFrame, train: pd.DataFrame | None = None, language: str = "", *, labelled: bool = False
) -> None:
    """Run a protocol's checks of its data sets before the system is queried, which takes long or costs money.

    Args:
        labelled: every system gives labels itself, so that no neighbours are needed where a protocol takes either.

    Raises:
        UserError: the protocol cannot be applied to these data sets.
    """

    def ask(*_: Any) -> Any:
        raise _ReachedError

    asks = protocols.declared(task.protocol).asks
    answer = ask if asks == ("labels",) or (labelled and "labels" in asks) else None
    for rows in split_orders(test).values():
        with suppress(_ReachedError):
            given = Trial(task, rows, train, ask, ask, answer, layers=ask, paths=ask, choices=ask, language=language)
            protocols.load(task.protocol).score(given)


def trial_of(
    task: Task,
    test: pd.DataFrame,
    encode: Encode | None,
    train: pd.DataFrame | None = None,
    search: Search | None = None,
) -> Trial:
    """Make the trial of an encoder, which may have a nearest-neighbour search of its own instead of the task's
    distance.
    """
    found = search or (lambda queries, corpus, k: nearest(queries, corpus, k, metric=task.distance)[1])
    return Trial(task, test, train, partial(_encode_each, partial(_of_column, encode)), found)


def texts(task: Task, test: pd.DataFrame, train: pd.DataFrame | None = None) -> list[str]:
    """The distinct texts that `score` encodes; none if the protocol uses only layers, paths or choices."""
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

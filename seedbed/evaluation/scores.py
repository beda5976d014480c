"""Scoring one system on one test set: what a protocol is given, what it finds, and how that is written."""

from __future__ import annotations

import importlib.metadata
import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from seedbed import origins
from seedbed.corpora.choices import right
from seedbed.corpora.labels import check_scores, read_pairs, require_labels
from seedbed.corpora.questions import require_answers
from seedbed.corpora.settings import COLUMNS, NO_TEXT
from seedbed.evaluation import protocols
from seedbed.evaluation.aggregation import ORDER
from seedbed.evaluation.orders import parts, together
from seedbed.evaluation.settings import Task
from seedbed.io import UserError, atomic, read_json, read_table, write_json, write_table
from seedbed.names import languages_of, pair_of
from seedbed.vectors.neighbours import nearest
from seedbed.vectors.store import at_once
from seedbed.vectors.types import Encode, Layers, Search

if TYPE_CHECKING:
    from seedbed.classifiers.answers import Answers
    from seedbed.encoders.translations.files import Chooser

Embed = Callable[..., list[np.ndarray]]
"""Columns of texts to the embeddings of each."""
Answer = Callable[["Trial", Sequence[str]], "Answers"]
"""The sets, and the labels to choose from, to the labels of the test items."""


@dataclass(frozen=True)
class Trial:
    """What a protocol scores: a task, its sets, and a system's answers."""

    task: Task
    test: pd.DataFrame
    """Test items, the columns of the protocol's kind."""
    train: pd.DataFrame | None
    """Training items of the same kind; None where the protocol needs none."""
    embed: Embed
    """Embeddings of columns of texts, by the encoder."""
    search: Search
    """The nearest of a corpus, by the task's distance or an encoder's own."""
    answer: Answer | None = None
    """Labels of the test items, by a classifier; None: an encoder is scored."""
    layers: Embed | None = None
    """Columns of texts to what every layer makes of each, (n, layers + 1, d); None: there are no layers to look at."""
    paths: Embed | None = None
    """Columns of texts to a vector of each and one of its English, (n, 2, d); None: no English is read."""
    choices: Chooser | None = None
    """Whose English is read; None: nobody's."""
    language: str = ""
    """Language of the test items."""


@dataclass(frozen=True)
class Scores:
    """What a protocol found."""

    main: float
    """The task's headline number: a fraction, or a distance."""
    metrics: dict[str, float]
    """All numbers."""
    items: pd.DataFrame
    """`id` and one score, hit or label per item and column, so that tables can resample them."""
    notes: list[str] = field(default_factory=list)
    """What a reader of the numbers must know."""
    mteb: dict[str, Any] = field(default_factory=dict)
    """What mteb files of it, as its TaskResult reads it; empty where mteb has no such task."""


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


class Set(NamedTuple):
    """A task and what it is scored on."""

    name: str
    task: Task
    test: pd.DataFrame
    train: pd.DataFrame | None
    origin: dict[str, Any]

    def texts(self) -> list[str]:
        """The texts whose embeddings the task needs."""
        return texts(self.task, self.test, self.train)


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


def read_set(task: Task, path: str | Path | None) -> pd.DataFrame | None:
    """A test or training set, the columns of the protocol's kind; None where there is none.

    Raises:
        UserError: as `read_table`, and `read_pairs` for labelled pairs; a row without a label or an answer, or with a
            score that is none of the task's scale.
    """
    if not path:
        return None
    kind = protocols.declared(task.protocol).kind
    if kind == "labelled_pairs":
        return read_pairs(Path(path))
    table = read_table(path, ["id", *COLUMNS[kind]])
    if kind == "labelled_texts":
        require_labels(table, str(path))
    if kind == "questions":
        require_answers(table, str(path))
    if kind == "choices":
        right(table, str(path))
    if kind == "pairs":
        check_scores(table, task.scale, str(path))
    return table


def origin_in(record: Path) -> dict[str, Any]:
    """What `fetch_corpus` says of a set; UserError: no such file, or it says nothing of an origin."""
    found = read_json(record)
    try:
        origins.read(found["origin"] if isinstance(found, dict) else None)
    except (KeyError, UserError):
        advice = "delete it and run Snakemake again, which makes it again"
        raise UserError(f"{record}: no record of fetch_corpus; {advice}") from None
    return found


def of_all(records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What is said of a test set that is of several: their origins, each place once, and what is said of each."""
    if len(records) == 1:
        return records[0]
    return {"origin": origins.joined(one["origin"] for one in records), "sets": [*records]}


def write_scores(
    scores: Scores, given: Set, language: str, about: dict[str, Any], libraries: Iterable[str], folder: Path
) -> list[Path]:
    """Write {folder}/{task}/{language}.json, with versions of the libraries it needs, and what lies beside it."""
    of_set = {
        "task": given.name, "protocol": given.task.protocol, "language": language, "dataset": given.origin,
        "versions": {name: importlib.metadata.version(name) for name in libraries},
    }  # fmt: skip
    return write(scores, of_set | about, folder / given.name / f"{language}.json")


def write(scores: Scores, about: dict[str, Any], path: Path) -> list[Path]:
    """Write a score file, {task}/{language}.json, and next to it its items, and mteb's file if there is one.

    Returns:
        The files that were written.

    Raises:
        UserError: a metric is not finite.
    """
    for name, value in {"main_score": scores.main, **scores.metrics}.items():
        if not math.isfinite(value):
            raise UserError(f"score: {name} is {value} over {len(scores.items)} items; it is not defined there")
    items = path.with_suffix(".items.tsv")
    found = {"main_score": round(scores.main, 6), "n": len(scores.items), "items": items.name}
    found["metrics"] = {name: round(value, 6) for name, value in scores.metrics.items()}
    notes = {"notes": scores.notes} if scores.notes else {}
    theirs = [path.with_suffix(".mteb.json")] if scores.mteb else []
    found |= {"mteb": theirs[0].name} if theirs else {}
    with atomic(path) as file, atomic(items) as rows:  # both are whole before either has its name
        write_table(scores.items, rows)
        write_json(about | found | notes, file)
        for one in theirs:
            write_json(scores.mteb, one)
    return [path, items, *theirs]

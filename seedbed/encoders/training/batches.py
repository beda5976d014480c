"""Batches that are laid out before training begins: of one data set each, with a fixed share of some sets, or of rows
that several languages have.

What is drawn is drawn here, from the seed alone, and training then reads the rows in their order: so a killed training
goes on with the batches that it would have had.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from seedbed.corpora.select.subset import subset
from seedbed.encoders.losses.crosslingual import draw
from seedbed.encoders.objectives import LANGUAGE
from seedbed.encoders.prompts import BEFORE, Prefix, prompt_of
from seedbed.encoders.settings import Training
from seedbed.io import UserError, read_table

log = logging.getLogger(__name__)

MOST_LANGUAGES = 6
"""Languages of a batch whose rows have sentences in several (paper 004's code)."""


class Files(Mapping[str, pd.DataFrame]):
    """The rows of each language, read whenever they are asked for: those of one language are in memory at once.

    Args:
        paths: language -> TSV with `id`.
        rows: at most so many of each, see `corpora.select.subset`.
    """

    def __init__(self, paths: Mapping[str, Path], rows: int | None = None) -> None:
        self.paths, self.rows = dict(paths), rows

    def __getitem__(self, code: str) -> pd.DataFrame:
        return subset(read_table(self.paths[code], ["id"], unique="id"), self.rows)

    def __iter__(self) -> Iterator[str]:
        return iter(self.paths)

    def __len__(self) -> int:
        return len(self.paths)


class Batch(NamedTuple):
    """One step of a training."""

    rows: np.ndarray
    """Numbers of rows (batch,)."""
    languages: np.ndarray
    """The language of each sentence (batch, columns)."""


def laid_out(
    tables: Mapping[str, pd.DataFrame], texts: Sequence[str], training: Training, seed: int, prefix: Prefix = ""
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """The rows of a whole training, in the order in which it reads them.

    Rows of the same id are translations of each other. An epoch has as many steps as the distinct ids make whole
    batches. Which rows come, and in which languages, `batches` and `shared` say. Source: paper 004, appendix B, and its
    code; of shares, decided here.

    Args:
        tables: language -> rows with `id`; one language, or several.
        texts: what columns of sentences can be called. Other columns are of the language of the first of them.
        training: batch_size and epochs, or steps; `batches: sets` has each batch of rows whose ids begin alike, up to
            the last colon, and a mapping so many rows of each set in every batch; `crosslingual` has the sentences of a
            row in different languages.
        prefix: by language, it stands in columns of BEFORE, for each sentence that of its language.

    Returns:
        The rows, as many as steps times the size of a batch, with columns of LANGUAGE if they are of several; and
        `examples`, how many ids there are to draw from, of each set too, and `missing`, how many ids a language lacks.

    Raises:
        UserError: epochs too short for a step; rows of a set that make no batch in any language; or, where rows are to
            be cross-lingual, one language, no two with a batch of rows in common, or other columns than two or three.
    """
    ids: dict[str, pd.Series] = {}
    columns: dict[str, None] = {}
    for code, table in tables.items():
        ids[code] = table["id"]
        columns |= dict.fromkeys(table.columns)
    if training.crosslingual and len(ids) < 2:
        raise UserError("training.crosslingual: rows of one language alone; give those of two or more")
    texts, places = [name for name in texts if name in columns], _places(ids)
    has = places.to_numpy() >= 0
    usable = has.sum(axis=1) >= (2 if training.crosslingual else 1)
    decks, examples = _decks(places.index, usable, training), int(usable.sum())
    if not (steps := training.steps or int(training.epochs * (examples // training.batch_size))):
        raise UserError(f"training.batch_size: {training.batch_size} rows, and there are {examples}; give fewer")
    draw_batches = shared if isinstance(training.batches, Mapping) else batches
    drawn = list(draw_batches(decks, has, len(texts), training, steps, np.random.default_rng(seed)))
    rows, languages = (np.concatenate(parts) for parts in zip(*drawn, strict=True))
    counts: dict[str, Any] = {"examples": examples}
    if training.batches != "mixed":
        counts["sets"] = {name or "others": len(deck) for name, deck in decks.items()}
    if missing := {code: int(count) for code, count in zip(ids, (~has).sum(axis=0), strict=True) if count}:
        log.warning("of %d ids, languages lack: %s", len(has), ", ".join(f"{c} {n}" for c, n in missing.items()))
        counts["missing"] = missing
    table = _filled(tables, texts, places, rows, languages)
    if len(ids) > 1:
        for place, name in enumerate(texts):
            table[LANGUAGE + name] = pd.Categorical.from_codes(languages[:, place], [*ids])
    if not isinstance(prefix, str):
        each = np.array([prompt_of(prefix, code) for code in ids], dtype=object)
        table = table.assign(**{BEFORE + name: each[languages[:, place]] for place, name in enumerate(texts)})
    return table, counts


def _decks(ids: pd.Index, usable: np.ndarray, training: Training) -> dict[str, np.ndarray]:
    """Set -> its usable rows; one set where batches are mixed, and of all that have no share of their own."""
    apart = [name.rpartition(":")[0] for name in ids] if training.batches != "mixed" else [""] * len(ids)
    sets = apart if training.batches == "sets" else [name if name in training.batches else "" for name in apart]
    groups = pd.Series(np.arange(len(ids)))[usable].groupby(np.array(sets, dtype=object)[usable], sort=False)
    return {name: rows.to_numpy() for name, rows in groups}


def batches(
    decks: Mapping[str, np.ndarray],
    has: np.ndarray,
    columns: int,
    training: Training,
    steps: int,
    rng: np.random.Generator,
) -> Iterator[Batch]:
    """Steps of a training, at random.

    Sets are visited in turn, in another order each round; each is shuffled, and again whenever what is left of it makes
    no batch. A batch has one language, at random; or, where rows are to be cross-lingual, as many as six, of which the
    sentences of a row have different ones. Its rows are the next of the set that all of its languages have: those that
    one lacks wait for a batch of others. A language that has no batch of rows in common with those drawn before it is
    left out of the batch.

    Args:
        decks: set -> its rows.
        has: (rows, languages), whether a language has a row.

    Raises:
        UserError: as `laid_out`.
    """
    left = {name: rng.permutation(rows) for name, rows in decks.items()}
    turn: list[str] = []
    for _ in range(steps):
        turn = turn or [list(decks)[place] for place in rng.permutation(len(decks))]
        name = turn.pop()
        if not (found := _languages(has[left[name]], training, rng)):
            left[name] = rng.permutation(decks[name])
            found = _languages(has[left[name]], training, rng)
        if not found:
            raise UserError(_too_few(name, len(decks[name]), training))
        chosen, fit = found
        rows = _take(left, name, fit, training.batch_size)
        if training.crosslingual:
            yield Batch(rows, chosen[draw(len(rows), columns, len(chosen), rng, at_most=MOST_LANGUAGES)])
        else:
            yield Batch(rows, np.full((len(rows), columns), chosen[0]))


def shared(
    decks: Mapping[str, np.ndarray],
    has: np.ndarray,
    columns: int,
    training: Training,
    steps: int,
    rng: np.random.Generator,
) -> Iterator[Batch]:
    """Steps of a training whose every batch has as many rows of a set as `training.batches` says, at random.

    All other sets together fill the batch. Each set is shuffled, and again whenever what is left of it is too little. A
    batch has one language, at random. Where no row is of a set, its share goes to the others.

    Args:
        decks: set -> its rows; "": the rows of all sets without a share.
        has: (rows, languages), whether a language has a row.

    Raises:
        UserError: no language has enough rows of each set for one batch.
    """
    sizes = {name: training.batches[name] for name in decks if name}
    for name in training.batches.keys() - sizes.keys():
        log.warning("training.batches: no row is of set %r; its share of a batch goes to the others", name)
    sizes[""] = training.batch_size - sum(sizes.values())
    decks = {"": np.array([], dtype=int)} | dict(decks)
    counts = {name: has[rows].sum(axis=0) for name, rows in decks.items()}
    able = np.flatnonzero(np.all([counts[name] >= size for name, size in sizes.items()], axis=0))
    if not len(able):
        name = min(sizes, key=lambda one: counts[one].max() / sizes[one])
        raise UserError(
            f"training.batches: {sizes[name]} rows of {f'set {name!r}' if name else 'the other sets'} in each batch, "
            f"and there are {counts[name].max()}; give fewer"
        )
    left = {name: rng.permutation(decks[name]) for name in sizes}
    for _ in range(steps):
        language, parts = rng.choice(able), []
        for name, size in sizes.items():
            if has[left[name], language].sum() < size:
                left[name] = rng.permutation(decks[name])
            parts.append(_take(left, name, has[left[name], language], size))
        rows = np.concatenate(parts)
        yield Batch(rows, np.full((len(rows), columns), language))


def _take(left: dict[str, np.ndarray], name: str, fit: np.ndarray, size: int) -> np.ndarray:
    """The first rows of a set that fit, so many (size,); they are no longer left.

    Args:
        left: set -> its rows that are to come.
        fit: which of the set's may be taken.
    """
    taken = np.flatnonzero(fit)[:size]
    rows, left[name] = left[name][taken], np.delete(left[name], taken)
    return rows


def _languages(has: np.ndarray, training: Training, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray] | None:
    """The languages of a batch, and which rows (rows,) have all of them; None: no batch of these rows can be made."""
    fit = np.ones(len(has), dtype=bool)
    chosen: list[int] = []
    most = MOST_LANGUAGES if training.crosslingual else 1
    for language in rng.permutation(has.shape[1]):
        if len(chosen) < most and (both := fit & has[:, language]).sum() >= training.batch_size:
            chosen.append(language)
            fit = both
    return (np.array(chosen), fit) if len(chosen) >= min(most, 2) else None


def _too_few(name: str, rows: int, training: Training) -> str:
    """Why no batch can be made of a set."""
    of, size = f"set {name!r}" if name else "the data", training.batch_size
    if rows < size:
        return f"training.batch_size: {size}, and {of} has {rows} rows; give fewer, or `batches: mixed`"
    lacking = "no two languages have" if training.crosslingual else "no language has"
    return f"training.batch_size: {lacking} {size} rows of {of} in common; give fewer, or complete the translations"


def _places(ids: Mapping[str, pd.Series]) -> pd.DataFrame:
    """The place of each id in each language's rows; -1: it has none."""
    known = pd.Index(list(dict.fromkeys(name for column in ids.values() for name in column)))
    return pd.DataFrame({code: pd.Index(column).get_indexer(known) for code, column in ids.items()}, index=known)


def _filled(
    tables: Mapping[str, pd.DataFrame],
    texts: Sequence[str],
    places: pd.DataFrame,
    rows: np.ndarray,
    languages: np.ndarray,
) -> pd.DataFrame:
    """The rows in their order, each sentence in its language; empty where a language has no such column."""
    found: dict[str, np.ndarray] = {"id": places.index.to_numpy()[rows]}
    for number, code in enumerate(tables):
        table = tables[code]
        for name in table.columns.drop("id"):
            column = found.setdefault(name, np.full(len(rows), "", dtype=object))
            mine = languages[:, texts.index(name) if name in texts else 0] == number
            column[mine] = table[name].to_numpy()[places[code].to_numpy()[rows[mine]]]
    return pd.DataFrame(found)

"""Batches that are laid out before training: of one data set each, with fixed shares of sets, or of several languages.

All sampling happens here, from the seed alone; training then takes the rows in order. So a killed training resumes with
the batches that it would have had.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from seedbed.corpora.select.subset import subset
from seedbed.encoders.losses.crosslingual import MOST_LANGUAGES, sample_languages
from seedbed.encoders.objectives import LANGUAGE
from seedbed.encoders.prompts import Prefix, prompt_of
from seedbed.encoders.settings import BEFORE, Training
from seedbed.io import UserError, read_table

log = logging.getLogger(__name__)


class LanguageTables(Mapping[str, pd.DataFrame]):
    """Rows of each language, read from its file at each access, so that only one language's rows are in memory.

    Args:
        paths: language -> TSV with `id`.
        rows: the maximum number of rows of each language, see `corpora.select.subset`; 0: all.
    """

    def __init__(self, paths: Mapping[str, Path], rows: int) -> None:
        self.paths, self.rows = dict(paths), rows

    def __getitem__(self, code: str) -> pd.DataFrame:
        return subset(read_table(self.paths[code], ["id"], unique="id"), self.rows)

    def __iter__(self) -> Iterator[str]:
        return iter(self.paths)

    def __len__(self) -> int:
        return len(self.paths)


class Batch(NamedTuple):
    """The rows of one training step, and the language of each of their sentences."""

    rows: np.ndarray
    """Indices of rows (batch,)."""
    languages: np.ndarray
    """The index of each sentence's language (batch, columns)."""


def lay_out(
    tables: Mapping[str, pd.DataFrame], texts: Sequence[str], training: Training, seed: int, prefix: Prefix = ""
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Sample all batches of a training, and return their rows in the order of training.

    Rows with the same id are translations of each other. An epoch has as many steps as the distinct ids fill whole
    batches. `sample_batches` and `sample_shared_batches` say how rows and languages are sampled. Source: paper 004,
    appendix B, and its code; shares of sets are Seedbed's own.

    Args:
        tables: language -> rows with `id`; one language or several.
        texts: possible names of text columns. Other columns are in the language of the first of them.
        training: its batch_size, epochs or steps, `batches` and `crosslingual` are used. `batches: sets` fills each
            batch from one set, which is the id up to its last colon; a mapping gives the number of rows of each set in
            every batch. `crosslingual` puts the sentences of a row in different languages.
        seed: seed of the sampling.
        prefix: prompt by language; each sentence's prompt is then in a column that begins with BEFORE. A plain text is
            not used here.

    Returns:
        The rows, steps times batch_size, with columns of LANGUAGE if there are several languages; and counts:
        `examples`, the number of ids (`sets`: of each set), `examples_read`, how many different ones the batches have,
        and `missing`, how many ids a language lacks.

    Raises:
        UserError: too few rows for one step; a set that fills no batch in any language; for cross-lingual batches,
            one language only, no two languages with enough common rows, or another number of columns than two or three;
            or a language without a prompt in `prefix`.
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
    draw_batches = sample_shared_batches if isinstance(training.batches, Mapping) else sample_batches
    drawn = list(draw_batches(decks, has, len(texts), training, steps, np.random.default_rng(seed)))
    rows, languages = (np.concatenate(parts) for parts in zip(*drawn, strict=True))
    counts: dict[str, Any] = {"examples": examples, "examples_read": len(np.unique(rows))}
    if training.batches != "mixed":
        counts["sets"] = {name or "others": len(deck) for name, deck in decks.items()}
    if missing := {code: int(count) for code, count in zip(ids, (~has).sum(axis=0), strict=True) if count}:
        log.warning("of %d ids, languages lack: %s", len(has), ", ".join(f"{c} {n}" for c, n in missing.items()))
        counts["missing"] = missing
    table = _filled(tables, texts, places, rows, languages)
    if len(ids) > 1:
        for place, name in enumerate(texts):
            table[LANGUAGE + name] = pd.Categorical.from_codes(languages[:, place], [*ids])
    if isinstance(prefix, Mapping):
        each = np.array([prompt_of(prefix, code) for code in ids], dtype=object)
        table = table.assign(**{BEFORE + name: each[languages[:, place]] for place, name in enumerate(texts)})
    return table, counts


def _decks(ids: pd.Index, usable: np.ndarray, training: Training) -> dict[str, np.ndarray]:
    """Set -> its usable rows; one set where batches are mixed, and of all that have no share of their own."""
    apart = [name.rpartition(":")[0] for name in ids] if training.batches != "mixed" else [""] * len(ids)
    sets = apart if training.batches == "sets" else [name if name in training.batches else "" for name in apart]
    groups = pd.Series(np.arange(len(ids)))[usable].groupby(np.array(sets, dtype=object)[usable], sort=False)
    return {name: rows.to_numpy() for name, rows in groups}


def sample_batches(
    decks: Mapping[str, np.ndarray],
    has: np.ndarray,
    columns: int,
    training: Training,
    steps: int,
    rng: np.random.Generator,
) -> Iterator[Batch]:
    """Sample batches that each come from one set and one language, or are cross-lingual.

    Sets take turns, in a new random order each round. Each set is shuffled, and shuffled again when its remaining rows
    do not fill a batch. A batch has one random language, or up to six if it is cross-lingual: then the sentences of a
    row are in different languages. Its rows are the next of the set that exist in all of its languages; rows that one
    of them lacks wait for a later batch. A language that shares too few rows with those already sampled for the batch
    is left out.

    Args:
        decks: set -> indices of its rows.
        has: booleans (rows, languages), whether a row exists in a language.
        columns: the number of text columns.
        training: its batch_size and `crosslingual` are used.
        steps: the number of batches.
        rng: the random generator.

    Raises:
        UserError: a set fills no batch in any language.
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
            yield Batch(rows, chosen[sample_languages(len(rows), columns, len(chosen), rng)])
        else:
            yield Batch(rows, np.full((len(rows), columns), chosen[0]))


def sample_shared_batches(
    decks: Mapping[str, np.ndarray],
    has: np.ndarray,
    columns: int,
    training: Training,
    steps: int,
    rng: np.random.Generator,
) -> Iterator[Batch]:
    """Sample batches with a fixed number of rows of each set that `training.batches` names; arguments as in
    `sample_batches`, but that `crosslingual` is not used.

    The other sets, which are one deck, "", fill the rest of the batch. Each set is shuffled, and shuffled again when
    its remaining rows are too few. A batch has one random language. If a named set has no rows, its share goes to the
    others.

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
        # What `batches` does not name fills the rest of a batch.
        remedy = f"give {name!r} fewer of `training.batches`" if name else "give a smaller `training.batch_size`"
        raise UserError(
            f"training.batches: {sizes[name]} rows of {f'set {name!r}' if name else 'the other sets'} in each batch, "
            f"and there are {counts[name].max()}; {remedy}, or more rows"
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
    """Remove from `left` the first `size` of a set's remaining rows that `fit` (booleans) allows, and return them."""
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
    """The error for a set that fills no batch."""
    of, size = f"set {name!r}" if name else "the data", training.batch_size
    if rows < size:
        other = ", or `batches: mixed`" if name else ", or more rows"
        return f"training.batch_size: {size}, and {of} has {rows} rows; give fewer{other}"
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

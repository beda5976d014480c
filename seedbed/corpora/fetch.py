"""A source becomes a corpus: cleaned, typed, without repetitions, with a record of what it was."""

from __future__ import annotations

import sys
from typing import Any

import pandas as pd

from seedbed.corpora.assets import NotThereError, Store
from seedbed.corpora.clean import clean, comparable, within_bounds
from seedbed.corpora.labels import named
from seedbed.corpora.settings import COLUMNS, OPTIONAL, Cleaning, Kind, Source
from seedbed.corpora.sources import read
from seedbed.io import UserError

ENTAILMENT, CONTRADICTION = ({"entailment", "0"}, {"contradiction", "2"})
"""Labels of XNLI, SNLI and MultiNLI, as words or as the hub's integers."""


def fetch(
    source: Source, kind: Kind, store: Store, cleaning: Cleaning, *, test: bool = False
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Read a source and shape it as a corpus.

    Args:
        test: an evaluation set: no sentence is dropped or altered but for white space, so that its n is the
            benchmark's. A row of kind "retrieval" is a judgement, so that none is ever dropped.

    Returns:
        The corpus (`id`, the columns of its kind, and of its optional ones those that the source has), and its record:
        origin, licence and counts by what was done.

    Raises:
        UserError: the source cannot be read, lacks a column, or nothing is left of it.
    """
    asked = source
    source, table = _there(source, store)
    if kind == "triplets" and "label" in table.columns:
        table = triplets_from_labels(table)
    where = f"{kind} corpus from {origin(source)}"
    if missing := [name for name in COLUMNS[kind] if name not in table.columns]:
        raise UserError(f"{where}: no column {missing[0]!r}; map it under `columns:` (there are {', '.join(table)})")
    optional = [name for name in OPTIONAL.get(kind, ()) if name in table.columns]
    table = table[["id", *COLUMNS[kind], *optional]]
    counts = {"read": len(table)}
    if kind == "labelled_pairs":
        table = named(table, where)
    texts = [name for name in COLUMNS[kind] if name not in ("score", "label")]
    table = table.assign(**{name: table[name].map(clean) for name in texts})
    if not test and kind != "retrieval":
        table, counts = _filtered(table, texts, cleaning, counts)
    if table.empty:
        raise UserError(f"{where}: no row is left ({counts}); check the columns and the bounds under `cleaning:`")
    if blank := [name for name in texts if (table[name] == "").all()]:
        raise UserError(
            f"{where}: column {blank[0]!r} is empty in all {len(table)} rows; check the file and `columns:`"
        )
    counts["kept"] = len(table)
    record = {"origin": origin(source), "licence": source.licence, "kind": kind, "counts": counts}
    return table, record | ({} if source is asked else {"instead_of": origin(asked)})


def _there(source: Source, store: Store) -> tuple[Source, pd.DataFrame]:
    """The first of a source and what may stand in its place that is there, and its rows."""
    try:
        return source, read(source, store)
    except NotThereError as error:
        if source.otherwise is None:
            raise
        print(f"{error}; {origin(source.otherwise)} is read in its place", file=sys.stderr)
        return _there(source.otherwise, store)


def _filtered(
    table: pd.DataFrame, texts: list[str], cleaning: Cleaning, counts: dict[str, int]
) -> tuple[pd.DataFrame, dict[str, int]]:
    # Long answers are what instructions are; only their emptiness is a fault.
    bounded = [name for name in texts if name not in ("prompt", "response")]
    fits = pd.Series(True, index=table.index)
    for name in texts:
        fits &= table[name].map(lambda text: within_bounds(text, cleaning)) if name in bounded else table[name] != ""
    # Both sides of a translation pair, so that each sentence has one right answer; else the sentence that is asked.
    once = COLUMNS["parallel"] if texts == list(COLUMNS["parallel"]) else texts[:1]
    if texts == ["premise", "hypothesis"]:  # premises come with several hypotheses
        once = []
    repeated = pd.Series(False, index=table.index)
    for name in once:
        repeated |= table[name].where(fits).map(comparable, na_action="ignore").duplicated() & fits
    counts = counts | {"out of bounds": int((~fits).sum()), "repeated": int(repeated.sum())}
    return table[fits & ~repeated], counts


def triplets_from_labels(table: pd.DataFrame) -> pd.DataFrame:
    """Premise, hypothesis, label rows to (anchor, positive, negative): those premises that have both.

    The hypothesis may be in another language than the premise (paper 000, section 3, step 1).
    """
    sides = {
        side: table[table["label"].isin(labels)].drop_duplicates("premise").set_index("premise")
        for side, labels in (("positive", ENTAILMENT), ("negative", CONTRADICTION))
    }
    negative = sides["negative"]["hypothesis"].rename("negative")
    both = (
        sides["positive"]
        .join(negative, how="inner")
        .reset_index(names="anchor")
        .rename(columns={"hypothesis": "positive"})
    )
    return both[["id", "anchor", "positive", "negative"]]


def check_scores(table: pd.DataFrame, scale: tuple[float, float], where: str) -> None:
    """Every score of a graded test set is a number on its scale.

    Raises:
        UserError: one is not.
    """
    scores = pd.to_numeric(table["score"], errors="coerce")
    wrong = table[~scores.between(*scale)]
    if len(wrong):
        row = wrong.iloc[0]
        raise UserError(
            f"{where}: id {row['id']!r} has score {row['score']!r}; "
            f"expected a number from {scale[0]:g} to {scale[1]:g}, set `scale:` of the task for another range"
        )


def origin(source: Source) -> str:
    """A source's name in cards and messages."""
    if source.hub:
        return f"hub {source.hub}" + (f" @ {source.revision}" if source.revision else "")
    if source.package:
        return "package " + ", ".join(source.package)
    return f"archive {source.archive}" if source.archive else f"file {source.file}"

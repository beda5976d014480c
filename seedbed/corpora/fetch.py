"""A source becomes a corpus: cleaned, typed, without repetitions, with a record of what it was."""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any

import pandas as pd

from seedbed.corpora.assets import NotThereError, Store
from seedbed.corpora.clean import CONTROL, clean, comparable, within_bounds
from seedbed.corpora.labels import named, require_labels
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
        origin, licence and counts by what was done, from the rows read to those kept.

    Raises:
        UserError: the source cannot be read, lacks a column, an id or a label, repeats an id of a test set, has a tab
            or a control character where no text is, or nothing is left of it.
    """
    left_out: Counter[str] = Counter()
    asked = source
    source, table = _there(source, store, test, left_out)
    counts = {name: count for name, count in left_out.items() if count or name == "read"}
    if kind == "triplets" and {"premise", "hypothesis", "label"} <= set(table.columns):
        table = triplets_from_labels(table)
        counts["triplets"] = len(table)
    where = f"{kind} corpus from {origin(source)}"
    if missing := [name for name in COLUMNS[kind] if name not in table.columns]:
        raise UserError(f"{where}: no column {missing[0]!r}; map it under `columns:` (there are {', '.join(table)})")
    optional = [name for name in OPTIONAL.get(kind, ()) if name in table.columns]
    table = table[["id", *COLUMNS[kind], *optional]]
    if kind == "labelled_pairs":
        table = named(table, where)
    if kind == "labelled_texts":
        require_labels(table, where)
        table = table.assign(label=table["label"].str.strip())
    texts = [name for name in COLUMNS[kind] if name not in ("score", "label")]
    _require_one_line(table.drop(columns=texts), where)
    table = table.assign(**{name: table[name].map(clean) for name in texts})
    if not test and kind != "retrieval":
        table, counts = _filtered(table, texts, cleaning, counts)
    if table.empty:
        raise UserError(f"{where}: no row is left ({counts}); check the columns and the bounds under `cleaning:`")
    if blank := [name for name in texts if (table[name] == "").all()]:
        raise UserError(
            f"{where}: column {blank[0]!r} is empty in all {len(table)} rows; check the file and `columns:`"
        )
    if test:
        counts |= _told(table, kind, texts)
    counts["kept"] = len(table)
    record = {"origin": origin(source), "licence": source.licence, "kind": kind, "counts": counts}
    return table, record | ({} if source is asked else {"instead_of": origin(asked)})


def _there(source: Source, store: Store, test: bool, left_out: Counter[str]) -> tuple[Source, pd.DataFrame]:
    """The first of a source and what may stand in its place that is there, and its rows."""
    try:
        return source, read(source, store, whole=test, counts=left_out)
    except NotThereError as error:
        if source.otherwise is None:
            raise
        print(f"{error}; {origin(source.otherwise)} is read in its place", file=sys.stderr)
        left_out.clear()
        return _there(source.otherwise, store, test, left_out)


def _require_one_line(table: pd.DataFrame, where: str) -> None:
    """Texts are cleaned; what names them (ids, labels) is not, and must fit a cell of a TSV as it is."""
    for name in table.columns:
        wrong = table[name].map(lambda cell: CONTROL.search(cell) is not None)
        if wrong.any():
            raise UserError(
                f"{where}: {name} {table[name][wrong].iloc[0]!r} holds a tab, a line break or a control character; "
                "take it out of the file, or by `replace:`"
            )


def _told(table: pd.DataFrame, kind: Kind, texts: list[str]) -> dict[str, int]:
    """What is odd about a test set and stays in it, by name; nothing for most."""
    found = {"blank, kept": int((table[texts[-1:] if kind == "retrieval" else texts] == "").any(axis=1).sum())}
    if kind == "parallel":  # of two rows with one translation, the search finds the first
        found["repeated, kept"] = int(sum(table[name].duplicated(keep=False) for name in texts).astype(bool).sum())
    if kind == "retrieval" and "relevance" in table.columns:
        judged = table[table["query"] != ""]
        relevant = pd.to_numeric(judged["relevance"], errors="coerce") > 0
        answered = relevant.groupby(judged.get("query_id", judged["id"])).any()
        found["queries without a relevant document"] = int((~answered).sum())
    return {name: count for name, count in found.items() if count}


def _filtered(
    table: pd.DataFrame, texts: list[str], cleaning: Cleaning, counts: dict[str, int]
) -> tuple[pd.DataFrame, dict[str, int]]:
    # Long answers are what instructions are; only their emptiness is a fault.
    bounded = [name for name in texts if name not in ("prompt", "response")]
    fits = pd.Series(True, index=table.index)
    for name in texts:
        right = table[name].map(lambda text: within_bounds(text, cleaning)) if name in bounded else table[name] != ""
        fits &= right.astype(bool)  # of no row, text
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


def origin(source: Source) -> str:
    """A source's name in cards and messages."""
    if source.hub:
        return f"hub {source.hub}" + (f" @ {source.revision}" if source.revision else "")
    if source.package:
        return "package " + ", ".join(source.package)
    return f"archive {source.archive}" if source.archive else f"file {source.file}"

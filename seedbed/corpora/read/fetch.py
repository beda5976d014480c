"""From a source to a corpus: cleaned, checked, without repetitions, with a record of its origin."""

from collections import Counter
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from seedbed import origins
from seedbed.blocks import Blocks, Lookup, Seen, SeenRows, Spool, concatenate, peek
from seedbed.corpora.read.assets import Store
from seedbed.corpora.read.columns import origin_of
from seedbed.corpora.read.sources import first_available
from seedbed.corpora.settings import COLUMNS, MAY_BE_BLANK, NO_TEXT, OPTIONAL, ORIGINS, WHOLE, Cleaning, Kind, Source
from seedbed.corpora.shape.choices import collect_answers, count_repeated
from seedbed.corpora.shape.clean import CONTROL, clean, comparable, within_bounds
from seedbed.corpora.shape.labels import normalise_labels, require_labels
from seedbed.corpora.shape.questions import in_place
from seedbed.io import UserError


def fetch(
    source: Source, kind: Kind, store: Store, cleaning: Cleaning, *, test: bool = False
) -> tuple[Blocks, dict[str, Any]]:
    """Read a source as a corpus of one kind.

    Args:
        test: it is an evaluation set: no sentence is dropped, and a text is only normalised (`clean`), so that its n is
            the benchmark's. Nor is a row of the kinds in WHOLE dropped.

    Returns:
        The corpus in blocks (`id`, the columns of its kind, and those optional ones that the source has), and its
        record, which is complete after the last block: origin, licence, and counts, from rows read to rows kept.

    Raises:
        UserError: the source cannot be read, lacks a column, an id or a label, repeats an id of a test set, has control
            characters where there is no text, or no row is left.
    """
    counts: Counter[str] = Counter()
    asked = source
    source, blocks = first_available(source, store, whole=test, counts=counts)
    where = f"{kind} corpus from {origins.in_words(origin(source))}"
    if kind in ("triplets", "paraphrases"):
        blocks = _triplets(blocks, counts, where, lone=kind == "paraphrases")
    texts = [name for name in COLUMNS[kind] if name not in NO_TEXT]
    if test or kind in WHOLE:
        table = _shaped(concatenate(_alike(blocks, kind, where)), kind, texts, where)
        blocks = iter([_count_oddities(table, kind, texts, where, counts if test else Counter())])
    else:
        blocks = _filtered((_shaped(block, kind, texts, where) for block in blocks), kind, texts, cleaning, counts)
    record: dict[str, Any] = {"origin": origin(source), "licence": source.terms, "kind": kind}
    record |= {} if source == asked else {"instead_of": origin(asked)}
    return _counted(blocks, counts, record, where), record


ALWAYS = ("read", "triplets", "out of bounds", "repeated", "kept")
"""Counts that a record has even if they are 0."""


def counted(blocks: Blocks, record: dict[str, Any], counts: Counter[str]) -> Blocks:
    """Iterate over the same blocks.

    Args:
        record: the corpus's record, which names the sets of its source.
        counts: the rows are added here as `kept`, and those of each set.
    """
    sets = {place["set"].partition(":")[0] for place in record["origin"] if "set" in place}
    for block in blocks:
        counts["kept"] += len(block)
        for name in sorted(sets):
            counts[f"{name}: kept"] += int(block["id"].str.startswith(f"{name}:").sum())
        yield block


def _counted(blocks: Blocks, counts: Counter[str], record: dict[str, Any], where: str) -> Blocks:
    """The same blocks; at their end, the counts are in the record."""
    yield from counted(blocks, record, counts)
    record["counts"] = {name: count for name, count in counts.items() if count or name in ALWAYS}
    if not counts["kept"]:
        said = ", ".join(f"{name} {count}" for name, count in counts.items() if count) or "none was read"
        raise UserError(f"{where}: no row is left ({said}); check `where:`, `columns:` and the bounds in `cleaning:`")


def _shaped(table: pd.DataFrame, kind: Kind, texts: list[str], where: str) -> pd.DataFrame:
    """The columns of the corpus kind, checked, with clean texts."""
    if kind == "choices":
        table = collect_answers(table, where)
    table = table.assign(**{name: "" for name in MAY_BE_BLANK.get(kind, ()) if name not in table.columns})
    if missing := [name for name in COLUMNS[kind] if name not in table.columns]:
        raise UserError(
            f"{where}: no column {missing[0]!r}; map it under `columns:` (there are {', '.join(map(str, table))})"
        )
    optional = [name for name in OPTIONAL.get(kind, ()) if name in table.columns]
    table = table[["id", *COLUMNS[kind], *optional]]
    if kind == "labelled_pairs":
        table = normalise_labels(table, where)
    if kind == "labelled_texts":
        require_labels(table, where)
        table = table.assign(label=table["label"].str.strip().str.normalize("NFC"))
    if kind == "questions":
        table, texts = in_place(table, where), ["question"]
    _require_one_line(table.drop(columns=texts), where)
    return table.assign(**{name: table[name].map(clean) for name in texts})


def _alike(blocks: Blocks, kind: Kind, where: str) -> Blocks:
    """The blocks with the same columns of a corpus kind, whichever of those that may be blank a file or a set lacks.

    Raises:
        UserError: some have an optional column that others lack, in which its absence would say something else.
    """
    first, blocks = peek(blocks)
    for block in blocks:
        if some := sorted({*OPTIONAL.get(kind, ())} & ({*first} ^ {*block})):
            raise UserError(
                f"{where}: only some of its files or sets have a column {some[0]!r}; give it to all, or leave it out "
                "of `columns:`"
            )
        yield block.assign(**{name: "" for name in MAY_BE_BLANK.get(kind, ()) if name not in block})


def _require_one_line(table: pd.DataFrame, where: str) -> None:
    """Texts are cleaned; what names them (ids, labels) is not, and must fit a cell of a TSV as it is."""
    for name in table.columns:
        wrong = table[name].map(lambda cell: CONTROL.search(cell) is not None)
        if wrong.any():
            raise UserError(
                f"{where}: {name} {table[name][wrong].iloc[0]!r} holds a tab, a line break or a control character; "
                "take it out of the file, or by `replace:`"
            )


def _count_oddities(
    table: pd.DataFrame, kind: Kind, texts: list[str], where: str, counts: Counter[str]
) -> pd.DataFrame:
    """The table itself: what is odd about a set is counted by name, and stays in it."""
    texts = [name for name in texts if name not in MAY_BE_BLANK.get(kind, ())]
    if blank := [name for name in texts if len(table) and (table[name] == "").all()]:
        raise UserError(
            f"{where}: column {blank[0]!r} is empty in all {len(table)} rows; check the file and `columns:`"
        )
    counts["blank, kept"] = int((table[texts[-1:] if kind == "retrieval" else texts] == "").any(axis=1).sum())
    if kind == "parallel":  # of two rows with one translation, the search finds the first
        counts["repeated, kept"] = int(sum(table[name].duplicated(keep=False) for name in texts).astype(bool).sum())
    if kind == "choices":
        counts["equal answers, kept"] = count_repeated(table, where)
    if kind == "retrieval" and "relevance" in table.columns:
        judged = table[table["query"] != ""]
        relevant = pd.to_numeric(judged["relevance"], errors="coerce") > 0
        answered = relevant.groupby(judged.get("query_id", judged["id"])).any()
        counts["queries without a relevant document"] = int((~answered).sum())
    return table


ONCE: dict[str, tuple[tuple[str, ...], ...]] = {
    "parallel": (("text",), ("pivot",)),
    "pairs": (("sentence1", "sentence2"),),
    "labelled_pairs": (),
    "choices": (("passage", "question"),),
}
"""Kind -> the columns whose texts, taken together, each occur once in a corpus; of other kinds the first text.

Both sides of a translation pair, so that each sentence has one right answer; a graded pair as a whole, which has a
score of its own; premises come with several hypotheses, and passages with several questions.
"""


def _filtered(blocks: Blocks, kind: Kind, texts: list[str], cleaning: Cleaning, counts: Counter[str]) -> Blocks:
    """The rows without those with blank texts, with texts out of bounds, or that repeat an earlier row; each kind is
    counted.
    """
    once = ONCE.get(kind, ((texts[0],),))
    kept = SeenRows(map("+".join, once))
    for block in blocks:
        blank = (block[[name for name in texts if name not in MAY_BE_BLANK.get(kind, ())]] == "").any(axis=1)
        counts["blank"] += int(blank.sum())
        block = block[~blank]
        fits = pd.Series(True, index=block.index)
        for name in texts:
            if name not in ("prompt", "response"):  # long answers are what instructions are
                fits &= (block[name] == "") | block[name].map(partial(within_bounds, bounds=cleaning)).astype(bool)
        fitting = block[fits]
        repeated = np.array([kept.repeated(_keys(row, once)) != "" for row in fitting.to_dict("records")], dtype=bool)
        counts["out of bounds"] += len(block) - len(fitting)
        counts["repeated"] += int(repeated.sum())
        yield fitting[~repeated]


def _keys(row: dict[str, str], once: tuple[tuple[str, ...], ...]) -> list[str]:
    """The texts of a row that occur once in a corpus, as they are compared; those of several columns as one."""
    return ["\n".join(comparable(row[name]) for name in columns) for columns in once]


def _triplets(blocks: Blocks, counts: Counter[str], where: str, *, lone: bool) -> Blocks:
    """The rows; of labelled pairs, the triplets that they make; `lone` as of `triplets_from_labels`."""
    first, blocks = peek(blocks)
    if not {*COLUMNS["labelled_pairs"]} <= {*first.columns}:
        yield from blocks
        return
    for block in triplets_from_labels(blocks, where, lone=lone):
        counts["triplets"] += len(block)
        yield block


def triplets_from_labels(blocks: Blocks, where: str = "labelled pairs", *, lone: bool = False) -> Blocks:
    """Make triplets (anchor, positive, negative) of premises that have both an entailment and a contradiction.

    The first hypothesis of each label is used. Hypotheses may be in another language than premises (paper 000, section
    3, step 1). If there is a column `premise_id`, it says which premises are the same; else, and where it is blank,
    their texts do.

    Args:
        blocks: rows with premise, hypothesis and label.
        lone: keep an entailment without a contradiction too, with an empty negative.

    Raises:
        UserError: an unknown label.
    """
    names = ["id", "premise", "hypothesis", "label"]
    known = (normalise_labels(block, where) for block in blocks)
    spool = Spool(block.assign(of=_premises(block))[[*names, "of"]] for block in known)
    contradicted = (block[block["label"] == "contradiction"] for block in spool)
    negatives, seen = Lookup(contradicted, lambda block: list(block["of"])), Seen()
    place = negatives.columns.index("hypothesis")
    for block in spool:
        entailed = block[block["label"] == "entailment"]
        entailed = entailed[seen.new(entailed["of"])]
        found = [row and row[place] for row in negatives.find(entailed["of"])]
        # As an array: of a block without an entailment a list would choose columns.
        kept = entailed[np.array([lone or negative is not None for negative in found], dtype=bool)]
        sides = {"anchor": kept["premise"], "positive": kept["hypothesis"]}
        negative = pd.Series([text or "" for text in found if lone or text is not None], index=kept.index, dtype=str)
        yield kept[["id"]].assign(**sides, negative=negative)


def _premises(block: pd.DataFrame) -> pd.Series:
    """What tells the premises of labelled pairs apart."""
    if "premise_id" not in block.columns:
        return block["premise"]
    return block["premise_id"].where(block["premise_id"].str.strip() != "", block["premise"])


def origin(source: Source, of: str = "") -> list[dict[str, str]]:
    """The origin of a source, as records and cards have it, see `origins`; `of` names the set that it may be."""
    if source.sets:
        return [place for name, one in source.sets.items() for place in origin(one, f"{of}: {name}" if of else name)]
    kind = next(name for name in ORIGINS if getattr(source, name))
    revision = (source.revision or "") if source.hub else ""
    return origins.one(kind=kind, name=origin_of(source), revision=revision, set=of)

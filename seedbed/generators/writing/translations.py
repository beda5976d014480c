"""Texts and their translations as files: which texts a set has, and what translators and judges say of each.

A text is identified by a hash of its content, so that equal texts of two corpora, or of a test and of training data,
are one text.
"""

import hashlib
import itertools
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from seedbed.corpora.shape.choices import OPTIONS, options
from seedbed.corpora.shape.clean import words
from seedbed.generators.writing.translation_settings import ASPECTS
from seedbed.io import UserError, read_table

COLUMNS = ["id", "text", "english", "finish"]
"""Columns of a file of translations."""
USABLE = ("stop", "given", "own")
"""Values of `finish` of translations that can be used: generated to the end, given, or the text itself in the pivot
language. The others: `length`, cut; `empty`, also where a text was too long to be sent; `refused` by a server;
`copied`; `missing` from given translations.
"""

WHOLE = 4
"""Words of a text that no translation of it repeats in a row; fewer may be a name."""


def text_id(text: str) -> str:
    """The id of a text: the first 16 hex digits of the SHA-256 of its UTF-8."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def texts_of(path: Path, columns: Mapping[str, str], pivot: str) -> dict[str, str]:
    """The distinct texts of a corpus or test set -> the language of each, by columns and rows, without empty cells.

    Args:
        path: the corpus or test set, a TSV.
        columns: column -> the language of its texts; of columns OPTIONS each text of their lists counts. A text that
            occurs in the pivot language too has the pivot as its language.
        pivot: code of the pivot language.

    Raises:
        UserError: as `read_table`, or there is no text.
    """
    table = read_table(path, [*columns], unique=None)
    found: dict[str, str] = {}
    for column, code in columns.items():
        lists = options(table.assign(id=table.index), str(path)) if column == OPTIONS else ()
        for text in itertools.chain.from_iterable(lists) if lists else table[column]:
            if text and found.get(text) != pivot:
                found[text] = code if code == pivot else found.get(text, code)
    if not found:
        raise UserError(f"{path}: no text in {' and '.join(columns)}; expected some to translate")
    return found


def finish(text: str, english: str, how: str) -> str:
    """How a translation ended: `how`, unless it is empty (`empty`), or repeats its text and has letters (`copied`).

    Small models repeat the text after an introduction ("The Uzbek: ..."), and a similarity would rank such an output
    highest: a translation that contains its text of WHOLE words or more counts as copied.
    """
    if how not in ("stop", "given"):
        return how
    if not english:
        return "empty"
    told, own = words(english), words(text)
    within = len(own) >= WHOLE and f" {' '.join(own)} " in f" {' '.join(told)} "
    return "copied" if (told == own or within) and any(map(str.isalpha, text)) else how


def candidates(files: Mapping[str, Path], judgements: Path | None = None) -> pd.DataFrame:
    """The candidate translations of a set of texts, one row for each text and translator, in this order.

    A text in the pivot language is its own only candidate: that of the first translator is usable, the others are not.

    Args:
        files: translator -> its output, a file of rule translate, all of the same texts.
        judgements: a file of rule judge, of all of them; None: no judge.

    Returns:
        id, text, translator, english, usable (bool), and of a judge semantic, emotional, pragmatic (float, nan where it
        could not score).

    Raises:
        UserError: two files are of different texts, or a file lacks a candidate's judgement.
    """
    parts = []
    for place, (name, path) in enumerate(files.items()):
        table = read_table(path, COLUMNS)
        if parts and list(table["id"]) != list(parts[0]["id"]):
            first = next(iter(files.values()))
            raise UserError(f"{path}: translations of other texts than those of {first}; make both of one text set")
        usable = table["finish"].isin(USABLE) & ((table["finish"] != "own") | (place == 0))
        part = table[["id", "text"]].assign(translator=name, english=table["english"], usable=usable)
        parts.append(part.join(_scores(judgements, name, table)) if judgements else part)
    if not parts:
        raise UserError("no file of translations; give one of each translator")
    return pd.concat(parts).sort_index(kind="stable", ignore_index=True)


def _scores(path: Path, name: str, table: pd.DataFrame) -> pd.DataFrame:
    """A translator's scores in the order of its translations."""
    judged = read_table(path, ["id", "translator", *ASPECTS], unique=None)
    judged = judged[judged["translator"] == name].set_index("id")
    if lacking := sorted({*table["id"]} - {*judged.index}):
        raise UserError(f"{path}: no judgement of {name}'s translation of text {lacking[0]}; judge this text set again")
    scores = judged.loc[table["id"], list(ASPECTS)].apply(pd.to_numeric, errors="coerce")
    return scores.astype(float).set_axis(table.index)

"""Checking labels and gold scores, and reading labelled pairs."""

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from seedbed.blocks import Blocks
from seedbed.corpora.settings import COLUMNS
from seedbed.io import UserError, read_table

LABELS = ("entailment", "neutral", "contradiction")
"""NLI labels in the order of XNLI's integers, which are also a language model's answers (paper 000, table 21)."""
_NAMES = {name: name for name in LABELS} | {str(number): name for number, name in enumerate(LABELS)}
_NAMES["contradictory"] = "contradiction"  # XNLI-MT's word


def normalise_labels(table: pd.DataFrame, where: str) -> pd.DataFrame:
    """Rows with their NLI labels as words.

    Raises:
        UserError: an unknown label.
    """
    labels = table["label"].str.strip().str.lower().map(_NAMES)
    if labels.isna().any():
        row = table[labels.isna()].iloc[0]
        raise UserError(
            f"{where}: id {row['id']!r} has label {row['label']!r}; expected {', '.join(LABELS)}, or 0, 1, 2; "
            "leave other rows out with `where:`"
        )
    return table.assign(label=labels)


def require_labels(table: pd.DataFrame, where: str) -> None:
    """Check that every row has a label, and that no label is written in two ways.

    Raises:
        UserError: a row has none, or two labels differ in case alone.
    """
    blank = table[table["label"].str.strip() == ""]
    if len(blank):
        raise UserError(
            f"{where}: id {blank['id'].iloc[0]!r} has no label, as {len(blank)} of {len(table)} rows; "
            "give it one, or leave such rows out with `where:`"
        )
    require_one_spelling(table["label"].unique(), where)


def require_one_spelling(labels: Iterable[str], where: str) -> None:
    """Check that no label is written in two ways.

    Raises:
        UserError: two differ in case alone.
    """
    spelled: dict[str, str] = {}
    for label in labels:
        first = spelled.setdefault(label.strip().casefold(), label.strip())
        if first != label.strip():
            raise UserError(f"{where}: labels {first!r} and {label.strip()!r} differ in case alone; write both alike")


def check_scores(table: pd.DataFrame, scale: tuple[float, float], where: str) -> None:
    """Check that every gold score is a number on its scale.

    Raises:
        UserError: one is not.
    """
    scores = pd.to_numeric(table["score"], errors="coerce")
    wrong = table[~scores.between(*scale)]
    if len(wrong):
        row = wrong.iloc[0]
        raise UserError(
            f"{where}: id {row['id']!r} has score {row['score']!r}; "
            f"expected a number from {scale[0]:g} to {scale[1]:g}, set `scale:` of the task for another range; "
            "the range of a training corpus cannot be set"
        )


def with_scores(blocks: Blocks, scale: tuple[float, float], where: str) -> Blocks:
    """Iterate over blocks of rows, checking their gold scores.

    Raises:
        UserError: a score is not a number on the scale.
    """
    for block in blocks:
        check_scores(block, scale, where)
        yield block


def read_pairs(path: Path, *, train: bool = False) -> pd.DataFrame:
    """Read a corpus of labelled pairs: id, premise, hypothesis, label (a word).

    Raises:
        UserError: the file cannot be read, an unknown label, or training data with a single label.
    """
    table = normalise_labels(read_table(path, ["id", *COLUMNS["labelled_pairs"]]), str(path))
    if train and table["label"].nunique() < 2:
        raise UserError(f"{path}: every label is {table['label'].iloc[0]!r}; a classifier needs two labels at least")
    return table

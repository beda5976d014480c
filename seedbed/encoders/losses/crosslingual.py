"""Batches with sentences in several languages: sampling each sentence's language, and reordering vectors into rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from seedbed.io import UserError

MOST_LANGUAGES = 6
"""The maximum number of languages in a cross-lingual batch (paper 004's code)."""


def sample_languages(
    rows: int, columns: int, languages: int, rng: np.random.Generator, *, at_most: int = MOST_LANGUAGES
) -> np.ndarray:
    """Sample the language of each sentence of a batch, so that the sentences of a row are in different languages.

    A batch has at most `at_most` languages, all equally likely. With two languages, a row's anchor and positive are in
    different ones and its negative is in either. Source: paper 004, section 4 and its code; docs/papers/modular.md.

    Args:
        rows: the number of rows of the batch.
        columns: 2 for anchors and positives, 3 with hard negatives.
        languages: the number of available languages, 2 or more.
        rng: the random generator.
        at_most: the maximum number of languages in one batch.

    Returns:
        Indices of languages (rows, columns), from 0.

    Raises:
        UserError: another number of columns, fewer than two languages, or no rows.
    """
    if columns not in (2, 3):
        raise UserError(f"columns: {columns}; a row has an anchor and a positive, and maybe a negative: give 2 or 3")
    if rows < 1:
        raise UserError(f"rows: {rows}; give 1 or more")
    if min(languages, at_most) < 2:
        raise UserError(f"languages: {min(languages, at_most)} for cross-lingual batches; give 2 or more")
    chosen = rng.choice(languages, min(languages, at_most), replace=False)
    drawn = rng.permuted(np.tile(chosen, (rows, 1)), axis=1)[:, :columns]
    if drawn.shape[1] < columns:
        drawn = np.concatenate([drawn, rng.choice(chosen, (rows, 1))], axis=1)
    return drawn


def gather(
    vectors: Sequence[Tensor], places: Sequence[np.ndarray | Tensor | Sequence[Sequence[int]]], shape: tuple[int, int]
) -> list[Tensor]:
    """Reorder vectors that were computed language by language into the columns of a batch; gradients flow through.

    Args:
        vectors: for each language, the vectors (sentences, width) of its sentences.
        places: for each language, the row and column in the batch of each of its sentences, (sentences, 2).
        shape: the batch's numbers of rows and columns.

    Returns:
        One tensor (rows, width) for each column.

    Raises:
        UserError: a place is given twice, is missing or is outside the batch, or vectors and places differ in number.

    Example:
        >>> anchors, positives = gather([hausa, english], [[(0, 0), (1, 1)], [(0, 1), (1, 0)]], (2, 2))
    """
    rows, columns = shape
    at = [np.asarray(place, dtype=np.int64).reshape(-1, 2) for place in places]
    if (counts := [len(one) for one in vectors]) != [len(place) for place in at]:
        raise UserError(f"gather: {counts} vectors for {[len(place) for place in at]} places; expected as many of each")
    together = np.concatenate(at) if at else np.empty((0, 2), np.int64)
    for row, column in together[((together < 0) | (together >= (rows, columns))).any(axis=1)]:
        raise UserError(f"gather: place ({row}, {column}) is none of a batch of {rows} rows and {columns} columns")
    flat = together @ (columns, 1)
    filled = np.bincount(flat, minlength=rows * columns)
    for place in np.flatnonzero(filled != 1):
        how = "more than one vector" if filled[place] else "no vector"
        raise UserError(f"gather: {how} for row {place // columns}, column {place % columns}; expected one for each")
    ordered = torch.cat(list(vectors))[torch.from_numpy(flat.argsort())]
    return list(ordered.unflatten(0, (rows, columns)).unbind(1))

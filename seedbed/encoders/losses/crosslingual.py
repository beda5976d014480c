"""Batches with sentences in several languages: sampling each sentence's language, and reordering vectors into rows."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from seedbed.io import UserError

MOST_LANGUAGES = 6
"""The maximum number of languages in a cross-lingual batch (paper 004's code)."""


def sample_languages(rows: int, columns: int, languages: int, rng: np.random.Generator) -> np.ndarray:
    """Sample the language of each sentence of a batch, so that the sentences of a row are in different languages.

    A batch has at most MOST_LANGUAGES, all equally likely. With two languages, a row's anchor and positive are in
    different ones and its negative is in either. Source: paper 004, section 4 and its code; docs/papers/modular.md.

    Args:
        rows: the number of rows of the batch.
        columns: 2 for anchors and positives, 3 with hard negatives.
        languages: the number of available languages, 2 or more.
        rng: the random generator.

    Returns:
        Indices of languages (rows, columns), from 0.

    Raises:
        UserError: another number of columns.
    """
    if columns not in (2, 3):
        raise UserError(f"columns: {columns}; a row has an anchor and a positive, and maybe a negative: give 2 or 3")
    chosen = rng.choice(languages, min(languages, MOST_LANGUAGES), replace=False)
    drawn = rng.permuted(np.tile(chosen, (rows, 1)), axis=1)[:, :columns]
    if drawn.shape[1] < columns:
        drawn = np.concatenate([drawn, rng.choice(chosen, (rows, 1))], axis=1)
    return drawn


def gather(vectors: Sequence[Tensor], places: Sequence[np.ndarray | Tensor | Sequence[Sequence[int]]]) -> list[Tensor]:
    """Reorder vectors that were computed language by language into the columns of a batch; gradients flow through.

    Args:
        vectors: for each language, the vectors (sentences, width) of its sentences.
        places: for each language, the row and column in the batch of each of its sentences, (sentences, 2); all of them
            together fill the batch.

    Returns:
        One tensor (rows, width) for each column.

    Example:
        >>> anchors, positives = gather([hausa, english], [[(0, 0), (1, 1)], [(0, 1), (1, 0)]])
    """
    together = np.concatenate([np.asarray(place, dtype=np.int64).reshape(-1, 2) for place in places])
    columns = int(together[:, 1].max()) + 1
    ordered = torch.cat(list(vectors))[torch.from_numpy((together @ (columns, 1)).argsort())]
    return list(ordered.unflatten(0, (-1, columns)).unbind(1))

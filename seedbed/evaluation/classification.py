"""Classification by the labels of the nearest training sentences (MINERS, section 2.2)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seedbed.io import UserError


def vote(labels: ArrayLike) -> NDArray:
    """The most frequent label of each row; among equally frequent ones, that of the nearest neighbour.

    Args:
        labels: (n, k) labels of the k nearest neighbours, nearest first; of any type that compares.

    Returns:
        Labels (n,).

    Raises:
        UserError: not two axes, or k = 0.
    """
    labels = np.asarray(labels)
    if labels.ndim != 2 or not labels.shape[1]:
        raise UserError(f"vote: labels of shape {labels.shape}; expected (n, k), k >= 1")
    counts = (labels[:, :, None] == labels[:, None, :]).sum(axis=2)
    winners = counts.argmax(axis=1)  # argmax takes the first of equals, which is the nearest
    return labels[np.arange(len(labels)), winners]

"""MINERS' table 4 (Winata et al. 2024, section 4.3): floating-point operations of three ways to label a test set.

The formulae themselves are an image in the paper; these follow from its caption's symbols and section 4.3
(docs/compute.md says which part is whose). Each holds for seconds too, where f and b are seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Sizes(NamedTuple):
    """Texts of the three parts of a data set."""

    train: int
    """|D_train|."""
    dev: int
    """|D_dev|."""
    test: int
    """|D_test|."""


def fine_tuning(sizes: Sizes, *, epochs: float, forward: float, backward: float) -> float:
    """n_epoch (|D_train| (f_M + b_M) + |D_dev| f_M) + |D_test| f_M.

    Args:
        epochs: n_epoch; the development set is read after each.
        forward: f_M, of one text through the encoder M and its head.
        backward: b_M, of one text.
    """
    learning = sizes.train * (forward + backward) + sizes.dev * forward
    return epochs * learning + sizes.test * forward


def search(
    sizes: Sizes, *, dimensions: int, minus: float = 1, square: float = 1, plus: float = 1, root: float = 1
) -> float:
    """|D_train| |D_test| (n_dim (p_- + p_sq + p_+) + p_root): the Euclidean distance of every pair.

    Args:
        dimensions: n_dim, of an embedding.
        minus: p_-, one subtraction.
        square: p_sq, one squaring.
        plus: p_+, one addition.
        root: p_root, one square root.
    """
    return sizes.train * sizes.test * (dimensions * (minus + square + plus) + root)


def retrieval(sizes: Sizes, *, dimensions: int, forward: float) -> float:
    """(|D_train| + |D_test|) f_M and `search`; a vote has no floating-point operation.

    Args:
        dimensions: n_dim, of an embedding.
        forward: f_M, of one text through the encoder M.
    """
    return (sizes.train + sizes.test) * forward + search(sizes, dimensions=dimensions)


def by_likelihood(sizes: Sizes, *, retrieval: float, labels: int, length: float, forward: float) -> float:
    """Retrieval and |D_test| |L| |l| f_G: a forward pass for each token of each label.

    Args:
        retrieval: the cost of finding shots.
        labels: |L|, how many there are.
        length: |l|, tokens of a label on average.
        forward: f_G, of one prompt through the language model G.
    """
    return retrieval + sizes.test * labels * length * forward


def by_generation(sizes: Sizes, *, retrieval: float, length: float, forward: float) -> float:
    """Retrieval and |D_test| |l| f_G: a forward pass for each token that is written, of the one label.

    Args:
        retrieval: the cost of finding shots.
        length: |l|, tokens of a label on average.
        forward: f_G, of one prompt through the language model G.
    """
    return retrieval + sizes.test * length * forward


def crossing(first: Callable[[int], float], second: Callable[[int], float]) -> float | None:
    """The number of training texts from which on `first` costs more than `second`, each linear in that number.

    Returns:
        0 if it always does, None if it never will.
    """
    slope = (first(1) - first(0)) - (second(1) - second(0))
    ahead = second(0) - first(0)
    if slope <= 0:
        return None if ahead >= 0 else 0.0
    return max(ahead / slope, 0.0)

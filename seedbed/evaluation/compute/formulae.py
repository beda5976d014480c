"""MINERS' table 4 (Winata et al. 2024, section 4.3): floating-point operations of three ways to label a test set.

The formulae are an image in the paper; these follow from its caption's symbols and section 4.3 (docs/papers/miners.md
says which part is whose). Each holds for seconds too, if f and b are seconds.
"""

import math
from collections.abc import Callable
from typing import NamedTuple


class Sizes(NamedTuple):
    """Numbers of texts: |D_train|, |D_dev| and |D_test|."""

    train: int
    dev: int
    test: int


def fine_tuning(sizes: Sizes, *, epochs: float, forward: float, backward: float) -> float:
    """n_epoch (|D_train| (f_M + b_M) + |D_dev| f_M) + |D_test| f_M.

    Args:
        epochs: n_epoch; the development set is evaluated after each.
        forward: f_M, cost of a forward pass of one text through the encoder M and its head.
        backward: b_M, cost of its backward pass.
    """
    learning = sizes.train * (forward + backward) + sizes.dev * forward
    return epochs * learning + sizes.test * forward


def retrieval(sizes: Sizes, *, dimensions: int, forward: float) -> float:
    """(|D_train| + |D_test|) f_M + |D_train| |D_test| (n_dim (p_- + p_sq + p_+) + p_root).

    The second part is the Euclidean distance of every pair; each p is one operation: a subtraction, a square, an
    addition and a square root. A vote has no floating-point operation.

    Args:
        dimensions: n_dim of an embedding.
        forward: f_M, cost of a forward pass of one text through the encoder M.
    """
    return (sizes.train + sizes.test) * forward + sizes.train * sizes.test * (3 * dimensions + 1)


def in_context(sizes: Sizes, *, retrieval: float, labels: int, length: float, forward: float) -> float:
    """Retrieval plus |D_test| |L| |l| f_G: a forward pass for each token of each label.

    Args:
        retrieval: cost of retrieving the examples.
        labels: |L|, the number of labels; 1 if the label is generated.
        length: |l|, mean number of tokens of a label.
        forward: f_G, cost of a forward pass of one prompt through the language model G.
    """
    return retrieval + sizes.test * labels * length * forward


def dearer(first: Callable[[int], float], second: Callable[[int], float]) -> tuple[float, float] | None:
    """The numbers of training texts, 0 or more, at which `first` costs more than `second`: those between two bounds,
    of which the upper one may be infinite; None: at none.

    Args:
        first: training texts -> cost, linear.
        second: likewise.
    """
    slope = (first(1) - first(0)) - (second(1) - second(0))
    ahead = second(0) - first(0)
    if slope > 0:
        return max(ahead / slope, 0.0), math.inf
    if ahead >= 0:
        return None
    return 0.0, ahead / slope if slope else math.inf

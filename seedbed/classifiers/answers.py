"""What a classifier answers: labels."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from seedbed.io import UserError


@dataclass(frozen=True)
class Answers:
    """A label for each text or pair, in their order."""

    labels: list[str]
    """Nothing: the answer is none of the labels."""
    probabilities: np.ndarray | None = None
    """(n, labels), as the likelihoods of a language model give them; None: there are no likelihoods."""
    cut: int = 0
    """Prompts that had to lose shots."""


def likeliest(scores: ArrayLike, labels: Sequence[str]) -> Answers:
    """The label with the highest score (n, labels), a logit or log-likelihood; among equal ones the first.

    Raises:
        UserError: not as many columns as labels, or a score that is not finite.
    """
    scores = np.asarray(scores, dtype=np.float64)
    if scores.ndim != 2 or scores.shape[1] != len(labels):
        raise UserError(f"classification: scores {scores.shape} of {len(labels)} labels")
    if not np.isfinite(scores).all():
        raise UserError("classification: the model gives scores that are not finite; its training diverged")
    return Answers([labels[place] for place in scores.argmax(axis=1)])

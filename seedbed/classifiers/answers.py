"""Answers of a classifier: labels."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from seedbed.io import UserError


@dataclass(frozen=True)
class Answers:
    """A label, or an answer in free text, for each test item, in order."""

    labels: list[str]
    """(n,); empty text: the answer is not one of the labels, or there is no answer."""
    probabilities: np.ndarray | None = None
    """(n, labels), from a language model's likelihoods; None: there are none."""
    cut: int = 0
    """The number of prompts that had to lose examples to fit; for answers in free text, of answers that were truncated
    at the length limit.
    """


def likeliest(scores: ArrayLike, labels: Sequence[str]) -> Answers:
    """The label with the highest score for each row of logits or log-likelihoods (n, labels); of equals, the first.

    Raises:
        UserError: another number of columns than labels, or a score that is not finite.
    """
    scores = np.asarray(scores, dtype=np.float64)
    if scores.ndim != 2 or scores.shape[1] != len(labels):
        raise UserError(f"classification: scores {scores.shape} of {len(labels)} labels")
    require_finite(scores, "classification")
    return Answers([labels[place] for place in scores.argmax(axis=1)])


def require_finite(scores: np.ndarray, where: str) -> None:
    """Check a model's scores, of any shape; UserError, which begins with `where`: one is not finite."""
    if not np.isfinite(scores).all():
        raise UserError(f"{where}: the model gives scores that are not finite; its training diverged")

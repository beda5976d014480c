"""The cost of a method on a data set, and what all methods share: the task, its sizes, samples."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from torch import nn

from seedbed.encoders.models.inference import Opened
from seedbed.evaluation.classification import known_labels
from seedbed.evaluation.compute.formulae import Sizes
from seedbed.evaluation.compute.measuring import Read, Span
from seedbed.evaluation.compute.settings import Compute
from seedbed.evaluation.scores import Trial
from seedbed.evaluation.scoring import texts, trial_of
from seedbed.evaluation.settings import Task
from seedbed.vectors.store import encode_ahead

SEED = 0
"""Seed of samples and of a new head."""


@dataclass(frozen=True)
class Counted:
    """Operations of one forward or backward pass, for one text."""

    symbol: str
    """The symbol in the paper."""
    flops: float
    texts: int
    """The number of texts that it was counted on."""
    read: Read | None = None
    """Tokens of these texts, where they were counted."""


@dataclass(frozen=True)
class Timed:
    """Seconds of a part of a method for a number of texts."""

    part: str
    texts: int
    span: Span


@dataclass(frozen=True)
class Cost:
    """The cost of a method on the whole data set."""

    method: str
    model: str
    sizes: Sizes
    formula: Callable[[int], float]
    """Training texts -> FLOPs by the paper's formula."""
    done: float
    """FLOPs of the code that runs."""
    span: Span
    """Seconds of the code that runs."""
    scaled: bool
    """Whether the seconds are scaled from a sample."""
    dtype: str
    symbols: dict[str, float]
    """Symbols of the formula other than sizes and counted operations."""
    counted: list[Counted]
    timed: list[Timed]

    @property
    def flops(self) -> float:
        """FLOPs by the paper's formula for the data set's training texts."""
        return self.formula(self.sizes.train)


def questions(task: Task, test: pd.DataFrame, train: pd.DataFrame | None, encoder: Opened) -> tuple[Trial, Trial]:
    """The task as two trials: one that encodes texts at each call, and one with precomputed embeddings.

    Raises:
        UserError: no training set, or a test label that it lacks.
    """
    known_labels("compute", test, train, also=task.labels)
    once = encode_ahead(encoder.encode, texts(task, test, train))
    return tuple(trial_of(task, test, encode, train=train, search=encoder.search) for encode in (encoder.encode, once))


def sizes_of(question: Trial, spec: Compute) -> Sizes:
    """|D_train|, |D_dev| and |D_test|."""
    return Sizes(len(question.train), spec.dev, len(question.test))


def sample(items: Sequence[Any], count: int) -> list[Any]:
    """`count` of the items, or all if there are fewer: the same in every run, in random order."""
    return random.Random(SEED).sample(list(items), min(count, len(items)))


def dtype_of(model: nn.Module) -> str:
    """The dtype of a model's weights."""
    return str(next(model.parameters()).dtype).removeprefix("torch.")

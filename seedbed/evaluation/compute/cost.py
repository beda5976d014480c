"""What a method costs on a data set, and what all methods share: the question, its sizes, samples."""

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
from seedbed.vectors.store import at_once

SEED = 0
"""Seed of samples and of a fresh head."""


@dataclass(frozen=True)
class Counted:
    """Operations of one pass, by the text."""

    symbol: str
    """The symbol as the paper writes it."""
    flops: float
    texts: int
    """How many it was counted on."""
    read: Read | None = None
    """What these texts were as batches, where it was counted."""


@dataclass(frozen=True)
class Timed:
    """Seconds of a part of a method, for so many texts."""

    part: str
    texts: int
    span: Span


@dataclass(frozen=True)
class Cost:
    """What a method costs on the whole data set."""

    method: str
    model: str
    sizes: Sizes
    formula: Callable[[int], float]
    """FLOPs by the paper's formula, for so many training texts."""
    done: float
    """FLOPs of what the code does."""
    span: Span
    """Seconds of what it does."""
    scaled: bool
    """Whether the seconds are scaled from a sample."""
    dtype: str
    symbols: dict[str, float]
    """Symbols of the formula, other than sizes and what is counted."""
    counted: list[Counted]
    timed: list[Timed]

    @property
    def flops(self) -> float:
        """By the formula, for the training texts that there are."""
        return self.formula(self.sizes.train)


def questions(task: Task, test: pd.DataFrame, train: pd.DataFrame | None, encoder: Opened) -> tuple[Trial, Trial]:
    """The question that the methods answer, with embeddings that are made each time, and with such as are made once.

    Raises:
        UserError: no training set, or a test label that it lacks.
    """
    known_labels("compute", test, train, also=task.labels)
    once = at_once(encoder.encode, texts(task, test, train))
    return tuple(trial_of(task, test, encode, train=train, search=encoder.search) for encode in (encoder.encode, once))


def sizes_of(question: Trial, spec: Compute) -> Sizes:
    """|D_train|, |D_dev| and |D_test|."""
    return Sizes(len(question.train), spec.dev, len(question.test))


def sample(items: Sequence[Any], count: int) -> list[Any]:
    """So many of them, or all: the same in every run, in random order."""
    return random.Random(SEED).sample(list(items), min(count, len(items)))


def dtype_of(model: nn.Module) -> str:
    """The dtype of a model's weights."""
    return str(next(model.parameters()).dtype).removeprefix("torch.")

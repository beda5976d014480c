"""What a protocol is given, a trial, and what it finds, its scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from seedbed.evaluation.settings import Task
from seedbed.vectors.types import Search

if TYPE_CHECKING:
    from seedbed.classifiers.answers import Answers
    from seedbed.encoders.translations.files import Chooser

Embed = Callable[..., list[np.ndarray]]
"""Columns of texts to the embeddings of each."""
Answer = Callable[["Trial", Sequence[str]], "Answers"]
"""The sets, and the labels to choose from, to the labels of the test items."""


@dataclass(frozen=True)
class Trial:
    """What a protocol scores: a task, its sets, and a system's answers."""

    task: Task
    test: pd.DataFrame
    """Test items, the columns of the protocol's kind."""
    train: pd.DataFrame | None
    """Training items of the same kind; None where the protocol needs none."""
    embed: Embed
    """Embeddings of columns of texts, by the encoder."""
    search: Search
    """The nearest of a corpus, by the task's distance or an encoder's own."""
    answer: Answer | None = None
    """Labels of the test items, by a classifier; None: an encoder is scored."""
    layers: Embed | None = None
    """Columns of texts to what every layer makes of each, (n, layers + 1, d); None: there are no layers to look at."""
    paths: Embed | None = None
    """Columns of texts to a vector of each and one of its English, (n, 2, d); None: no English is read."""
    choices: Chooser | None = None
    """Whose English is read; None: nobody's."""
    language: str = ""
    """Language of the test items."""


@dataclass(frozen=True)
class Scores:
    """What a protocol found."""

    main: float
    """The task's headline number: a fraction, or a distance."""
    metrics: dict[str, float]
    """All numbers."""
    items: pd.DataFrame
    """`id` and one score, hit or label per item and column, so that tables can resample them."""
    notes: list[str] = field(default_factory=list)
    """What a reader of the numbers must know."""
    mteb: dict[str, Any] = field(default_factory=dict)
    """What mteb files of it, as its TaskResult reads it; empty where mteb has no such task."""

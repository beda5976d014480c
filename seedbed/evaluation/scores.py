"""The input of a protocol, a trial of a system, and its output, scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from seedbed.evaluation.settings import Task
from seedbed.vectors.types import Encode, Layers, Search

if TYPE_CHECKING:
    from seedbed.classifiers.answers import Answers
    from seedbed.encoders.translations.files import Chooser

ROUNDING = 1e-6
"""Cosines that differ by less may be in another order where they are computed in float32."""
Embed = Callable[..., list[np.ndarray]]
"""Columns of texts -> the embeddings of each; the name of a column says what its texts are read as, see `READ_AS`."""
Answer = Callable[["Trial", Sequence[str]], "Answers"]
"""A trial and the possible labels -> the labels of the test items."""


@dataclass(frozen=True)
class System:
    """What an encoder or a classifier provides to be scored; None where it does not."""

    encode: Encode | None = None
    """Texts -> vectors (n, d), of the encoder, or of the one that retrieves a classifier's examples."""
    second: Encode | None = None
    """In a two-language test, `encode` of the second language; a text that both have is encoded by each."""
    search: Search | None = None
    """Nearest-neighbour search of fused encoders; None: the task's distance is used."""
    layers: Layers | None = None
    """Texts -> vectors of all layers."""
    paths: Layers | None = None
    """Texts -> vectors of both paths of an encoder that has two."""
    choices: Chooser | None = None
    """Texts -> which translation was chosen for each."""
    answer: Answer | None = None
    """A classifier's labels."""
    check: Callable[[Any, Scores], None] | None = None
    """Gets a scored `files.Set` and its scores, compares these with another implementation's, and adds to them."""
    about: dict[str, Any] = field(default_factory=dict)
    """Facts about the system for its score files."""
    libraries: tuple[str, ...] = ()
    """Libraries that its scores depend on: `LIBRARIES` of its kind."""


@dataclass(frozen=True)
class Trial:
    """The input of a protocol: a task, its data sets, and functions that query the system."""

    task: Task
    test: pd.DataFrame
    """Test items with the columns of the protocol's kind."""
    train: pd.DataFrame | None
    """Training items of the same kind; None if the protocol needs none."""
    embed: Embed
    """Columns of texts -> their embeddings by the encoder."""
    search: Search
    """Nearest-neighbour search, by the task's distance or an encoder's own."""
    answer: Answer | None = None
    """Labels of the test items by a classifier; None if an encoder is scored."""
    layers: Embed | None = None
    """Columns of texts -> token means of every layer of each, (n, layers + 1, d); None: not available."""
    paths: Embed | None = None
    """Columns of texts -> a vector of each text and one of its English translation, (n, 2, d); None: not available."""
    choices: Chooser | None = None
    """Texts -> which translation was chosen for each; None: not available."""
    language: str = ""
    """Language of the test items."""


@dataclass(frozen=True)
class Scores:
    """The output of a protocol."""

    main: float
    """The task's main score; its protocol says which metric it is."""
    metrics: dict[str, float]
    """All metrics by name."""
    items: pd.DataFrame
    """`id`, and for each item the scores, hits or labels that tables resample."""
    notes: list[str] = field(default_factory=list)
    """Remarks that a reader of the numbers must know."""
    unsettled: dict[str, float] = field(default_factory=dict)
    """How much a metric may change where cosines that differ by less than ROUNDING get another order; left out: 0."""
    mteb: dict[str, Any] = field(default_factory=dict)
    """mteb's result as its TaskResult reads it; empty if mteb has no such task."""

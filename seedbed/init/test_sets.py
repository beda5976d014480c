"""Test sets whose files are on this machine, and the training rows that repeat their texts."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from seedbed.corpora.read.assets import Store
from seedbed.corpora.read.fetch import fetch
from seedbed.corpora.select.contamination import EvaluationTexts
from seedbed.corpora.settings import COLUMNS, NO_TEXT, Cleaning, Kind, Source
from seedbed.evaluation.protocols import declared
from seedbed.evaluation.settings import Task


def texts_here(source: Source, kind: Kind, cleaning: Cleaning, *, test: bool = False) -> Iterator[pd.DataFrame]:
    """The text columns of a source that is a file of this machine, in blocks of rows; see `fetch`."""
    names = [name for name in COLUMNS[kind] if name not in NO_TEXT]
    store = Store(Path(), Path())  # a file here is neither downloaded nor pinned
    for block in fetch(source, kind, store, cleaning, test=test)[0]:
        yield block[names]


def count_repeating(texts: pd.DataFrame, seen: EvaluationTexts) -> int:
    """The number of rows with a text that repeats one of `seen`."""
    return int(texts.map(seen.repeats).any(axis=1).sum())


class TestSet(NamedTuple):
    """A test set whose files are on this machine."""

    source: Source
    kind: Kind
    whole: bool
    """Whether no sentence of it is dropped."""

    def texts(self, cleaning: Cleaning) -> Iterator[str]:
        """All its texts."""
        for block in texts_here(self.source, self.kind, cleaning, test=self.whole):
            yield from block.to_numpy().ravel()


def tests_of(tasks: Mapping[str, Any]) -> list[TestSet]:
    """The test sets of tasks, as a study has them."""
    specs = map(Task.model_validate, tasks.values())
    return [TestSet(spec.source, declared(spec.protocol).kind, not spec.clean) for spec in specs if spec.source]

"""Metrics that protocols compute. Metrics with fixed import paths (bitext, geometry, ...) are next to this folder."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Self

from seedbed.evaluation.aggregation import SHARE, Aggregate


@dataclass(frozen=True)
class Metric:
    """A metric of a score file, as tables show it."""

    key: str
    """Its name under `metrics` of a score file; empty for what no score file has."""
    items: tuple[str, ...] = ()
    """Columns of the per-item scores that it is computed from; empty: it has no interval."""
    by: Aggregate = SHARE
    """How it is computed from per-item scores."""
    points: int = 100
    """Tables print the metric times this."""
    decimals: int = 1
    """Decimals of what tables print."""
    lower: bool = False
    """Lower is better."""
    title: str = ""
    """Its name at the start of a line; empty: its name in tables, capitalised."""
    k: int | None = None
    """The number of neighbours it uses, which must be in the task's `k`; None: it does not depend on k."""
    count: str = ""
    """The metric that says what it is measured on, where that is not the items; empty: the items."""

    def of(self, label: str) -> Self:
        """The metric of one class, if this one is declared for each class."""
        by = replace(self.by, read=partial(self.by.read, label=label))
        return replace(self, key=self.key.format(label=label), by=by)

    def heading(self, name: str) -> str:
        """The metric's name at the start of a line."""
        return self.title or name[0].upper() + name[1:]

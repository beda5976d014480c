"""Metrics that protocols compute; those whose import paths are fixed (bitext, geometry, ...) lie beside this folder."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Self

from seedbed.evaluation.aggregation import MEAN, Aggregate


@dataclass(frozen=True)
class Metric:
    """A number of a score file, as tables show it."""

    key: str
    """The metric's name under `metrics` of a score file; empty for what no score file has."""
    items: tuple[str, ...] = ()
    """The columns of the per-item scores that it is computed from; empty: it has no interval."""
    by: Aggregate = MEAN
    """How the metric follows from the scores of items."""
    points: int = 100
    """Tables print the metric times this."""
    lower: bool = False
    """Lower is better."""
    title: str = ""
    """The metric's name at the beginning of a line; left out, its name in tables with a capital."""
    k: int | None = None
    """How many of the nearest it looks at: `k` of its task must have it."""

    def of(self, label: str) -> Self:
        """The metric of one class, of a metric that is declared of each."""
        by = replace(self.by, read=partial(self.by.read, label=label))
        return replace(self, key=self.key.format(label=label), by=by)

    def heading(self, name: str) -> str:
        """The metric's name at the beginning of a line."""
        return self.title or name[0].upper() + name[1:]

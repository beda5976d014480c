"""What triplets are measured by: the overlap (Dice) of anchors with positives and negatives (paper 000, figure 5)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from seedbed.evaluation.significance import LEAST_ITEMS, Statistic, replicates
from seedbed.io import read_table
from seedbed.tables.measures import Items, Measure, mean
from seedbed.tables.plan import Block
from seedbed.tables.settings import Statistics
from seedbed.tables.specs import METRICS, OVERLAP
from seedbed.triplets.overlap import by_row


def difference(items: Items) -> np.ndarray:
    """Mean of the first column less the second, items (..., n_items, 2): each row with itself."""
    return (items[..., 0] - items[..., 1]).mean(axis=-1)


def measure_overlap(block: Block, language: str, statistics: Statistics) -> Measure:
    """Read the triplets of all systems of a block in one language, and resample the rows of each on its own.

    Methods keep different rows of different anchors, so nothing pairs one method with another: the replicates of each
    come from a generator of its own, and no test over items compares them.

    Raises:
        UserError: a file is missing, has no rows, or lacks a column.
    """
    sides = METRICS[OVERLAP][block.column.metric].items
    statistic = difference if len(sides) == 2 else mean
    items = {texts.recipe: _read(Path(texts.file), sides) for texts in block.texts() if texts.test_lang == language}
    return Measure(
        language=language,
        task=block.tests[language],
        n={recipe: each.shape[1] for recipe, each in items.items()},
        by_seed={recipe: statistic(each) for recipe, each in items.items()},
        replicates=_resample(statistic, items, statistics),
        items=None,
        papers_data=False,
    )


def _read(path: Path, sides: tuple[str, ...]) -> Items:
    """Dice (1, n, k) of each row's anchor and its texts on k sides."""
    table = read_table(path, ["anchor", *sides])
    return np.stack([by_row(table, side) for side in sides], axis=-1)[None]


def _resample(statistic: Statistic, items: dict[str, Items], statistics: Statistics) -> dict[str, np.ndarray]:
    """Bootstrap means (resamples,) of each recipe with rows enough."""
    return {
        recipe: replicates(statistic, [each], resamples=statistics.resamples, seed=statistics.seed + place, batch=20)[0]
        for place, (recipe, each) in enumerate(items.items())
        if each.shape[1] >= LEAST_ITEMS
    }

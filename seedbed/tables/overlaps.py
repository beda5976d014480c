"""What triplets are measured by: the overlap (Dice) of anchors with positives and negatives (paper 000, figure 5)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from seedbed.evaluation.significance import LEAST_ITEMS, replicates
from seedbed.io import read_table
from seedbed.tables.measures import Items, Measure, mean
from seedbed.tables.plan import Block
from seedbed.tables.settings import Statistics
from seedbed.tables.specs import METRICS, OVERLAP
from seedbed.triplets.overlap import by_row


def measure_overlap(block: Block, language: str, statistics: Statistics) -> Measure:
    """Read the triplets of all systems of a block in one language, and resample the rows of each on its own.

    Methods keep different rows of different anchors, so nothing pairs one method with another: the replicates of each
    come from a generator of its own, and no test over items compares them.

    Raises:
        UserError: a file is missing, has no rows, or lacks a column.
    """
    sides = METRICS[OVERLAP][block.column.metric].items
    items = {texts.recipe: _read(Path(texts.file), sides) for texts in block.texts() if texts.test_lang == language}
    return Measure(
        language=language,
        task=block.tests[language],
        n={recipe: each.shape[1] for recipe, each in items.items()},
        by_seed={recipe: mean(each) for recipe, each in items.items()},
        replicates=_resample(items, statistics),
        items=None,
        papers_data=False,
    )


def _read(path: Path, sides: tuple[str, ...]) -> Items:
    """Dice (1, n, 1) of each row's anchor and its text on one side; of two sides, the first less the second."""
    table = read_table(path, ["anchor", *sides])
    first, *second = (by_row(table, side) for side in sides)
    return (first - second[0] if second else first)[None, :, None]


def _resample(items: dict[str, Items], statistics: Statistics) -> dict[str, NDArray[np.float64]]:
    """Bootstrap means (resamples,) of each recipe with rows enough."""
    return {
        recipe: replicates(mean, [each], resamples=statistics.resamples, seed=statistics.seed + place, batch=20)[0]
        for place, (recipe, each) in enumerate(items.items())
        if each.shape[1] >= LEAST_ITEMS
    }

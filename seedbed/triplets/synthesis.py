"""From anchors to triplets: positives and negatives from one loaded model, by a job that may be killed at any time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from seedbed.generators.writing.corpus import translate
from seedbed.generators.writing.triplets import complete
from seedbed.triplets.shards import write_shard


def shard(anchors: pd.DataFrame, number: int, shards: int) -> pd.DataFrame:
    """The anchors of one job, `number` counting from 0: consecutive rows, as even as can be, none left out."""
    first, last = (len(anchors) * bound // shards for bound in (number, number + 1))
    return anchors.iloc[first:last]


def synthesise(*asked: Any, name: str, method: str, output: Path, **options: Any) -> None:
    """Write a positive and a negative for each anchor as a shard; the other arguments are those of `complete`.

    The generator's name in the study and `method` are columns too. The journal is removed when the table is written.
    """
    _kept(*complete(*asked, **options), name, method, output)


def translated(*asked: Any, name: str, method: str, output: Path, **options: Any) -> None:
    """Translate rows as a shard; as `synthesise`, the other arguments are those of `translate`."""
    _kept(*translate(*asked, **options), name, method, output)


def _kept(table: pd.DataFrame, journal: Path, name: str, method: str, output: Path) -> None:
    write_shard(table.assign(generator=name, method=method), output)
    journal.unlink()

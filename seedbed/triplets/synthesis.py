"""From anchors to triplets: generating a shard of positives and negatives, in a job that can be killed and resumed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from seedbed.generators.writing.corpus import translate
from seedbed.generators.writing.triplets import complete
from seedbed.triplets.shards import write_shard


def shard(anchors: pd.DataFrame, number: int, shards: int) -> pd.DataFrame:
    """The anchors of one job: consecutive rows, in shards of equal size up to one row.

    Args:
        anchors: all anchors.
        number: the shard, from 0.
        shards: the number of shards.
    """
    first, last = (len(anchors) * bound // shards for bound in (number, number + 1))
    return anchors.iloc[first:last]


def synthesise(*arguments: Any, name: str, method: str, output: Path, **options: Any) -> None:
    """Generate a positive and a negative for each anchor, and write them as a shard.

    The generator's name and `method` are columns too. The journal is removed when the shard is written.

    Args:
        *arguments: arguments of `complete`.
        name: the generator's name in the study.
        method: the method's name.
        output: the shard's path.
        **options: keyword arguments of `complete`.
    """
    _kept(*complete(*arguments, **options), name, method, output)


def translated(*arguments: Any, name: str, method: str, output: Path, **options: Any) -> None:
    """Translate rows, and write them as a shard.

    Args:
        *arguments: arguments of `translate`.
        name: the generator's name in the study.
        method: the method's name.
        output: the shard's path.
        **options: keyword arguments of `translate`.
    """
    _kept(*translate(*arguments, **options), name, method, output)


def _kept(table: pd.DataFrame, journal: Path, name: str, method: str, output: Path) -> None:
    write_shard(table.assign(generator=name, method=method), output)
    journal.unlink()

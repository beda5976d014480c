"""Shards of a language's triplets: the anchors of each, and its file with a digest."""

from pathlib import Path

import pandas as pd

from seedbed.io import UserError, read_json, read_table, sha256, write_json, write_table

COLUMNS = [
    *("id", "anchor", "positive", "negative", "positive_finished", "negative_finished"),
    *("generator", "method", "prompt"),
]


def shard(anchors: pd.DataFrame, number: int, shards: int) -> pd.DataFrame:
    """The anchors of one job, shard `number` from 0: consecutive rows, in shards of equal size up to one row."""
    first, last = (len(anchors) * bound // shards for bound in (number, number + 1))
    return anchors.iloc[first:last]


def write_shard(made: pd.DataFrame, name: str, method: str, output: Path) -> None:
    """Write generated rows as a shard.

    A shard is a TSV with `COLUMNS` first, and its number of rows and sha256 as JSON of the same name.

    Args:
        made: the rows, as `generators.writing.triplets.complete` and `corpus.translate` return them.
        name: the generator's name in the study, for the column `generator`.
        method: how the rows were generated, for the column `method`.
    """
    table = made.assign(generator=name, method=method)
    write_table(table[[*COLUMNS, *table.columns.difference(COLUMNS)]], output)
    write_json({"rows": len(table), "sha256": sha256(output)}, output.with_suffix(".json"))


def read_shard(path: Path) -> pd.DataFrame:
    """Read a shard of `write_shard`.

    Raises:
        UserError: the file was changed since it was written.
    """
    if sha256(path) != read_json(path.with_suffix(".json"))["sha256"]:
        raise UserError(f"{path}: not as it was written (another sha256); remove it and run again: it is made anew")
    return read_table(path, COLUMNS)

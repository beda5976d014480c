"""Files of shards of a language's triplets, each with its digest."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from seedbed.io import UserError, read_json, read_table, sha256, write_json, write_table

COLUMNS = [
    *("id", "anchor", "positive", "negative", "positive_finished", "negative_finished"),
    *("generator", "method", "prompt"),
]


def write_shard(table: pd.DataFrame, path: Path) -> None:
    """Write a shard as a TSV with `COLUMNS` first, and its number of rows and sha256 as JSON of the same name."""
    write_table(table[[*COLUMNS, *table.columns.difference(COLUMNS)]], path)
    write_json({"rows": len(table), "sha256": sha256(path)}, path.with_suffix(".json"))


def read_shard(path: Path) -> pd.DataFrame:
    """Read a shard of `write_shard`.

    Raises:
        UserError: the file was changed since it was written.
    """
    if sha256(path) != read_json(path.with_suffix(".json"))["sha256"]:
        raise UserError(f"{path}: not as it was written (another sha256); remove it and run again: it is made anew")
    return read_table(path, COLUMNS)

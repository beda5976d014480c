"""Tables that need not fit into memory: iterators over blocks of rows, and indexes over all rows on disk.

Files for the indexes are in the system's folder for temporary files (`TMPDIR`), and are removed with the process.
"""

import hashlib
import itertools
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
import pandas as pd
import pyarrow as pa

Blocks = Iterator[pd.DataFrame]
"""One table: its rows in order, in blocks with the same columns; at least one block, and any may be empty."""

ROWS = 2048
"""Rows of a block, where blocks are cut by rows."""
CACHE = 2**23
"""Bytes of memory that each index on disk may use."""


def concatenate(blocks: Blocks) -> pd.DataFrame:
    """Concatenate blocks into a table in memory, with the columns that all blocks have."""
    return pd.concat(blocks, ignore_index=True, join="inner")


def peek(blocks: Blocks) -> tuple[pd.DataFrame, Blocks]:
    """The first block, and an iterator over all blocks including the first."""
    first = next(blocks)
    return first, itertools.chain([first], blocks)


def sample(rows: int, count: int, seed: int) -> np.ndarray:
    """Sample rows: booleans (rows,), True for the rows that `DataFrame.sample(count, random_state=seed)` selects.

    Args:
        rows: the number of rows of the table.
        count: the number of rows to select; all if there are fewer.
    """
    places = np.arange(rows, dtype=np.int32 if rows < 2**31 else np.int64)
    np.random.RandomState(seed).shuffle(places)
    drawn = np.zeros(rows, dtype=bool)
    drawn[places[:count]] = True
    return drawn


def select_rows(blocks: Blocks, rows: np.ndarray) -> Blocks:
    """Iterate over the rows of a table for which a boolean array of its length is True."""
    start = 0
    for block in blocks:
        yield block[rows[start : start + len(block)]]
        start += len(block)


class Spool:
    """A table on disk, with strings in all columns, that can be iterated over repeatedly."""

    def __init__(self, blocks: Blocks) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115  it lasts as long as the spool
        self._blocks = self._rows = 0
        for block in blocks:
            table = pa.Table.from_pandas(block, preserve_index=False)
            with pa.ipc.new_stream(self._file, table.schema) as stream:  # a stream for each: columns may differ
                stream.write_table(table)
            self._blocks += 1
            self._rows += len(block)

    def __len__(self) -> int:
        return self._rows

    def __iter__(self) -> Blocks:
        self._file.seek(0)
        for _ in range(self._blocks):
            with pa.ipc.open_stream(self._file) as stream:
                yield stream.read_pandas()


class Seen:
    """A set of keys of any size, stored as 128-bit digests."""

    def __init__(self) -> None:
        self._base = _base("CREATE TABLE seen (digest BLOB PRIMARY KEY) WITHOUT ROWID")

    def new(self, keys: Iterable[str]) -> np.ndarray:
        """Add keys; booleans, which of them were new, in their order."""
        return np.array([self.add(key) for key in keys], dtype=bool)

    def add(self, key: str) -> bool:
        """Add a key; whether it was new."""
        return self._base.execute("INSERT OR IGNORE INTO seen VALUES (?)", (_digest(key),)).rowcount == 1

    def remove(self, key: str) -> None:
        """Remove a key, which is new again."""
        self._base.execute("DELETE FROM seen WHERE digest = ?", (_digest(key),))


class SeenRows:
    """The keys that kept rows have in some columns; a row is kept if no kept row has one of its keys in that column."""

    def __init__(self, columns: Iterable[str]) -> None:
        self._seen = {name: Seen() for name in columns}

    def repeated(self, keys: Sequence[str]) -> str:
        """The first column in which a kept row has the same key as this row; empty: none has, and the row is kept.
        `keys` are in the order of the columns.
        """
        added: list[tuple[Seen, str]] = []
        for (name, seen), key in zip(self._seen.items(), keys, strict=True):
            if not seen.add(key):
                for other, before in added:
                    other.remove(before)  # the row is not kept, so others may have this key
                return name
            added.append((seen, key))
        return ""


class Lookup:
    """An index of a table's rows by a key; of rows with one key, the first.

    Args:
        blocks: rows with strings in all columns.
        key: a block -> the key of each row.
    """

    def __init__(self, blocks: Blocks, key: Callable[[pd.DataFrame], Sequence[str]]) -> None:
        first, blocks = peek(blocks)
        self.columns = list(first.columns)
        self._names = ", ".join(f"c{place}" for place in range(len(self.columns)))
        self._base = _base(f"CREATE TABLE row (digest BLOB, {self._names})")
        marks = ", ".join("?" * (len(self.columns) + 1))
        for block in blocks:
            rows = zip(map(_digest, key(block)), *(block[name] for name in self.columns), strict=True)
            self._base.executemany(f"INSERT INTO row VALUES ({marks})", rows)
        self._base.execute("CREATE INDEX by_digest ON row (digest)")
        (self._rows,) = self._base.execute("SELECT count(*) FROM row").fetchone()

    def __len__(self) -> int:
        return self._rows

    def find(self, keys: Iterable[str]) -> list[tuple[str, ...] | None]:
        """The row of each key; None: there is none."""
        ask = f"SELECT {self._names} FROM row WHERE digest = ? ORDER BY rowid LIMIT 1"
        return [self._base.execute(ask, (_digest(key),)).fetchone() for key in keys]

    def blocks(self) -> Blocks:
        """Iterate over all rows in order."""
        cursor = self._base.execute(f"SELECT {self._names} FROM row ORDER BY rowid")
        while rows := cursor.fetchmany(ROWS):
            yield pd.DataFrame(rows, columns=self.columns, dtype=str)


def _base(statement: str) -> sqlite3.Connection:
    """A new private database, which spills into an unnamed file once it outgrows its memory."""
    base = sqlite3.connect("")
    for setting in ("journal_mode = OFF", "synchronous = OFF", "temp_store = FILE", f"cache_size = -{CACHE >> 10}"):
        base.execute(f"PRAGMA {setting}")
    base.execute(statement)
    return base


def _digest(key: str) -> bytes:
    return hashlib.blake2b(key.encode(), digest_size=16).digest()

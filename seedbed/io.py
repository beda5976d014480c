"""Reading and writing: one table format (TSV without quoting), JSON, and atomic output.

Every module may import this one, and an edit of its code re-runs every job, so it stays small.
"""

import contextlib
import csv
import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import pandas as pd

PART = 2**20
"""Bytes of text that are read at a time."""
AGAIN = "delete it and run Snakemake again, which makes it again"
"""Advice about a file that a job did not write as it is."""
LINE = 2**27
"""Maximum bytes of a line, 128 MiB, so that broken files do not fill the memory."""


class UserError(ValueError):
    """Bad input. The message is one line: what is wrong, where, and what would be right."""


def read_table(path: str | Path, columns: Sequence[str], *, unique: str | None = "id") -> pd.DataFrame:
    """Read a TSV of text columns, in file order.

    Args:
        columns: columns that it must have; others are returned too.
        unique: a column that must have no repeated values, if it exists; None: none.

    Raises:
        UserError: no such file, not UTF-8, no rows, a missing or repeated column, a row of another length, or a
            repeated value in `unique`.
    """
    table = pd.concat(read_blocks(path, columns), ignore_index=True)
    if unique in table.columns and (repeated := table[unique][table[unique].duplicated()]).size:
        raise UserError(f"{path}: {unique} {repeated.iloc[0]!r} appears twice; every {unique} must be unique")
    return table


def read_blocks(path: str | Path, columns: Sequence[str]) -> Iterator[pd.DataFrame]:
    """Iterate over a TSV of text columns, with these and maybe others, in blocks of about a megabyte, in file order.

    Raises:
        UserError: no such file, not UTF-8, no rows, a missing or repeated column, or a row of another length (a tab
            inside a text).
    """
    path = Path(path)
    if not path.is_file():
        raise UserError(f"{path}: no such file; expected a TSV with the columns {', '.join(columns)}")
    with path.open("rb") as stream:
        header, empty = None, True
        for rows in tab_separated(decoded(stream, path), path):
            if header is None:
                header, *rows = rows
                _require_columns(header, columns, path)
            if rows:
                yield pd.DataFrame(rows, columns=header, dtype=str)
                empty = False
    if header is None:
        _require_columns([], columns, path)
    if empty:
        raise UserError(f"{path}: no rows below the header; at least one is needed")


def has_rows(path: str | Path) -> bool:
    """Whether a TSV has a row below its header. Only its first two lines are read, and nothing is checked."""
    with Path(path).open("rb") as stream:
        return len([*islice(stream, 2)]) == 2


def _require_columns(header: list[str], columns: Sequence[str], path: Path) -> None:
    if missing := [name for name in columns if name not in header]:
        raise UserError(f"{path}: no column {missing[0]!r}; the header has {', '.join(header) or 'nothing'}")
    if len(set(header)) < len(header):
        raise UserError(f"{path}: a column appears twice in the header, {', '.join(header)}; rename one")


def decoded(stream: BinaryIO, name: str | Path) -> Iterator[str]:
    """Iterate over the text of a UTF-8 file, in whole lines of about a megabyte at a time.

    Raises:
        UserError: a byte that is not UTF-8, or a line of more than LINE bytes.
    """
    place = 0
    while lines := _lines(stream, name):
        part = b"".join(lines)
        try:
            yield part.decode("utf-8")
        except UnicodeDecodeError as error:
            raise UserError(f"{name}: byte {place + error.start} is not UTF-8; convert the file to UTF-8") from None
        place += len(part)


def _lines(stream: BinaryIO, name: str | Path) -> list[bytes]:
    lines, size = [], 0
    while size < PART and (line := stream.readline(LINE + 1)):
        if len(line) > LINE:
            raise UserError(
                f"{name}: a line of more than {LINE >> 20} MiB begins at byte {stream.tell() - len(line)}; "
                "break it into lines of one text each"
            )
        lines.append(line)
        size += len(line)
    return lines


def tab_separated(parts: Iterable[str], name: str | Path) -> Iterator[list[list[str]]]:
    """Iterate over the fields of all lines that are not empty, in parts of whole lines; all lines must have the same
    number of fields.

    Raises:
        UserError: a line has another number of fields than the first.
    """
    before, width = 0, 0
    for part in parts:
        rows = [line.split("\t") for line in part.replace("\r\n", "\n").split("\n") if line]
        width = width or len(rows[0] if rows else [])
        for number, row in enumerate(rows, start=before + 1):
            if len(row) != width:
                raise UserError(
                    f"{name}: row {number} has {len(row)} fields, the first {width}; replace tabs and line breaks"
                )
        before += len(rows)
        if rows:
            yield rows


def write_table(table: pd.DataFrame | Iterable[pd.DataFrame], path: str | Path) -> None:
    """Write a table, or its rows in blocks, as a TSV without quoting. Texts must not contain tabs or line breaks.

    `read_table` reads texts back unchanged, and numbers as texts.
    """
    with atomic(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        for place, block in enumerate([table] if isinstance(table, pd.DataFrame) else table):
            block.to_csv(file, sep="\t", index=False, header=not place, quoting=csv.QUOTE_NONE, lineterminator="\n")


def read_json(path: str | Path) -> Any:
    """Read a JSON file.

    Raises:
        UserError: no such file, or not JSON.
    """
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except (FileNotFoundError, IsADirectoryError):
        raise UserError(f"{path}: no such file; expected JSON") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: not JSON ({error})") from None


def compact(value: Any) -> str:
    """Canonical JSON: equal values give equal strings, whatever the order of keys."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def write_json(value: Any, path: str | Path) -> None:
    """Write canonical JSON: sorted keys, indentation of two, UTF-8; NaN is an error."""
    with atomic(path) as temporary:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2, sort_keys=True)
        temporary.write_text(text + "\n", encoding="utf-8")


@contextlib.contextmanager
def atomic(path: str | Path) -> Iterator[Path]:
    """Context with a temporary path that is renamed to `path` if the block ends without an error."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def atomic_directory(path: str | Path) -> Iterator[Path]:
    """Context with an empty directory that replaces `path` if the block ends without error, readable for everyone."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    try:
        yield temporary
        _share(temporary)
        if path.exists():
            shutil.rmtree(path)
        temporary.replace(path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _share(directory: Path) -> None:
    """Undo the 0700 of mkdtemp and the 0600 of safetensors: on a cluster colleagues read what one of them made."""
    # In the order in which they were written: a change after the last, a manifest, is an edit by hand.
    for path in sorted((directory, *directory.rglob("*")), key=lambda path: path.stat().st_mtime_ns):
        path.chmod(0o755 if path.is_dir() else 0o644)


def is_own(path: Path, folder: Path) -> bool:
    """Whether a path in a folder is a file of that folder, and not a link that leads elsewhere or in a circle.

    A snapshot in the hub's cache consists of links into its repository's `blobs`; these count as its own.
    """
    home = folder.resolve()
    for above in (home, *home.parents):
        if above.parent.name == "snapshots" and re.match("(models|datasets)--", above.parent.parent.name):
            home = above.parent.parent
    real = Path(os.path.realpath(path))
    return real.is_file() and real.is_relative_to(home)


def sha256(path: str | Path) -> str:
    """Hex digest of a file; of a directory, from its files' relative names and digests in sorted order.

    Raises:
        FileNotFoundError: there is neither.
    """
    path = Path(path)
    if not path.is_dir():
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    digests = {str(file.relative_to(path)): sha256(file) for file in sorted(path.rglob("*")) if file.is_file()}
    return fingerprint(digests)


def fingerprint(value: Any) -> str:
    """Hex digest of a JSON value, independent of the order of its keys."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()

"""The bytes of a file become rows of text: one function for each form."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet

from seedbed.corpora.settings import Source
from seedbed.io import UserError, tab_separated

ENDINGS = {
    "tsv": "tsv", "tab": "tsv", "csv": "csv", "jsonl": "jsonl", "json": "json", "parquet": "parquet",
    "txt": "text", "text": "text",
}  # fmt: skip
"""The form of a file by its name's ending."""


def parse(name: str, content: bytes, source: Source) -> pd.DataFrame:
    """One file's rows: strings, a null is an empty one. Without a header the columns are positions.

    Args:
        name: of the file, without `.gz`.
        content: of the file, unpacked.

    Raises:
        UserError: the form is not known, or the content is not of it.
    """
    form = _form(name, source)
    try:
        return READERS[form](content, name, source)
    except UserError:
        raise
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, OSError, pa.ArrowException) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise UserError(f"{name}: not {form} ({reason})") from None


def _form(name: str, source: Source) -> str:
    ending = PurePosixPath(name).suffix.removeprefix(".").lower()
    form = ENDINGS.get(ending) if source.format == "auto" else source.format
    if form is None:
        raise UserError(
            f"{name}: its ending says no form; known: .{', .'.join(ENDINGS)}, each maybe with .gz; "
            "say it as `format:`, or name a file inside as `member:`"
        )
    if form not in READERS:
        raise UserError(f"{name}: {form} is a form of models; a file of rows is {', '.join(READERS)}")
    return form


def strings(rows: pd.DataFrame) -> pd.DataFrame:
    """All cells as strings: a null is empty, a list of words has blanks between, an object {...} is no text: empty.

    Args:
        rows: whole numbers beside nulls as objects, as `integer_object_nulls` of pyarrow leaves them.
    """
    if rows.empty:
        return pd.DataFrame(columns=rows.columns, dtype=str)
    columns = [_cells(rows.iloc[:, place].reset_index(drop=True)) for place in range(rows.shape[1])]
    return pd.concat(columns, axis=1).set_axis(rows.columns, axis=1)


def _cells(column: pd.Series) -> pd.Series:
    if column.dtype == object:
        column = pd.Series([_plain(cell) for cell in column], dtype=object)  # `map` would infer a type with the nulls
    known = column[column.notna()]
    # Of what is there the type is inferred: with nulls among them, whole numbers would be taken for 1.0.
    return known.infer_objects().astype(str).reindex(column.index, fill_value="")


def _plain(cell: Any) -> Any:
    if isinstance(cell, list | np.ndarray):
        return " ".join(map(str, cell))
    if isinstance(cell, bytes):
        return cell.decode()
    return None if isinstance(cell, dict) else cell


def text_of(content: bytes, name: str) -> str:
    """A file's text, lines ended by line feeds.

    Raises:
        UserError: it is not UTF-8.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{name}: byte {error.start} is not UTF-8; convert the file to UTF-8") from None
    # UTF-16 without a mark may be valid UTF-8, with a NUL in each blank and line break.
    if (nuls := text.count("\0")) > max(text.count("\n") + 1, len(text) / 50):
        raise UserError(f"{name}: {nuls} of {len(text)} characters are NUL, as in UTF-16; convert the file to UTF-8")
    text = text.replace("\r\n", "\n")
    return text if "\n" in text else text.replace("\r", "\n")


def _lines(content: bytes, name: str, source: Source) -> pd.DataFrame:
    return pd.DataFrame({"text": text_of(content, name).removesuffix("\n").split("\n")}, dtype=str)


def _tsv(content: bytes, name: str, source: Source) -> pd.DataFrame:
    if not (rows := tab_separated(text_of(content, name), name)):
        raise UserError(f"{name}: empty; expected tab-separated rows")
    return pd.DataFrame(rows, dtype=str) if _by_position(source) else pd.DataFrame(rows[1:], columns=rows[0], dtype=str)


def _csv(content: bytes, name: str, source: Source) -> pd.DataFrame:
    # The header is read as a row: pandas would rename a repeated column, and shift rows that are one field longer.
    table = pd.read_csv(
        io.StringIO(text_of(content, name)), sep=source.delimiter, dtype=str, keep_default_na=False, header=None
    )
    if _by_position(source):
        return table
    header = [column or f"Unnamed: {place}" for place, column in enumerate(table.iloc[0])]
    return table.iloc[1:].set_axis(header, axis=1)


def _by_position(source: Source) -> bool:
    return any(isinstance(place, int) for place in source.columns.values())


def _jsonl(content: bytes, name: str, source: Source) -> pd.DataFrame:
    # Not splitlines: a JSON string may hold U+2028 and its like.
    lines = text_of(content, name).split("\n")
    rows = []
    for number, line in enumerate(lines, start=1):
        try:
            rows += [json.loads(line)] if line.strip() else []
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from None
    return _records(rows)


def _json(content: bytes, name: str, source: Source) -> pd.DataFrame:
    rows = json.loads(text_of(content, name))
    if not isinstance(rows, list):
        raise ValueError("no list of rows; for other JSON give `format:`: jsonl, messages, squad")
    return _records(rows)


def _records(rows: Sequence[Any]) -> pd.DataFrame:
    """Rows of JSON: objects, or lists whose columns are positions."""
    kinds = Counter(type(row) if isinstance(row, dict) else (type(row), len(row)) if isinstance(row, list) else None
                    for row in rows)  # fmt: skip
    if not rows or len(kinds) > 1 or None in kinds:
        raise ValueError("expected rows that all are objects {...}, or lists of one length" if rows else "no rows")
    return strings(pd.DataFrame(rows, dtype=object))


def _parquet(content: bytes, name: str, source: Source) -> pd.DataFrame:
    table = pyarrow.parquet.read_table(io.BytesIO(content))
    table.validate(full=True)  # UTF-8 too, of which pyarrow takes a file's word
    return strings(table.to_pandas(integer_object_nulls=True))


def _messages(content: bytes, name: str, source: Source) -> pd.DataFrame:
    """Interface messages; those with placeholders or markup are no sentences."""
    catalogue: dict[str, str] = json.loads(text_of(content, name))
    plain = {key: value for key, value in catalogue.items() if not set("{}<>") & set(value)}
    return pd.DataFrame({"id": list(plain), "text": list(plain.values())}, dtype=str)


def _squad(content: bytes, name: str, source: Source) -> pd.DataFrame:
    """Questions and the paragraphs that answer them (SQuAD 1.1, 2.0); ids that repeat are no ids (TyDi QA, train)."""
    paragraphs = [
        paragraph for article in json.loads(text_of(content, name))["data"] for paragraph in article["paragraphs"]
    ]
    rows = [
        (item["id"], item["question"], paragraph["context"]) for paragraph in paragraphs for item in paragraph["qas"]
    ]
    table = strings(pd.DataFrame(rows, columns=["id", "query", "document"], dtype=object))
    return table if table["id"].is_unique else table.drop(columns="id")


READERS: dict[str, Callable[[bytes, str, Source], pd.DataFrame]] = {
    "tsv": _tsv,
    "csv": _csv,
    "jsonl": _jsonl,
    "json": _json,
    "parquet": _parquet,
    "text": _lines,
    "messages": _messages,
    "squad": _squad,
}

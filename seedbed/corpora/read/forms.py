"""File formats: from the bytes of a file to rows of text, in blocks."""

import csv
import io
import json
import re
import shutil
import struct
import tempfile
from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import Any, BinaryIO

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from seedbed.blocks import ROWS, Blocks
from seedbed.corpora.read.assets import require_bounded
from seedbed.corpora.read.nested import add_nested_columns
from seedbed.corpora.settings import ENDINGS, Source
from seedbed.corpora.shape.questions import merge_answers, split_answers
from seedbed.io import LINE, UserError, decoded, tab_separated

PART = 2**26
"""Bytes of text in one batch of Parquet rows."""
WRONG = (ValueError, LookupError, TypeError, AttributeError, RecursionError, MemoryError, struct.error, csv.Error)
"""Errors that readers raise for content of another format, or for more than fits the memory."""
DOCUMENT = LINE
"""Maximum bytes of a JSON document, which is read whole; lines of JSON are not."""
LONE_RETURN = re.compile("\r(?!\n)")
"""A carriage return that ends no line of a CSV, whose reader would take it for an end."""
RETURN = "\udc0d"
"""What stands for it while a CSV is read: a character that no UTF-8 has."""
csv.field_size_limit(LINE)  # by itself 128 KiB, less than a document may have


def parse(name: str, stream: BinaryIO, source: Source) -> Blocks:
    """Iterate over the rows of a file, as strings; nulls are empty. Without a header, columns are positions.

    Args:
        name: the file's name, without `.gz`.
        stream: the decompressed file; it is closed at the end.

    Raises:
        UserError: an unknown format, or content of another format.
    """
    form = _form(name, source)
    try:
        with stream:
            yield from READERS[form](stream, name, source)
    except UserError:
        raise
    except (*WRONG, pa.ArrowException) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise UserError(f"{name}: not {form} ({reason})") from None


def _form(name: str, source: Source) -> str:
    form = source.form_of(name)
    if form is None:
        raise UserError(
            f"{name}: its ending says no form; known: .{', .'.join(ENDINGS)}, each maybe with .gz or .xz; "
            "say it as `format:`, or name a file inside as `member:`"
        )
    if form not in READERS:
        raise UserError(f"{name}: {form} is a form of models; a file of rows is {', '.join(READERS)}")
    source.require_separated(name)  # again: of what a pattern names, only now
    return form


def strings(rows: pd.DataFrame, source: Source | None = None) -> pd.DataFrame:
    """All cells as strings: nulls are empty, lists of words are joined by blanks without their nulls, objects {...} and
    lists of objects or lists are empty.

    SQuAD's answer objects become two columns, see `questions.split_answers`; of other objects, values under dotted
    names of the source, see `nested.add_nested_columns`. Each cell is converted by itself, whatever else is in its
    block.

    Args:
        rows: the rows; integers next to nulls as objects, as pyarrow's `integer_object_nulls` gives them.
        source: gives the dotted names.
    """
    rows = split_answers(add_nested_columns(rows, source) if source else rows)
    if rows.empty:
        return pd.DataFrame(columns=rows.columns, dtype=str)
    columns = [_cells(rows.iloc[:, place].reset_index(drop=True)) for place in range(rows.shape[1])]
    return pd.concat(columns, axis=1).set_axis(rows.columns, axis=1)


def _cells(column: pd.Series) -> pd.Series:
    if column.dtype == object:
        return pd.Series([_plain(cell) for cell in column], dtype=str)
    known = column[column.notna()]
    if known.dtype.kind in "mM":  # as a whole, times at midnight would lose their hours where all are
        known = known.map(str)
    return known.astype(str).reindex(column.index, fill_value="")


def _plain(cell: Any) -> str:
    if isinstance(cell, list | np.ndarray):
        return " ".join(str(one) for one in cell if pd.api.types.is_scalar(one) and not pd.isna(one))
    if isinstance(cell, bytes):
        return cell.decode()
    return "" if isinstance(cell, dict) or pd.isna(cell) else str(cell)


def text_of(stream: BinaryIO, name: str) -> Iterator[str]:
    """Iterate over a file's text in parts of whole lines, with line feeds.

    Raises:
        UserError: it is not UTF-8.
    """
    nuls = lines = characters = 0
    for part in decoded(stream, name):
        text = part if characters else part.removeprefix("\ufeff")
        nuls, lines, characters = nuls + text.count("\0"), lines + text.count("\n"), characters + len(part)
        # UTF-16 without a mark may be valid UTF-8, with a NUL in each blank and line break.
        if nuls > max(lines + 1, characters / 50):
            raise UserError(
                f"{name}: {nuls} of {characters} characters are NUL, as in UTF-16; convert the file to UTF-8"
            )
        text = text.replace("\r\n", "\n")
        yield text if lines else text.replace("\r", "\n")


def _lines(stream: BinaryIO, name: str, source: Source) -> Blocks:
    parts = text_of(stream, name)
    for text in chain([next(parts, "")], parts):
        yield pd.DataFrame({"text": text.removesuffix("\n").split("\n")}, dtype=str)


def _tsv(stream: BinaryIO, name: str, source: Source) -> Blocks:
    header: list[Any] | None = None
    for rows in tab_separated(text_of(stream, name), name):
        if header is None:
            header, *rows = [[*range(len(rows[0]))], *rows] if source.by_position else rows
        yield pd.DataFrame(rows, columns=header, dtype=str)
    if header is None:
        raise UserError(f"{name}: empty; expected tab-separated rows")


def _csv(stream: BinaryIO, name: str, source: Source) -> Blocks:
    header: list[Any] | None = None
    rows = _separated(text_of(stream, name), name, source.delimiter)
    while block := list(islice(rows, ROWS)):
        if header is None and source.by_position:
            header = [*range(len(block[0]))]
        elif header is None:
            first, *block = block
            header = [column or f"Unnamed: {place}" for place, column in enumerate(first)]
        yield pd.DataFrame(block, columns=header, dtype=str)
    if header is None:
        raise UserError(f"{name}: empty; expected rows of cells that {source.delimiter!r} separates")


def _separated(parts: Iterator[str], name: str, delimiter: str) -> Iterator[list[str]]:
    """Iterate over the cells of all rows of a CSV that are not blank; all rows must have the same number of cells.

    Raises:
        UserError: a row has another number of cells than the first, or the file ends within a quotation.
    """
    texts = (LONE_RETURN.sub(RETURN, part) for part in parts)
    lines = chain.from_iterable(io.StringIO(text, newline="\n") for text in texts)
    number = width = 0
    row: list[str] = []
    for row in csv.reader(chain(lines, ["\n"]), delimiter=delimiter):
        if not row or (len(row) == 1 and row[0] and not row[0].strip(" \t")):
            continue
        number, width = number + 1, width or len(row)
        if len(row) != width:
            raise UserError(
                f"{name}: row {number} has {len(row)} fields, the first {width}; write every cell, and quote those "
                "with a separator, a line break or a quotation mark"
            )
        yield [cell.replace(RETURN, "\r") for cell in row]
    if row:  # the line break at the end is a part of it, and no blank line
        raise UserError(f"{name}: ends within a quotation, in row {number}; close it, or get the file again")


def _jsonl(stream: BinaryIO, name: str, source: Source) -> Blocks:
    """Read twice: what columns there are, the last line may say, or the last of those that `source.first` leaves."""
    stream = _seekable(stream, source.first and source.skip + source.first)
    header = _header(_objects(stream, name))
    stream.seek(0)
    rows = _objects(stream, name)
    while block := list(islice(rows, ROWS)):
        yield strings(pd.DataFrame(block, columns=header, dtype=object), source)


def _objects(stream: BinaryIO, name: str) -> Iterator[Any]:
    # Not splitlines: a JSON string may hold U+2028 and its like.
    lines = (line for text in text_of(stream, name) for line in text.removesuffix("\n").split("\n"))
    for number, line in enumerate(lines, start=1):
        try:
            if line.strip():
                yield json.loads(line)
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from None


def _json(stream: BinaryIO, name: str, source: Source) -> Blocks:
    rows = _document(stream, name)
    if not isinstance(rows, list):
        raise ValueError("no list of rows; for other JSON give `format:`: jsonl, messages, squad")
    yield strings(pd.DataFrame(rows, columns=_header(iter(rows)), dtype=object), source)


def _whole(stream: BinaryIO, name: str, what: str, instead: str) -> bytes:
    """The bytes of a file that can only be read whole; UserError: they are too many, and what to do instead."""
    content = stream.read(DOCUMENT + 1)
    if len(content) > DOCUMENT:
        raise UserError(f"{name}: {what} of more than {DOCUMENT >> 20} MiB; {instead}")
    return content


def _document(stream: BinaryIO, name: str) -> Any:
    content = _whole(stream, name, "a JSON document", "write its rows as lines of JSON (.jsonl)")
    return json.loads("".join(text_of(io.BytesIO(content), name)))


def _header(rows: Iterator[Any]) -> list[Any]:
    """The columns of rows of JSON: the keys of objects, or the positions in lists."""
    columns: dict[Any, None] = {}
    kinds = set()
    for row in rows:
        kinds.add("object" if isinstance(row, dict) else len(row) if isinstance(row, list) else None)
        if len(kinds) > 1 or None in kinds:
            raise ValueError("expected rows that all are objects {...}, or lists of one length")
        columns.update(dict.fromkeys(row if isinstance(row, dict) else range(len(row))))
    if not kinds:
        raise ValueError("no rows")
    return list(columns)


def _parquet(stream: BinaryIO, name: str, source: Source) -> Blocks:
    """Parquet stores a repeated text once; it is expanded only once the rows are known to be small enough."""
    try:
        file = _seekable(stream)
        packed, known = file.seek(0, io.SEEK_END), pyarrow.parquet.read_metadata(file)
        columns = [known.schema.column(place) for place in range(known.num_columns)]
        once = [column.path for column in columns if column.physical_type == "BYTE_ARRAY"]
        # Not buffered ahead: that would hold all of its row groups.
        opened = pyarrow.parquet.ParquetFile(file, read_dictionary=once, pre_buffer=False, buffer_size=1 << 20)
        schema, size = known.schema.to_arrow_schema(), 0
        if not known.num_rows:
            yield strings(schema.empty_table().to_pandas(), source)
        # Group by group: of a batch with rows of two, pyarrow converts no lists and objects.
        groups = ([group] for group in range(known.num_row_groups))
        for batch in chain.from_iterable(opened.iter_batches(ROWS, row_groups=group) for group in groups):
            batch.validate(full=True)  # UTF-8 too, of which pyarrow takes a file's word
            size += sum(map(_bytes, batch.columns))
            require_bounded(name, size, packed)
            for part in _small(batch):
                rows = pa.Table.from_batches([part]).cast(schema)
                yield strings(rows.to_pandas(integer_object_nulls=True), source)
    except OSError as error:
        raise ValueError(str(error)) from None


def _small(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """The rows of a batch, in parts of PART bytes at most, or of one row."""
    if len(batch) < 2 or sum(map(_bytes, batch.columns)) <= PART:
        yield batch
        return
    half = len(batch) // 2
    yield from _small(batch.slice(0, half))
    yield from _small(batch.slice(half))


def _bytes(cells: pa.Array) -> int:
    """Bytes of cells as strings, counting each cell, also where a repeated text is stored once."""
    if pa.types.is_dictionary(cells.type) and not pa.types.is_primitive(cells.type.value_type):
        return pc.sum(pc.binary_length(cells.dictionary).take(cells.indices)).as_py() or 0
    if pa.types.is_nested(cells.type):
        inner = [cells.keys, cells.items] if pa.types.is_map(cells.type) else cells.flatten()
        return sum(map(_bytes, inner if isinstance(inner, list) else [inner]))
    return cells.nbytes


def _seekable(stream: BinaryIO, rows: int | None = None) -> BinaryIO:
    """The stream, or a copy of what is unpacked, which can only be read once; of its first rows alone, a copy too."""
    if rows is None and isinstance(stream, io.BufferedReader) and isinstance(stream.raw, io.FileIO):
        return stream
    copy = tempfile.TemporaryFile()  # noqa: SIM115  it is closed with what reads it
    if rows is None:
        shutil.copyfileobj(stream, copy)
    else:
        copy.writelines(_first(stream, rows))
    copy.seek(0)
    return copy


def _first(stream: BinaryIO, rows: int) -> Iterator[bytes]:
    """The lines up to that of the last of the first rows; blank lines are no rows."""
    for line in stream:
        yield line
        rows -= bool(line.decode("utf-8-sig", errors="replace").strip())
        if rows == 0:
            return


def _messages(stream: BinaryIO, name: str, source: Source) -> Blocks:
    """Interface messages; those with placeholders or markup are no sentences."""
    messages = _document(stream, name).items()
    if other := [key for key, text in messages if not isinstance(text, str)]:
        raise ValueError(f"{other[0]!r} is no text; write all messages as id -> text, without objects and lists")
    rows = [(key, text) for key, text in messages if not {*"{}<>"} & {*text}]
    yield pd.DataFrame(rows, columns=["id", "text"], dtype=str)


def _gettext(stream: BinaryIO, name: str, source: Source) -> Blocks:
    """Interface messages of gettext with their English; those with placeholders or markup, or of a number, are no
    sentences."""
    from babel.messages.mofile import read_mo

    content = _whole(stream, name, "translations", "write them as rows (.tsv)")
    try:
        messages = [*read_mo(io.BytesIO(content))]
    except OSError as error:  # the magic number
        raise ValueError(str(error)) from None
    rows = [(one.id, one.string) for one in messages if one.id and isinstance(one.id, str)]
    rows = [both for both in rows if not {*"{}<>%"} & {*"".join(both)}]
    yield pd.DataFrame(rows, columns=["pivot", "text"], dtype=str)


def _squad(stream: BinaryIO, name: str, source: Source) -> Blocks:
    """Questions and the paragraphs that answer them (SQuAD 1.1, 2.0); ids that repeat are no ids (TyDi QA, train).

    For retrieval as `query` and `document`; where there are answers, also as `question` and `context` with them.
    """
    parts = [part for article in _document(stream, name)["data"] for part in article["paragraphs"]]
    items = [(item, part["context"]) for part in parts for item in part["qas"]]
    rows = [(item["id"], item["question"], context) for item, context in items]
    table = strings(pd.DataFrame(rows, columns=["id", "query", "document"], dtype=object))
    if any(item.get("answers") for item, _ in items):
        answers = pd.DataFrame({"answers": [merge_answers(item.get("answers", [])) for item, _ in items]})
        table = table.assign(question=table["query"], context=table["document"]).join(split_answers(answers))
    yield table if table["id"].is_unique else table.drop(columns="id")


READERS: dict[str, Callable[[BinaryIO, str, Source], Blocks]] = {
    "tsv": _tsv,
    "csv": _csv,
    "jsonl": _jsonl,
    "json": _json,
    "parquet": _parquet,
    "text": _lines,
    "messages": _messages,
    "gettext": _gettext,
    "squad": _squad,
}

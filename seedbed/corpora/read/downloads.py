"""Downloads by URL, with retries and resuming after a broken connection or a killed job."""

import http.client
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from tqdm import tqdm

from seedbed.io import UserError, read_json, write_json
from seedbed.urls import without_secrets

PAUSES = (1, 10)
"""Seconds before each retry."""
DOWNLOAD = 2**36
"""Maximum bytes of a download: 64 GiB, four times the largest single-file model."""


class NotThereError(UserError):
    """The server has no such file."""


def download(url: str, path: Path) -> None:
    """Download a URL to a path, whole or not at all.

    If the connection or process ends, the part that arrived stays next to the path with the server's version of the
    file. The next call requests the rest, which a server sends only if the version is the same.

    Raises:
        NotThereError: the server has no such file.
        UserError: it cannot be downloaded, or is larger than DOWNLOAD.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    for pause in (*PAUSES, None):
        try:
            return _resume(url, path)
        except (OSError, UnicodeError, http.client.HTTPException) as error:
            code = getattr(error, "code", None)
            nowhere = isinstance(error, UnicodeError | http.client.InvalidURL)  # where a server sends one, say
            if pause is None or nowhere or url.startswith("file:") or (code and code < 500):
                kind = NotThereError if code in (404, 410) else UserError
                raise kind(
                    f"{without_secrets(url)}: cannot be downloaded ({error}); give a local copy as `file:`"
                ) from None
            print(f"{without_secrets(url)}: {error}; once more in {pause} s", file=sys.stderr)
            time.sleep(pause)


def _resume(url: str, path: Path) -> None:
    part, version = (path.with_name(f".{path.name}.{ending}") for ending in ("part", "json"))
    request, have = urllib.request.Request(url), 0
    if part.is_file() and version.is_file():
        have = part.stat().st_size
        request.add_header("Range", f"bytes={have}-")
        request.add_header("If-Range", read_json(version)["version"])
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            # Else it is the whole file: another version, or a server that sends no parts.
            if not (have and response.headers.get("Content-Range", "").startswith(f"bytes {have}-")):
                have = 0
                part.unlink(missing_ok=True)
                version.unlink(missing_ok=True)
                if named := _version(response.headers):
                    write_json({"version": named}, version)
            _write(response, url, part, have)
        part.replace(path)
        version.unlink(missing_ok=True)
    except urllib.error.HTTPError as error:
        if error.code != http.client.REQUESTED_RANGE_NOT_SATISFIABLE:
            raise
        version.unlink(missing_ok=True)
        raise OSError("the rest of a partial download is not available; starting over") from None
    finally:
        if not version.is_file():  # nobody could tell whether the rest is of the same file
            part.unlink(missing_ok=True)


def _version(headers: Any) -> str:
    """Header that identifies the version of a file: a strong ETag, else the date; a weak ETag allows other bytes."""
    tag = headers.get("ETag") or ""
    return headers.get("Last-Modified") or "" if tag.startswith("W/") or not tag else tag


def _write(response: Any, url: str, part: Path, have: int) -> None:
    length = response.headers.get("Content-Length") or ""
    size = have + int(length) if length.isdecimal() else None
    if (size or 0) > DOWNLOAD:
        raise _too_long(url, f"{size} bytes; no download is larger than {DOWNLOAD}")
    bar = tqdm(total=size, initial=have, unit="B", unit_scale=True, desc=part.name[1:].removesuffix(".part"))
    with part.open("ab") as file, bar:
        while block := response.read1(1 << 20):  # what is there: a slow connection fills no block before it ends
            if file.tell() + len(block) > DOWNLOAD:
                part.unlink()
                raise _too_long(url, f"more than {DOWNLOAD} bytes")
            file.write(block)
            bar.update(len(block))
        # `read` takes a connection that was cut for the end of the file.
        if size and file.tell() != size:
            raise OSError(f"{file.tell()} of {size} bytes came")


def _too_long(url: str, reason: str) -> UserError:
    return UserError(f"{without_secrets(url)}: {reason}, give a local copy as `file:`")

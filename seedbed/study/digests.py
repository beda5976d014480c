"""Digests of files that a person may change, needed at every plan: a large file is read once.

After that, its digest is looked up by the file's path, size, inode and times, including the time of the last status
change, which no program can set.
"""

import contextlib
import time
from pathlib import Path

from seedbed.io import atomic, fingerprint, sha256

SMALL = 1 << 20
"""Bytes: what is read anew each time."""
SETTLED = 2_000_000_000
"""Nanoseconds: a file that changed so lately may change again without another time."""


def digest(path: Path, notes: Path) -> str:
    """Hex sha256 of a file.

    Args:
        notes: folder of the digests of large files; studies may share it, and it may be deleted at any time.

    Raises:
        OSError: the file is not there, or not to be read.
    """
    status = path.stat()
    if status.st_size < SMALL:
        return sha256(path)
    known_by = [str(path.resolve()), status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]
    note = notes / fingerprint(known_by)[:32]
    if note.is_file():
        return note.read_text(encoding="utf-8")
    found = sha256(path)
    if time.time_ns() - status.st_ctime_ns > SETTLED and path.stat().st_ctime_ns == status.st_ctime_ns:
        with contextlib.suppress(OSError), atomic(note) as temporary:  # a plan needs no place to write to
            temporary.write_text(found, encoding="utf-8")
    return found

"""One process at a time where two would undo each other's work."""

from __future__ import annotations

import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from seedbed.io import UserError


@contextlib.contextmanager
def exclusive(path: str | Path) -> Iterator[None]:
    """Hold a lock file while the block runs. It is released when the process ends, however it ends, on other nodes too.

    The file's time is the beginning of the block.

    Raises:
        UserError: another process holds it.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(path, timeout=0):
            path.touch()
            yield
    except Timeout:
        raise UserError(
            f"{path.parent}: another process is at work there; wait for it, or stop it and run again"
        ) from None


def held_since(path: str | Path) -> float | None:
    """Since when (seconds of the epoch) a process has held a lock file; None: none does. Nothing is written."""
    path = Path(path)
    if not path.is_file():
        return None
    with path.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return path.stat().st_mtime
    return None

"""Lock files, so that only one process works in a folder."""

import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from seedbed.io import UserError


@contextlib.contextmanager
def exclusive(path: str | Path) -> Iterator[None]:
    """Context that holds a lock file; it is released when the process ends, in whatever way, also on other nodes.

    The file's modification time is the time at which the context was entered.

    Raises:
        UserError: another process holds it, or its folder is not writable.
    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        held = FileLock(path, timeout=0).acquire()
    except Timeout:
        raise UserError(
            f"{path.parent}: another process is at work there; wait for it, or stop it and run again"
        ) from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UserError(f"{path.parent}: {reason}; expected a folder that can be written to") from None
    with held:
        path.touch()
        yield


def held_since(path: str | Path) -> float | None:
    """When a process began to hold a lock file, in seconds of the epoch; None: none does. Nothing is written."""
    path = Path(path)
    if not path.is_file():
        return None
    with path.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return path.stat().st_mtime
    return None

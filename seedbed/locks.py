"""One process at a time where two would undo each other's work."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from seedbed.io import UserError


@contextlib.contextmanager
def exclusive(path: str | Path) -> Iterator[None]:
    """Hold a lock file while the block runs. It is released when the process ends, however it ends, on other nodes too.

    Raises:
        UserError: another process holds it.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(path, timeout=0):
            yield
    except Timeout:
        raise UserError(
            f"{path.parent}: another process is at work there; wait for it, or stop it and run again"
        ) from None

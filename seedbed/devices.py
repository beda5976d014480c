"""GPUs of one machine, shared out so that no two jobs meet on one: those of a run, and of another run beside it."""

import contextlib
import os
import random
import sys
import time
from collections.abc import Mapping, MutableMapping, Sequence
from pathlib import Path

from filelock import FileLock, Timeout

from seedbed.io import UserError

SHARED = "SEEDBED_GPUS"
"""The variable that names the GPUs which a run shares out among its jobs."""
ASKED = "GPUS"
"""The variable that says how many of them a job asks for."""
VISIBLE = "CUDA_VISIBLE_DEVICES"
"""CUDA's own variable: what a process sees of the machine's GPUs."""
FOLDER = Path("/tmp", f"seedbed-gpus-{os.getuid()}")
"""On the machine itself, where all runs of one person find it; nothing is written in its files."""
HELD: list[FileLock] = []
"""Held until this process ends, however it ends."""


def shared(count: int, environment: Mapping[str, str]) -> dict[str, str]:
    """The variable with which a run hands its jobs the first `count` GPUs: of those that it sees itself, if it says so.

    Raises:
        UserError: it sees fewer.
    """
    given = environment.get(VISIBLE)
    names = [str(number) for number in range(count)] if given is None else [name for name in given.split(",") if name]
    if len(names) < count:
        raise UserError(f"resources: gpu={count}, but {VISIBLE} is {given!r}; give gpu={len(names)}")
    return {SHARED: ",".join(names[:count])}


def claim(environment: MutableMapping[str, str], folder: Path = FOLDER) -> None:
    """Take the GPUs that a job asks for, once they are free, and see no others; before CUDA starts in the process.

    Nothing happens where no run shares GPUs out, as on a cluster, which does so itself.
    """
    if environment.get(SHARED) and (count := environment.get(ASKED)) is not None:
        environment[VISIBLE] = ",".join(_hold(int(count), environment[SHARED].split(","), folder))


def _hold(count: int, names: Sequence[str], folder: Path) -> list[str]:
    """Wait until so many are free at once: who held one and waited for another could wait for ever."""
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != os.getuid():
        raise UserError(
            f"{folder}: somebody else made it, and could keep all GPUs; ask them, or who runs the machine, to remove it"
        )
    told = False
    while True:
        taken: dict[str, FileLock] = {}
        for name in names:
            if len(taken) < count:
                lock = FileLock(folder / name.replace("/", "-"), timeout=0)
                with contextlib.suppress(Timeout):
                    lock.acquire()
                    taken[name] = lock
        if len(taken) == count:
            HELD.extend(taken.values())
            return list(taken)
        for lock in taken.values():
            lock.release()
        if not told:
            print(f"waiting for {count} of the GPUs {','.join(names)}, which other jobs have", file=sys.stderr)
            told = True
        time.sleep(random.uniform(0.5, 1.5))

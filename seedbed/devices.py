"""Sharing the GPUs of one machine among the jobs of a run, and among runs; each is used by one job at a time."""

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
"""Environment variable with the GPUs that a run distributes among its jobs."""
REQUESTED = "GPUS"
"""Environment variable with the number of GPUs that a job requests."""
VISIBLE = "CUDA_VISIBLE_DEVICES"
"""CUDA's environment variable with the GPUs that a process sees."""
PLACE = "LOCAL_RANK"
"""Environment variable with the place of a process among those of one training on its machine, from 0."""
FOLDER = Path("/tmp", f"seedbed-gpus-{os.getuid()}")
"""Folder of lock files on the machine itself, shared by all runs of one user; nothing is written into the files."""
HELD: list[FileLock] = []
"""Locks that this process holds until it ends."""


def visible_gpus(count: int, environment: Mapping[str, str]) -> dict[str, str]:
    """The environment variable that gives a run's jobs the first `count` GPUs, of those that the run itself sees.

    Raises:
        UserError: the run sees fewer.
    """
    given = environment.get(VISIBLE)
    names = [str(number) for number in range(count)] if given is None else [name for name in given.split(",") if name]
    if len(names) < count:
        raise UserError(f"resources: gpu={count}, but {VISIBLE} is {given!r}; give gpu={len(names)}")
    return {SHARED: ",".join(names[:count])}


def claim(environment: MutableMapping[str, str], folder: Path = FOLDER) -> None:
    """Wait for the GPUs that a job requests, and hide all others by CUDA_VISIBLE_DEVICES; it must be called before CUDA
    is initialised.

    Nothing happens if the run does not distribute GPUs, as on a cluster, whose scheduler does.
    """
    if environment.get(SHARED) and (count := environment.get(REQUESTED)) is not None:
        environment[VISIBLE] = ",".join(_hold(int(count), environment[SHARED].split(","), folder))


def keep_own_gpu(environment: MutableMapping[str, str]) -> None:
    """Hide all GPUs but one, by CUDA_VISIBLE_DEVICES, from one of several processes of a training; without GPUs nothing
    happens.

    Raises:
        UserError: there are fewer GPUs than processes.
    """
    from torch import cuda

    place, there = int(environment.get(PLACE) or 0), cuda.device_count()  # this does not initialise CUDA
    if place >= there > 0:
        raise UserError(f"{there} GPUs for {place + 1} processes or more; start as many processes as there are GPUs")
    if there:
        names = [name for name in environment.get(VISIBLE, "").split(",") if name]
        environment[VISIBLE] = (names or [*map(str, range(there))])[place]


def _hold(count: int, names: Sequence[str], folder: Path) -> list[str]:
    """Wait until `count` GPUs are free at once: two jobs that each lock one and wait for another would deadlock."""
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

"""One training in several processes: the index of this process, and communication between them.

All of them read the same rows in the same order and have the same weights; each encodes only its share of a batch, see
`encoders.training.shares`. Hugging Face's trainer and accelerate do not learn of the other processes: they would give
each process other rows, and so other in-batch negatives.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from seedbed import devices

if TYPE_CHECKING:
    from torch.distributed import Store

COUNT, INDEX, ON_MACHINE = "WORLD_SIZE", "RANK", "LOCAL_WORLD_SIZE"
"""Environment variables that a launcher sets, such as `accelerate launch`: the number of processes, this one's place
among them, and how many are on this machine.
"""
LAUNCHER = (COUNT, INDEX, ON_MACHINE, devices.PLACE, "PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE")
"""Environment variables by which libraries find out that there are other processes."""


@dataclass
class _Group:
    """The processes of one training and this one's place among them; by default it is the only one."""

    count: int = 1
    index: int = 0
    on_machine: int = 1
    store: Store | None = None
    asked: int = 0


_group = _Group()


def launched(environment: Mapping[str, str]) -> bool:
    """Whether a launcher started this process as one of several."""
    return int(environment.get(COUNT) or 1) > 1


def join(environment: MutableMapping[str, str]) -> None:
    """Join the other processes of the training in a process group of `torch.distributed`.

    This must be called before CUDA is initialised.

    Args:
        environment: this process's environment variables. Those in LAUNCHER are removed; with GPUs,
            CUDA_VISIBLE_DEVICES is set to one of them.

    Raises:
        UserError: there are fewer GPUs than processes on this machine.
    """
    from torch import cuda, distributed

    global _group
    devices.keep_own_gpu(environment)
    on_machine = int(environment.get(ON_MACHINE) or 1)
    store, index, count = next(distributed.rendezvous("env://"))
    backend = "cpu:gloo,cuda:nccl" if cuda.is_available() else "gloo"
    distributed.init_process_group(backend, store=store, rank=index, world_size=count)
    _group = _Group(count, index, on_machine, distributed.PrefixStore("seedbed", store))
    for name in LAUNCHER:
        environment.pop(name, None)
    if not is_main():
        logging.disable(logging.WARNING)  # all would say the same


def leave() -> None:
    """Leave the process group, if this process is in one."""
    global _group
    if _group.store:
        from torch import distributed

        distributed.destroy_process_group()
    _group = _Group()


def count() -> int:
    """The number of processes."""
    return _group.count


def index() -> int:
    """This process's place among all, from 0."""
    return _group.index


def on_machine() -> int:
    """The number of processes on this machine."""
    return _group.on_machine


def is_main() -> bool:
    """Whether this process writes files and shows progress: one of all does."""
    return not _group.index


def by_main(make: Callable[[], Any]) -> Any:
    """What `make` returns in the main process, as JSON, in every process. All must call this, in the same order."""
    if not _group.store:
        return make()
    name, _group.asked = f"asked {_group.asked}", _group.asked + 1
    if is_main():
        _group.store.set(name, json.dumps(make()))
    return json.loads(_group.store.get(name))


def first_to_fail() -> bool:
    """Whether this process is the first of the group to report a failure, so that one message is printed."""
    if not _group.store:
        return True
    from torch.distributed import DistNetworkError

    try:
        return _group.store.add("failed", 1) == 1
    except DistNetworkError:  # the main process, which keeps count, has ended and said why
        return False

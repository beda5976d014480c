"""Where a killed job goes on: its own folder under `<results>/state`, and the newest whole checkpoint in it."""

import contextlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

from seedbed.io import fingerprint, write_json
from seedbed.locks import exclusive
from seedbed.settings import Settings

RECORD = "job.json"
"""In a job's folder: what it makes, and what it was told."""
MINUTES = 10.0
"""Minutes between two checkpoints of a training, unless a study says otherwise."""
ABOUT = "about"
"""What a manifest says of a result, which changes nothing of what a job keeps."""


def last_complete(checkpoints: Path) -> str | None:
    """The newest checkpoint of a Trainer that is whole: it writes trainer_state.json last. None if there is none."""
    complete = [file.parent for file in checkpoints.glob("checkpoint-*/trainer_state.json") if _is_json(file)]
    return str(max(complete, key=lambda folder: int(folder.name.rpartition("-")[2]))) if complete else None


def _is_json(file: Path) -> bool:
    """Whether a kill left the file whole."""
    try:
        return bool(json.loads(file.read_text(encoding="utf-8")))
    except ValueError:
        return False


@contextlib.contextmanager
def own_state(state: Path, output: Path, job: Settings) -> Iterator[Path]:
    """A job's own folder for what it needs to go on, removed if the block ends well.

    What lies in it has a name of its own, a hash of all that it depends on, inputs included. The folder says whose it
    is: no two jobs share one, and `make clean-state` knows what nobody will use again.

    Args:
        output: the file that the workflow waits for.
        job: the arguments of its program.

    Raises:
        UserError: the same job is running: on a cluster, one that a killed Snakemake left behind.
    """
    folder = place(state, job)
    with exclusive(folder / "lock"):
        write_json({"output": str(output), "job": json.loads(job.dump())}, folder / RECORD)
        yield folder
    shutil.rmtree(folder, ignore_errors=True)


def place(state: Path, job: Settings) -> Path:
    """The folder of a job: it goes on with other settings of those that change no result, as after memory ran out."""
    told = json.loads(job.recorded())
    return state / fingerprint({name: told[name] for name in told.keys() - job.idle() - {ABOUT}})[:32]

"""State of killed jobs: each job's own folder under `<results>/state`, and the latest complete checkpoint in it."""

import contextlib
import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from seedbed import processes
from seedbed.io import fingerprint, write_json
from seedbed.locks import exclusive, held_since
from seedbed.manifests import Tell
from seedbed.settings import Settings

RECORD = "job.json"
"""File in a job's folder with the job's output and arguments."""
MINUTES = 10.0
"""Default minutes between two checkpoints of a training."""
ABOUT = "about"
"""The argument with a manifest's facts; it does not change what a job stores."""


@dataclass(frozen=True)
class Run:
    """A training's output, state and facts for its manifest and card; no trained weight depends on any of these."""

    output: Path
    """The folder that is written; it is replaced as a whole at the end."""
    state: Path
    """A folder for checkpoints. A killed run resumes from the last one, with the same result; they are removed after
    success.
    """
    minutes: float
    """Minutes between checkpoints; 0: one after each step."""
    about: Mapping[str, Any] = field(default_factory=dict)
    """JSON for the manifest."""
    tell: Tell | None = None
    """Writes the card; None: no card."""

    def described(self, about: Mapping[str, Any], tell: Tell | None = None) -> "Run":
        """The same training with facts for its manifest, and with what writes its card."""
        return replace(self, about=about, tell=tell)


def last_complete(checkpoints: Path) -> str | None:
    """The latest complete checkpoint of a Hugging Face trainer, which writes trainer_state.json last; None if there is
    none.
    """
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
    """Context with a job's own folder of state, which is removed if the block ends without an error.

    Files in it are named by hashes of everything that they depend on, inputs included. No two jobs share a folder, see
    `place`. Its file RECORD has the job's output and arguments: by the output, `make clean-state` knows which folders
    are no longer needed. If a job has several processes, only the main process locks and removes the folder.

    Args:
        state: the folder of all jobs' state.
        output: the file that the workflow waits for.
        job: the arguments of the job's program.

    Raises:
        UserError: the same job is running already, for example on a cluster after Snakemake was killed.
    """
    folder = place(state, job)
    if not processes.is_main():
        yield folder
        return
    with exclusive(folder / "lock"):
        write_json({"output": str(output), "job": json.loads(job.dump())}, folder / RECORD)
        yield folder
        shutil.rmtree(folder, ignore_errors=True)  # another run of the job that begins now is not to lose its own
    with contextlib.suppress(OSError):
        folder.rmdir()  # NFS keeps it as long as the lock is open


def in_use(state: Path, job: Settings) -> bool:
    """Whether a process of the job is running, which may have outlived the run that started it."""
    return held_since(place(state, job) / "lock") is not None


def place(state: Path, job: Settings) -> Path:
    """The folder of a job's state, named by a hash of the job's arguments.

    Arguments that change no result are not in the hash: a job resumes after a change of, for example, the batch size
    for scoring.
    """
    told = json.loads(job.recorded())
    return state / fingerprint({name: told[name] for name in told.keys() - job.idle() - {ABOUT}})[:32]

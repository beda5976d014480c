"""Stale files of state: of finished jobs, of changed settings, of deleted encoders."""

import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from seedbed.checkpoints import RECORD, place
from seedbed.encoders.models.digests import embeddings_folder
from seedbed.generators.writing.journal import ANSWERS
from seedbed.io import UserError, read_json
from seedbed.manifests import MANIFEST
from seedbed.operations.jobs import Job

EMBEDDINGS = "embeddings"
"""Folder of the embeddings cache that all score jobs share."""


@dataclass(frozen=True)
class StaleFile:
    """A stale file or folder of state."""

    path: Path
    output: str
    """The output of its job; empty: unknown."""
    why: str

    @property
    def size(self) -> int:
        """Its size in bytes."""
        files = self.path.rglob("*") if self.path.is_dir() else [self.path]
        return sum(file.stat().st_size for file in files if file.is_file())


def made_by(state: Path) -> dict[Path, str]:
    """Folder of a job's state -> the job's output; empty without a record."""
    return {path: _recorded(path) for path in sorted(state.glob("*")) if path.name not in (EMBEDDINGS, ANSWERS)}


def stale(state: Path, jobs: Sequence[Job]) -> list[StaleFile]:
    """The files of state that no job will use.

    Not stale are the folder of a job that is still to do with the same settings, embeddings of an encoder whose weights
    are under the results, and servers' answers.

    Args:
        jobs: all jobs, done or to do, that make outputs of `made_by`; an output that none makes is not in the study.
    """
    makers = {output: job for job in jobs for output in job.outputs}
    folders = made_by(state).items()
    found = [StaleFile(path, out, why) for path, out in folders if (why := _why(state, path, out, makers))]
    return found + [StaleFile(path, "", "of no encoder with this code and these libraries") for path in _orphans(state)]


def remove(files: Sequence[StaleFile]) -> None:
    """Delete stale files."""
    for path in (file.path for file in files):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def listing(files: Sequence[StaleFile], state: Path) -> str:
    """A line for each stale file, oldest first, and their total size."""
    if not files:
        return f"{state}: nothing is stale"
    ordered = sorted(files, key=lambda file: file.path.stat().st_mtime)
    lines = [
        f"{_size(one.size):>10}  {time.strftime('%d %b %Y %H:%M', time.localtime(one.path.stat().st_mtime))}  "
        f"{one.path.relative_to(state)}  {one.why}{': ' if one.output else ''}{one.output}"
        for one in ordered
    ]
    return "\n".join([*lines, f"{_size(sum(one.size for one in files)):>10}  in all, under {state}"])


def _why(state: Path, path: Path, output: str, makers: Mapping[str, Job]) -> str:
    """Why a job's folder is stale; empty: it is not."""
    if not output:
        return "no job looks here"
    if not (job := makers.get(output)):
        return "not in this study"
    if not job.todo:
        return "its job is done"
    return "" if place(state, job.arguments) == path else "its settings have changed"


def _orphans(state: Path) -> list[Path]:
    """Embeddings of no encoder under the results, as code and libraries here compute them."""
    manifests = state.parent.glob(f"encoders/*/*/*/*/{MANIFEST}")
    kept = {embeddings_folder(state, read_json(manifest)) for manifest in manifests}
    return [path for path in sorted((state / EMBEDDINGS).glob("*")) if path not in kept]


def _recorded(path: Path) -> str:
    try:
        return str(read_json(path / RECORD)["output"]) if (path / RECORD).is_file() else ""
    except (UserError, KeyError, TypeError):
        return ""


def _size(count: float) -> str:
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.0f} {unit}"
        count /= 1024
    return f"{count:.1f} GiB"

"""Events of a run's jobs: recorded from Snakemake's logger while it runs, and read by `status`."""

import contextlib
import json
import logging
import math
import shutil
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from seedbed.locks import held_since
from seedbed.operations.jobs import LOCK

EVENTS = "logs/events.jsonl"
"""File in the results: a line for each run, and for each job that began or failed."""
BEGAN, FAILED = "job_info", "job_error"
"""Snakemake's names of a job's two events; the first is also a run's."""
RUN = ""
"""Stands for a run in the place of a job's first output."""
SLURM = "slurmstepd"
"""How the lines begin in which Slurm says why it ended a job: out of time or memory, or cancelled."""
LITTLE = 2**20
"""Free bytes of a disk below which it is called full."""


@dataclass(frozen=True)
class Event:
    """The start or failure of a job."""

    kind: str
    time: float
    """Seconds of the epoch. On a cluster, a job begins when it is queued."""
    logs: list[str] = field(default_factory=list)
    """The job's logs, including its cluster's."""


@dataclass(frozen=True)
class Events:
    """All recorded events of a study's runs."""

    last: Mapping[str, Event] = field(default_factory=dict)
    """First output of a job -> its last event. A retry replaces the failure before it."""
    run_since: float | None = None
    """When the current run began; None: there is none."""
    log: str = ""
    """Snakemake's log of the current run; empty: there is no run, or it has no log."""
    read_at: float = field(default=math.inf, compare=False)
    """When they were read, in seconds of the epoch: of what began later they say nothing."""


class _Line(logging.Formatter):
    """A line for a job's event."""

    def format(self, record: logging.LogRecord) -> str:
        return _line(record.output[0], record.event, record.created, record.log)


def _line(output: str, kind: str, moment: float, logs: Iterable[str]) -> str:
    """A line of EVENTS: of a job, by its first output, or of a run, by RUN."""
    return json.dumps([output, kind, moment, [*logs]])


def keep(results: Path, logger: logging.Logger, logs: Sequence[str] = ()) -> None:
    """Record a run with its logs, and from now on the start and failure of its jobs, from Snakemake's logger."""
    (file := results / EVENTS).parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as lines:
        lines.write(f"\n{_line(RUN, BEGAN, time.time(), logs)}\n")  # the last line may lack its end after a kill
    handler = logging.FileHandler(file, encoding="utf-8")
    # A rule that only names files, such as `all`, is a job without an output, of which nothing is to be known.
    handler.addFilter(lambda record: getattr(record, "event", None) in (BEGAN, FAILED) and record.output)
    handler.setFormatter(_Line())
    logger.addHandler(handler)


def read(results: Path) -> Events:
    """Read the recorded events; an incomplete last line, and what is no event, is ignored."""
    now, file, since, last = time.time(), results / EVENTS, held_since(results / LOCK), {}
    for line in file.read_text(encoding="utf-8", errors="replace").splitlines() if file.is_file() else ():
        with contextlib.suppress(ValueError, TypeError):
            output, *told = json.loads(line)
            last[output] = Event(*told)
    run = last.pop(RUN, None)
    log = run.logs[-1] if run and run.logs and since else ""
    return Events(last, since, log, now)


def last_words(events: Events) -> str:
    """The failed jobs of a run, each with its logs and their last line; empty: none failed."""
    since = events.run_since or 0
    failed = [event.logs for event in events.last.values() if event.kind == FAILED and event.time >= since]
    lines = [f"  {log}: {_last_line(Path(log))}" for logs in failed for log in logs]
    return "\n".join([f"{len(failed)} failed:", *lines]) if failed else ""


def _last_line(log: Path) -> str:
    """The last line of a log, or Slurm's last word in it; of a progress bar, its last state.

    A job that did not begin, and a full disk, leave no log: this is told here.
    """
    if not log.is_file():
        return "not there, since the job did not begin"
    words = [line.rpartition("\r")[2] for line in log.read_text(errors="replace").split("\n") if line.strip()]
    if words:  # Snakemake's own lines follow Slurm's
        return next((line for line in reversed(words) if line.startswith(SLURM)), words[-1])
    return "nothing there, since its disk is full" if shutil.disk_usage(log).free < LITTLE else "nothing there"

"""Progress of a study: its done, running, failed and remaining jobs by rule file and language."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from seedbed import checkpoints
from seedbed.markdown import aligned
from seedbed.operations.events import BEGAN, FAILED, Events
from seedbed.operations.jobs import Job

State = Literal["done", "running", "failed", "to do"]

SLACK = 1.0
"""Seconds by which clocks and rounded times may differ."""
EVERY = ""
"""All languages, in the place of one; `all` is a language."""
SHOWN = 20
"""Maximum number of running jobs that are listed; failed ones are all listed."""


def state_of(job: Job, known: Events) -> State:
    """The state of a job. A job has failed if it must run, is not running, and started after its last success.

    After a kill of Snakemake, a job with a folder of state is running as long as its program is.

    A successful job writes its benchmark after its log; a job that a cluster never started has only an event.
    """
    if not job.todo:
        return "done"
    last, ended = known.last.get(job.outputs[0]), _written(job.benchmark)
    if (began := _began(job, known)) is not None and began >= ended:
        return "running"
    begun = max(_written(job.log), last.time if last and last.kind == FAILED else 0)
    ended = max([ended, *map(_written, job.outputs)])
    if begun <= ended + SLACK * bool(ended):
        return "to do"
    # What the current run began after its events were read has a log, and no event yet.
    if known.run_since is not None and begun >= known.read_at:
        return "running"
    return "running" if "state" in job.value and checkpoints.in_use(job.of("state"), job.arguments) else "failed"


def _began(job: Job, known: Events) -> float | None:
    """When the current run began a job, if that is the last event of the job; None: it is not."""
    last = known.last.get(job.outputs[0])
    here = last and last.kind == BEGAN and known.run_since is not None and last.time >= known.run_since
    return last.time if here else None


def layout(jobs: Sequence[Job], rooms: Mapping[str, str], known: Events) -> str:
    """The status as text for a terminal: totals, a table of languages by rule files, and the failed and running jobs.

    Args:
        rooms: rule -> rule file, in the order of the columns; a rule file without jobs has no column.
        known: the recorded events of the study's runs.
    """
    by_state: dict[State, list[Job]] = {"done": [], "running": [], "failed": [], "to do": []}
    cells: dict[tuple[str, str], Counter[str]] = {}
    for job in jobs:
        state = state_of(job, known)
        by_state[state].append(job)
        for language in (job.language, EVERY):
            room = job.wildcards.get("room", rooms[job.rule])  # an encoder is fetched by a rule of generators
            cells.setdefault((language, room), Counter())[state] += 1
    counts = [f"{len(members)} {state}" for state, members in by_state.items()]
    columns = [room for room in dict.fromkeys(rooms.values()) if (EVERY, room) in cells]
    parts = [f"{len(jobs)} jobs: {', '.join(counts)}", _run(known), _table(cells, columns)]
    limits = {"failed": len(jobs), "running": SHOWN}
    parts += [_named(state, by_state[state], known, limit) for state, limit in limits.items()]
    return "\n\n".join(filter(None, parts))


def _run(known: Events) -> str:
    if known.run_since is None:
        return "No run is going on."
    word = f"; its last word {_clock(_written(known.log))} in {known.log}" if known.log else ""
    return f"A run is going on since {_clock(known.run_since)}{word}"


def _table(cells: Mapping[tuple[str, str], Counter[str]], rooms: Sequence[str]) -> str:
    """Done of all in each cell, then how many run (r) and failed (f)."""
    languages = sorted({language for language, _ in cells} - {"-", EVERY})
    rows = [
        [language or "all", *(_cell(cells.get((language, room))) for room in rooms)]
        for language in [*languages, "-", EVERY]
    ]
    return aligned(["done/all", *rooms], rows, left=1) + "\nr: running, f: failed, -: of no one language"


def _cell(count: Counter[str] | None) -> str:
    if count is None:
        return ""
    marks = [f"{count[state]}{state[0]}" for state in ("running", "failed") if count[state]]
    return " ".join([*marks, f"{count['done']}/{count.total()}"])


def _named(title: str, jobs: Sequence[Job], known: Events, limit: int) -> str:
    """The jobs by name, each with the logs to read."""
    if not jobs:
        return ""
    lines = [f"{title}:"]
    for job in jobs[:limit]:
        wildcards = " ".join(f"{name}={value}" for name, value in job.wildcards.items())
        # One that runs without an event is known by its log, see `state_of`.
        began, logged = _began(job, known), _written(job.log)
        # On a cluster a job's event is that it is queued; its log is written when it begins.
        queued = "queued " if began and job.log and logged < began - SLACK else ""
        since = f"{queued}since {_clock(began or logged)}" if title == "running" else ""
        lines.append(f"  {job.rule} {wildcards} {since}".rstrip())
        lines += [f"    {log}" for log in logs_of(job, known)]
    if len(jobs) > limit:
        lines.append(f"  and {len(jobs) - limit} more")
    return "\n".join(lines)


def logs_of(job: Job, known: Events) -> list[str]:
    """The existing logs of a job: its log, and the cluster's log if it failed there."""
    last = known.last.get(job.outputs[0])
    return [log for log in dict.fromkeys([job.log, *(last.logs if last else [])]) if log and Path(log).is_file()]


def _clock(moment: float) -> str:
    return time.strftime("%d %b %H:%M", time.localtime(moment))


def _written(path: str) -> float:
    """When a file was last modified; 0: there is no such file."""
    try:
        return Path(path).stat().st_mtime if path else 0
    except FileNotFoundError:
        return 0

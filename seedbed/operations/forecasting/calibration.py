"""Calibrating forecasts by finished jobs: the median ratio of measured to default cost."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median

from seedbed.benchmark_files import last_run
from seedbed.manifests import MANIFEST
from seedbed.operations.forecasting.costs import HEADROOM
from seedbed.operations.forecasting.work import Plan
from seedbed.operations.jobs import Job

NINE_TENTHS = 1.645
"""Standard deviations around the mean that contain nine tenths of a normal distribution."""
NOISE = 0.2
"""Standard deviation of the logarithm of a job's seconds between runs."""

Group = tuple[str, str]
"""Rule and model, which share a speed."""


@dataclass(frozen=True)
class Record:
    """A finished job: measured cost divided by default cost; 0: not measured."""

    group: Group
    time: float
    memory: float = 0
    disk: float = 0


@dataclass(frozen=True)
class Speed:
    """Factors on the defaults."""

    time: float = 1
    memory: float = 1
    disk: float = 1
    records: int = 0
    """Number of records that the factors come from."""


@dataclass(frozen=True)
class Records:
    """Measurements of finished jobs."""

    usable: list[Record]
    broken: int
    """Number of files that could not be read."""
    foreign: int
    """Number of files of jobs outside the plan."""

    @cached_property
    def speeds(self) -> dict[Group, Speed]:
        """The speed of each rule and model."""
        return {group: _speed(members) for group, members in _grouped(self.usable).items()}

    def speed(self, job: Job) -> Speed:
        """The speed of jobs like the given one."""
        return self.speeds.get((job.rule, job.model), Speed())


def collect(plan: Plan, benchmarks: Path) -> Records:
    """The measurements of the plan's jobs whose outputs all exist."""
    usable, broken = [], 0
    for job in plan.jobs:
        if not (job.benchmark and Path(job.benchmark).is_file() and all(Path(o).exists() for o in job.outputs)):
            continue
        if (measured := last_run(job.benchmark)) is None:
            broken += 1
            continue
        work = plan.work(job)
        memory = measured.memory * HEADROOM / asked if (asked := job.asks("mem_mb")) else 0
        disk = _bytes(job) / work.disk if work.disk else 0
        usable.append(Record((job.rule, job.model), measured.seconds / plan.seconds(job), memory, disk))
    known = {Path(job.benchmark) for job in plan.jobs} | {benchmarks / "forecast/forecast.jsonl"}
    return Records(usable, broken, sum(file not in known for file in benchmarks.rglob("*.jsonl")))


def _bytes(job: Job) -> float:
    """Size of a job's outputs; of a manifest, the size of its folder."""
    paths = [Path(output).parent if Path(output).name == MANIFEST else Path(output) for output in job.outputs]
    files = [file for path in paths for file in ([path] if path.is_file() else path.rglob("*"))]
    return sum(file.stat().st_size for file in files if file.is_file())


def _grouped(records: Iterable[Record]) -> Mapping[Group, list[Record]]:
    groups = defaultdict(list)
    for record in records:
        groups[record.group].append(record)
    return groups


def _speed(records: Sequence[Record]) -> Speed:
    memory, disk = (_shrunk([getattr(one, name) for one in records]) for name in ("memory", "disk"))
    return Speed(median(one.time for one in records), memory, disk, len(records))


def _shrunk(ratios: Sequence[float]) -> float:
    """The median of the ratios that were measured, as if one more record said 1."""
    measured = [ratio for ratio in ratios if ratio]
    return median(measured) ** (len(measured) / (len(measured) + 1)) if measured else 1


def error_factor(records: int, spread: float, jobs: int) -> float:
    """By which factor the time of a rule's jobs together may differ from its forecast in nine of ten cases, above 1.

    All jobs have one speed. How uncertain that is falls with the number of records; the noise of single jobs averages
    out in their sum.

    Args:
        records: the number of finished jobs that the forecast was corrected by.
        spread: the same factor without any record, above 1.
        jobs: the number of jobs whose time is forecast.
    """
    precision = (NINE_TENTHS / math.log(spread)) ** 2 + records / NOISE**2
    return math.exp(NINE_TENTHS * math.sqrt(1 / precision + NOISE**2 / max(jobs, 1)))


def left_out(records: Iterable[Record]) -> dict[str, list[tuple[float, float]]]:
    """Rule -> for each record the forecast divided by the actual seconds, twice: of the forecast by default, and of the
    one by its group's other records.
    """
    found = defaultdict(list)
    for group, members in _grouped(records).items():
        times = [one.time for one in members]
        for place, time in enumerate(times):
            found[group[0]].append((1 / time, median(times[:place] + times[place + 1 :] or [1]) / time))
    return found

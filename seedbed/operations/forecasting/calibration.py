"""From records of finished jobs to the speed of a machine: a robust fit, shrunk towards the default when there are few.

A job's seconds are e^a start + e^b work, with start and work as the default has them; a and b have a normal prior
around 0 whose nine tenths are the rule's `spread`: the maximum a posteriori, with a loss that is linear in outliers.
"""

import json
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import least_squares

NINE_TENTHS = 1.645
"""Standard deviations either side of the mean that hold nine tenths of a normal distribution."""
NOISE = 0.2
"""Deviation of the logarithm of a job's seconds from one run to the next."""
FOLDS = 20
"""Fits for the error of one group."""

Group = tuple[str, str]
"""Rule and model: what shares a speed."""


@dataclass(frozen=True)
class Record:
    """A finished job: what was measured, and what the defaults say."""

    group: Group
    seconds: float
    start: float
    """By default, in seconds."""
    work: float
    """By default, in seconds."""
    memory: float = 0
    """Measured over default; 0: not measured."""
    disk: float = 0
    """Bytes on the disk, measured and by the defaults."""


@dataclass(frozen=True)
class Speed:
    """Factors on the default."""

    start: float = 1
    work: float = 1
    memory: float = 1
    disk: float = 1
    records: int = 0
    """How many records the figures come from."""

    def seconds(self, start: float, work: float) -> float:
        """Seconds of a job, from its seconds by the defaults."""
        return self.start * start + self.work * work


def read_benchmark(path: str | Path) -> dict[str, float] | None:
    """The last run in a benchmark file: seconds `s`, and `max_rss` in MiB or 0; None: it is broken, or has no time."""
    try:
        record = json.loads(Path(path).read_text(encoding="utf-8").splitlines()[-1])
        seconds, memory = float(record["s"]), _number(record.get("max_rss"))
    except (OSError, IndexError, KeyError, TypeError, ValueError):
        return None
    return {"s": seconds, "max_rss": memory} if math.isfinite(seconds) and seconds > 0 else None


def _number(value: object) -> float:
    """Snakemake writes `-` or `NA` for what it could not measure."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return 0
    return number if math.isfinite(number) and number > 0 else 0


def calibrate(records: Sequence[Record], spreads: Mapping[str, float]) -> dict[Group, Speed]:
    """A speed for each group that has records; `spreads`: by rule, the factor within which nine of ten defaults lie."""
    return {group: _fit(members, spreads[group[0]]) for group, members in _grouped(records).items()}


def _grouped(records: Sequence[Record]) -> dict[Group, list[Record]]:
    groups = defaultdict(list)
    for record in records:
        groups[record.group].append(record)
    return groups


def _fit(records: Sequence[Record], spread: float) -> Speed:
    prior = math.log(spread) / NINE_TENTHS
    starts, works, seconds = (np.array([getattr(r, name) for r in records]) for name in ("start", "work", "seconds"))

    def residuals(logarithms: np.ndarray) -> np.ndarray:
        a, b = np.exp(logarithms)
        return np.append(np.log((a * starts + b * works) / seconds) / NOISE, logarithms / prior)

    # Start from the median ratio of all, so that the linear tail of the loss is not where the search begins.
    ratio = np.median(np.log(seconds / (starts + works)))
    best = least_squares(residuals, [ratio, ratio], loss="soft_l1").x
    start, work = (float(factor) for factor in np.exp(best))
    return Speed(start, work, _shrunk([r.memory for r in records]), _shrunk([r.disk for r in records]), len(records))


def _shrunk(ratios: Sequence[float]) -> float:
    """The median ratio, as if one more record said 1."""
    logarithms = [math.log(ratio) for ratio in ratios if ratio > 0]
    return math.exp(float(np.median(logarithms)) * len(logarithms) / (len(logarithms) + 1)) if logarithms else 1


def half_width(records: int, spread: float, jobs: int) -> float:
    """The factor either side of a forecast sum that holds nine tenths, for jobs that share their speed.

    The speed's own posterior deviation, and the noise of single jobs, which a sum averages out.
    """
    precision = (NINE_TENTHS / math.log(spread)) ** 2 + records / NOISE**2
    return math.exp(NINE_TENTHS * math.sqrt(1 / precision + NOISE**2 / max(jobs, 1)))


def left_out(records: Sequence[Record], spreads: Mapping[str, float]) -> list[tuple[Record, float, float]]:
    """Each record with forecast over actual seconds: by default, and calibrated on its group's others, in FOLDS parts.

    A group of one record has no others: its calibrated ratio is the default's.
    """
    rows = []
    for group, members in _grouped(records).items():
        for fold in range(min(len(members), FOLDS)):
            others = [record for place, record in enumerate(members) if place % FOLDS != fold]
            speed = calibrate(others, spreads).get(group, Speed())
            for r in members[fold::FOLDS]:
                rows.append((r, (r.start + r.work) / r.seconds, speed.seconds(r.start, r.work) / r.seconds))
    return rows

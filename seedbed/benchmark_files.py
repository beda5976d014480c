"""Benchmark files of Snakemake (`.jsonl`): a line for each run of a job, of which the last one counts."""

import json
import math
from pathlib import Path
from typing import NamedTuple


class Usage(NamedTuple):
    """Time and memory of a job's run. 0: not measured, as of very short jobs; `seconds` always are."""

    seconds: float
    cpu_seconds: float
    memory: float
    """The largest resident set, in MiB."""


def last_run(path: str | Path) -> Usage | None:
    """The last run in a benchmark file; None: it cannot be read, or has no time."""
    try:
        record = json.loads(Path(path).read_text(encoding="utf-8").splitlines()[-1])
        usage = Usage(*(_number(record.get(name)) for name in ("s", "cpu_time", "max_rss")))
    except (OSError, IndexError, AttributeError, ValueError):
        return None
    return usage if usage.seconds else None


def _number(value: object) -> float:
    """A positive number; 0: it is none, such as `-` or `NA`, which Snakemake writes for what it could not measure."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return 0
    return number if math.isfinite(number) and number > 0 else 0

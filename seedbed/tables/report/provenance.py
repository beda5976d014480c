"""When, where and at what cost a study's results were made, for its page; no score or table depends on it."""

import datetime
import os
import platform
import re
import subprocess
from collections import Counter
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from seedbed.benchmark_files import last_run
from seedbed.resources import ROOT
from seedbed.tables.settings import Forecast

HOUR = 3600
PROCESSORS = Path("/proc/cpuinfo")


def run_facts(benchmarks: Path, prices: Forecast, gpus: Mapping[str, int]) -> dict[str, str]:
    """Facts about the run that made the results.

    Args:
        benchmarks: folder {rule}/....jsonl of Snakemake's measurements; for a job that ran again, the last one counts.
        prices: prices of an hour of a core and of a GPU, and whether jobs ran on GPUs.
        gpus: folder below `benchmarks`, or pattern of files below it without `.jsonl` -> GPUs of each of its jobs; the
            longest that fits counts.

    Returns:
        Made (date, UTC), Commit, Machine, Jobs (with their hours), and Cost if there is a price.
    """
    found = {"Made": f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}", "Commit": commit() or "not known"}
    machine = [f"{os.cpu_count()} cores", processor(), *graphics(), platform.system()]
    found["Machine"] = ", ".join(machine)
    jobs, cores, cards = hours(benchmarks, gpus if prices.device == "gpu" else {})
    found["Jobs"] = f"{jobs}, {cores:.2f} CPU hours, {cards:.2f} GPU hours"
    if cards:  # whether there was one, no measurement says
        found["Jobs"] += " (of jobs that take a GPU if there is one)"
    if prices.gpu_hour or prices.cpu_hour:
        cost = cores * prices.cpu_hour + cards * prices.gpu_hour
        found["Cost"] = f"{cost:.2f} {prices.currency}".strip()
    return found


def processor() -> str:
    """The model of this machine's processor if Linux names it, else its architecture."""
    try:
        named = re.search(r"^model name\s*:\s*(.+)$", PROCESSORS.read_text(encoding="utf-8"), flags=re.M)
    except OSError:
        named = None
    return named[1].strip() if named else platform.machine()


def graphics() -> list[str]:
    """The models of this machine's NVIDIA GPUs with their numbers; empty if there are none."""
    named = Counter(_said("nvidia-smi", "--query-gpu=name", "--format=csv,noheader").splitlines())
    return [f"{count} x {name.strip()}" for name, count in sorted(named.items())]


def hours(benchmarks: Path, gpus: Mapping[str, int]) -> tuple[int, float, float]:
    """The number of jobs, their CPU hours, and the GPU hours of those that take a GPU if there is one.

    An hour on two GPUs counts as two. Files without a time do not count, nor does the CPU time of jobs too short to be
    measured.
    """
    jobs, cores, cards = 0, 0.0, 0.0
    for file in sorted(benchmarks.rglob("*.jsonl")):
        if not (run := last_run(file)):
            continue
        jobs += 1
        cores += run.cpu_seconds / HOUR
        own = str(file.relative_to(benchmarks).with_suffix(""))
        fits = [place for place in gpus if fnmatchcase(own, place) or own.startswith(f"{place}/")]
        cards += run.seconds / HOUR * (gpus[max(fits, key=len)] if fits else 0)
    return jobs, cores, cards


def commit() -> str:
    """The commit of this clone, with `+` if files were changed; empty: not a clone, or no git."""
    return _said("git", "-C", str(ROOT), "describe", "--always", "--dirty=+", "--abbrev=12")


def _said(*command: str) -> str:
    """What a command prints; empty: it is not there, or it failed."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""

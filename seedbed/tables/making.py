"""When, where and at what cost a study's results were made, for its page: nothing of it is in a score or a table."""

import datetime
import os
import platform
import subprocess
from collections.abc import Collection
from pathlib import Path

import pandas as pd

from seedbed.resources import ROOT
from seedbed.tables.settings import Forecast

HOUR = 3600


def told(benchmarks: Path, prices: Forecast, gpu_rules: Collection[str]) -> dict[str, str]:
    """What the page says below its title.

    Args:
        benchmarks: folder {rule}/....jsonl of what Snakemake measured; of a job that ran again the last time counts.
        prices: of an hour of a core and of a GPU, and whether jobs ran on GPUs at all.
        gpu_rules: rules whose jobs ask for a GPU.

    Returns:
        Made (date, UTC), Commit, Machine, Jobs (their hours), and Cost where there is a price.
    """
    found = {"Made": f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}", "Commit": commit() or "not known"}
    found["Machine"] = f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}"
    jobs, cores, gpus = hours(benchmarks, gpu_rules if prices.device == "gpu" else ())
    found["Jobs"] = f"{jobs}, {cores:.2f} CPU hours, {gpus:.2f} GPU hours"
    if prices.gpu_hour or prices.cpu_hour:
        cost = cores * prices.cpu_hour + gpus * prices.gpu_hour
        found["Cost"] = f"{cost:.2f} {prices.currency}".strip()
    return found


def hours(benchmarks: Path, gpu_rules: Collection[str]) -> tuple[int, float, float]:
    """How many jobs there were, their CPU hours, and the hours of those that had a GPU.

    A file that is broken, or of a job too short to be measured, counts for nothing.
    """
    jobs, cores, gpus = 0, 0.0, 0.0
    for file in sorted(benchmarks.rglob("*.jsonl")):
        try:
            last = pd.read_json(file, lines=True).iloc[-1]
            wall, used = float(last["s"]), pd.to_numeric(last["cpu_time"], errors="coerce")
        except (ValueError, KeyError, IndexError):
            continue
        jobs, cores = jobs + 1, cores + (0.0 if pd.isna(used) else float(used)) / HOUR
        gpus += wall / HOUR if file.relative_to(benchmarks).parts[0] in gpu_rules else 0.0
    return jobs, cores, gpus


def commit() -> str:
    """The commit of this clone, with `+` where files were changed; empty: it is no clone, or git is not there."""
    try:
        command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty=+", "--abbrev=12"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""

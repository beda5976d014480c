"""Forecast of a study: jobs, hours, memory, disk and tokens for each rule and language, before anything runs."""

import math
from collections import defaultdict
from collections.abc import Mapping
from statistics import median

import numpy as np
import pandas as pd

from seedbed.markdown import aligned
from seedbed.operations.forecasting.calibration import Records, error_factor, left_out
from seedbed.operations.forecasting.costs import HEADROOM
from seedbed.operations.forecasting.work import Plan
from seedbed.operations.jobs import Job
from seedbed.tables.settings import Forecast

COLUMNS = ["rule", "language", "jobs", "jobs_total", "gpu_hours", "gpu_hours_low", "gpu_hours_high", "cpu_hours",
           "cpu_hours_low", "cpu_hours_high", "memory_mb", "gpu_mb", "disk_mb", "tokens", "records",
           "basis"]  # fmt: skip
MB = 2**20


def forecast(plan: Plan, records: Records) -> pd.DataFrame:
    """One row for each rule and language (COLUMNS): the cost of its remaining jobs.

    GPU hours are wall time times the GPUs that a job takes if there are any, CPU hours wall time times threads. Ranges
    contain nine tenths if the defaults' spreads are right; errors of jobs of one rule and model are shared. Memory is
    that of the largest job, a computer's without headroom; disk counts what remains.
    """
    groups: dict[tuple[str, str], list[Job]] = defaultdict(list)
    for job in plan.jobs:
        groups[job.rule, job.language].append(job)
    rows = []
    for (rule, language), jobs in groups.items():
        todo = [job for job in jobs if job.todo]
        rows.append({"rule": rule, "language": language, "jobs_total": len(jobs)} | hours_of(plan, todo, records))
    order = {rule: place for place, rule in enumerate(plan.costs.rules)}
    rows.sort(key=lambda row: (order[row["rule"]], row["language"]))
    return pd.DataFrame(rows, columns=COLUMNS)


def hours_of(plan: Plan, jobs: list[Job], records: Records) -> dict[str, object]:
    """The numbers of a row for these jobs, see COLUMNS."""
    sums = {f"{kind}_hours{end}": 0.0 for kind in ("gpu", "cpu") for end in ("", "_low", "_high")}
    sums |= {"disk": 0.0, "tokens": 0.0}
    memory, counts = 0.0, []
    by_model = defaultdict(list)
    for job in jobs:
        by_model[job.model].append(job)
    for members in by_model.values():
        speed = records.speed(members[0])
        counts.append(speed.records)
        factor = error_factor(speed.records, plan.costs.rules[members[0].rule].spread, len(members))
        for job in members:
            work, hours = plan.work(job), speed.time * plan.seconds(job) / 3600
            for kind, held in (("gpu", job.asks("gpu") if plan.device == "gpu" else 0), ("cpu", job.threads)):
                for end, off in (("", 1), ("_low", 1 / factor), ("_high", factor)):
                    sums[f"{kind}_hours{end}"] += hours * held * off
            sums["disk"] += speed.disk * work.disk
            sums["tokens"] += work.tokens
            memory = max(memory, speed.memory * job.asks("mem_mb") / HEADROOM)
    basis = "done" if not jobs else "measured" if all(counts) else "guessed" if not any(counts) else "partly"
    held = max((job.asks("gpu_mb") for job in jobs), default=0) if plan.device == "gpu" else 0
    sizes = {"memory_mb": math.ceil(memory), "gpu_mb": held}
    sizes |= {"disk_mb": round(sums.pop("disk") / MB, 2), "tokens": round(sums.pop("tokens"))}
    return {"jobs": len(jobs), **sums, **sizes, "records": sum(counts), "basis": basis}


def totals(table: pd.DataFrame) -> pd.DataFrame:
    """The table summed over languages, one row for each rule; of memory, GPU memory and records, the maximum."""
    how = dict.fromkeys(COLUMNS[2:], "sum") | {"memory_mb": "max", "gpu_mb": "max", "records": "max", "basis": _basis}
    return table.groupby("rule", sort=False).agg(how).reset_index()


def _basis(values: pd.Series) -> str:
    """Of several languages; those that are done say nothing."""
    kinds = set(values) - {"done"} or {"done"}
    return kinds.pop() if len(kinds) == 1 else "partly"


def layout(table: pd.DataFrame, plan: Plan, records: Records, settings: Forecast) -> str:
    """The forecast as a page of Markdown: by rule, by rule and language, and its accuracy so far."""
    done = len(plan.jobs) - sum(job.todo for job in plan.jobs)
    if done == len(plan.jobs):
        return f"# Forecast\n\nNothing is to be done: all {done} jobs have run.\n"
    device = plan.costs.devices[plan.device]
    on_gpus = " GPU-hours are those of jobs that take a GPU if there is one." if plan.device == "gpu" else ""
    by_rule = totals(table)
    parts = [
        "# Forecast",
        f"{int(table['jobs'].sum())} jobs to do, {done} done. Guesses are for {device.name}; "
        f"brackets hold nine tenths if their spreads are right.{on_gpus}",
        _markdown(by_rule, "rule"),
        _summary(by_rule, settings),
        _told(records),
    ]
    if records.usable:
        parts += ["## How far off it was", "Forecast over actual seconds of finished jobs (1: exact)."]
        parts.append(_errors(plan, records))
    return "\n\n".join([*parts, "## By language", _markdown(table[table["jobs"] > 0], "rule", "language")]) + "\n"


def _markdown(table: pd.DataFrame, *keys: str) -> str:
    head = [*keys, "jobs", "GPU-hours", "CPU-hours", "memory", "GPU memory", "disk", "tokens", "from"]
    rows = []
    for row in table.to_dict("records"):
        source = row["basis"] if row["basis"] in ("guessed", "done") else f"{row['basis']} ({row['records']})"
        jobs = f"{row['jobs']}" if row["jobs"] == row["jobs_total"] else f"{row['jobs']} of {row['jobs_total']}"
        hours = [range_of(row, "gpu_hours"), range_of(row, "cpu_hours")]
        sizes = [size_of(row[f"{kind}_mb"]) if row[f"{kind}_mb"] else "" for kind in ("memory", "gpu", "disk")]
        rows.append([*(row[key] for key in keys), jobs, *hours, *sizes, _count(row["tokens"]), source])
    return aligned(head, rows, left=len(keys))


def _errors(plan: Plan, records: Records) -> str:
    """Forecast over actual seconds of finished jobs by rule, by default and from the others: median and worst."""
    head = ["rule", "records", "guess: median", "worst", "from the other records: median", "worst"]
    rows: list[list[object]] = []
    ratios = left_out(records.usable)
    for rule in filter(ratios.__contains__, plan.costs.rules):
        found = []
        for kind in zip(*ratios[rule], strict=True):
            found += [median(kind), max(kind, key=lambda ratio: abs(math.log(ratio)))]
        rows.append([rule, len(ratios[rule]), *(f"{number:.2f}" for number in found)])
    return aligned(head, rows, left=1)


def _summary(by_rule: pd.DataFrame, settings: Forecast) -> str:
    """The sum of all, and its price. Rules are wrong independently: their ranges add in quadrature."""
    gpu, cpu = (_bounds(by_rule, kind) for kind in ("gpu_hours", "cpu_hours"))
    text = ", ".join(
        f"**{_rounded(middle)} {label}** ({_rounded(low)} to {_rounded(high)})"
        for label, (low, middle, high) in (("GPU-hours", gpu), ("CPU-hours", cpu))
    )
    text += f", {size_of(by_rule['disk_mb'].sum())} of disk, {_count(by_rule['tokens'].sum())} tokens."
    if settings.gpu_hour or settings.cpu_hour:
        low, middle, high = settings.gpu_hour * gpu + settings.cpu_hour * cpu
        price = f"{_rounded(middle)} {settings.currency}".strip()
        text += f" Price: {price} ({_rounded(low)} to {_rounded(high)})."
    return text


def _bounds(by_rule: pd.DataFrame, kind: str) -> np.ndarray:
    """Least, expected and most of all (3,)."""
    middle, low, high = (by_rule[f"{kind}{end}"] for end in ("", "_low", "_high"))
    down, up = (math.sqrt((distance**2).sum()) for distance in (middle - low, high - middle))
    return np.array([max(middle.sum() - down, 0), middle.sum(), middle.sum() + up])


def _told(records: Records) -> str:
    parts = [f"{len(records.usable)} records of finished jobs used"]
    parts += [f"{records.broken} not readable"] if records.broken else []
    parts += [f"{records.foreign} of jobs that these targets do not need"] if records.foreign else []
    return f"{'; '.join(parts)}."


def range_of(row: Mapping[str, float], kind: str) -> str:
    """Hours with their range."""
    if not row[kind]:
        return "0"
    return f"{_rounded(row[kind])} ({_rounded(row[f'{kind}_low'])}-{_rounded(row[f'{kind}_high'])})"


def _rounded(value: float) -> str:
    """Hours, or a price."""
    if 0 < value < 0.01:
        return "<0.01"
    return f"{value:.0f}" if value >= 10 else f"{value:.1f}" if value >= 1 else f"{value:.2f}"


def size_of(megabytes: float) -> str:
    """A size in MiB or GiB."""
    return f"{megabytes / 1024:.1f} GiB" if megabytes >= 1024 else f"{megabytes:.0f} MiB"


def _count(number: float) -> str:
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= limit:
            return f"{number / limit:.1f}{unit}"
    return f"{number:.0f}"

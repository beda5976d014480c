"""Time limits of a run's jobs, from the forecast."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from seedbed.operations.forecasting.calibration import Records, collect
from seedbed.operations.forecasting.costs import CostSpec, Device
from seedbed.operations.forecasting.work import Plan
from seedbed.operations.jobs import Job


class Limits:
    """Forecasts of a workflow's jobs, made when Snakemake first requests a limit: it knows all jobs then."""

    def __init__(self, workflow: Any, costs: CostSpec, device: Device, benchmarks: Path) -> None:
        self.workflow, self.costs, self.device, self.benchmarks = workflow, costs, device, benchmarks
        # A plan that prints only counts (`--quiet`) prints no resources.
        self._shown = not {"RULES", "ALL"} & {one.name for one in workflow.output_settings.quiet or ()}

    def seconds(self, rule: str, wildcards: Any, threads: int, gpus: int) -> float:
        """Forecast seconds of a rule's job; 0: no limit, because it runs on this machine or already on its node."""
        run = self.workflow
        limited = self._shown if run.dryrun else not run.local_exec
        if not (limited and run.is_main_process):
            return 0
        job = self._jobs[rule, *map(str, wildcards)]
        seconds = self._plan.seconds(replace(job, threads=threads, resources={"gpu": gpus}))
        # Finished jobs that were quicker than the defaults may have been small: they take no time from another.
        return seconds * max(1, self._records.speed(job).time)

    @cached_property
    def _jobs(self) -> dict[tuple[str, ...], Job]:
        """All jobs of the run, by rule and wildcards."""
        jobs = [one for one in self.workflow.dag.jobs if one.rule.name in self.costs.rules]
        return {(one.rule.name, *map(str, one.wildcards)): Job.planned(one) for one in jobs}

    @cached_property
    def _plan(self) -> Plan:
        return Plan([*self._jobs.values()], self.costs, self.device)

    @cached_property
    def _records(self) -> Records:
        return collect(self._plan, self.benchmarks)

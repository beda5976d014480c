"""How long the jobs of a run will take, as the forecast says: their time limits follow it."""

from __future__ import annotations

import json
from typing import Any

from seedbed.operations.forecasting.costs import CostSpec, Device
from seedbed.operations.forecasting.work import Plan
from seedbed.operations.job import Job


class Limits:
    """The forecast of a workflow's jobs, made when Snakemake, which knows them all by then, first asks for a resource.

    What a job has to do stands in its parameters: resources that were asked for before these were read know of no
    forecast, and are forgotten where that says more.
    """

    def __init__(self, workflow: Any, costs: CostSpec, device: Device) -> None:
        self.workflow, self.costs, self.device = workflow, costs, device
        # A plan of which only counts are shown (`--quiet`) shows no resources.
        self._shown = not {"RULES", "ALL"} & {one.name for one in workflow.output_settings.quiet or ()}
        self._known = 0
        self._seconds: dict[tuple[str, ...], float] = {}

    def seconds(self, rule: str, wildcards: Any) -> float:
        """Seconds of a rule's job by the defaults; 0: it has no limit, since it runs on this machine, or already on the
        node that it was given to.
        """
        run = self.workflow
        limited = self._shown if run.dryrun else not run.local_exec
        if limited and run.is_main_process and self._known != len(run.dag.jobs):
            self._known = len(run.dag.jobs)
            try:
                self._seconds = self._forecast([*run.dag.jobs])
            except SystemExit:  # a fault of the study in what a job is told; Snakemake meets it again, and ends by it
                self._seconds = {}
        return self._seconds.get((rule, *map(str, wildcards)), 0)

    def _forecast(self, every: list[Any]) -> dict[tuple[str, ...], float]:
        """Seconds of Snakemake's jobs, by rule and wildcards."""
        jobs = {
            (one.rule.name, *map(str, one.wildcards)): Job(
                one.rule.name,
                dict(one.wildcards_dict),
                json.loads(one.params.job),
                tuple(one.output),
                threads=one.threads,
                gpus=one.resources.get("gpu", 0),
            )
            for one in every
            if one.rule.name in self.costs.rules
        }
        plan = Plan([*jobs.values()], self.costs, self.device)
        found = {name: plan.start(job) + plan.work(job).seconds for name, job in jobs.items()}
        for one in every:
            rule, seconds = self.costs.rules.get(one.rule.name), found.get((one.rule.name, *map(str, one.wildcards)), 0)
            if rule and rule.limit(seconds) != rule.limit(0):
                one.attempt = one.attempt  # which forgets its resources
        return found

"""How long the jobs of a run will take, as the forecast says: their time limits follow it."""

from __future__ import annotations

from typing import Any

from seedbed.operations.forecasting.costs import CostSpec, Device
from seedbed.operations.forecasting.work import Plan
from seedbed.operations.job import Job


class Limits:
    """The forecast of the jobs that a workflow is to run, made when the first of them is looked at.

    What a job has to do stands in its command, and a command may name resources. So those that Snakemake asks for
    before it knows its jobs, or while commands are read, know of no forecast, and are forgotten then.
    """

    def __init__(self, workflow: Any, costs: CostSpec, device: Device) -> None:
        self.workflow, self.costs, self.device = workflow, costs, device
        self._seconds: dict[tuple[str, ...], float] | None = None

    def seconds(self, rule: str, wildcards: Any) -> float:
        """Seconds of a rule's job by the defaults; 0: it is not to run, or has no limit: it runs on this machine, or
        already on the node that it was given to.
        """
        run = self.workflow
        limited = run.scheduler and run.is_main_process and (run.dryrun or not run.local_exec)
        if self._seconds is None and limited:
            self._seconds = {}
            self._seconds = self._forecast()
        return (self._seconds or {}).get((rule, *map(str, wildcards)), 0)

    def _forecast(self) -> dict[tuple[str, ...], float]:
        dag = self.workflow.dag
        todo, done = {}, []
        for one in dag.jobs:
            job = Job(
                one.rule.name,
                dict(one.wildcards_dict),
                lambda one=one: one.shellcmd,
                tuple(one.output),
                threads=one.threads,
                gpus=one.resources.get("gpu", 0),
            )
            if job.rule in self.costs.rules and dag.needrun(one):
                todo[job.rule, *map(str, one.wildcards)] = job
            else:
                done.append(job)
        plan = Plan([*todo.values()], self.costs, self.device, done)
        found = {name: plan.start(job) + plan.work(job).seconds for name, job in todo.items()}
        for one in dag.jobs:
            one.attempt = one.attempt  # which forgets its resources
        return found

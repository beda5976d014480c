"""Say what the study will cost before it runs: hours, memory, disk and tokens for each rule and language."""

from __future__ import annotations

import argparse
import json
import logging
from pathlib import Path

from scripts.cli import run
from seedbed.io import UserError, atomic, write_table
from seedbed.tables.forecasting.costs import CostSpec
from seedbed.tables.forecasting.forecast import collect, errors, forecast, layout
from seedbed.tables.forecasting.work import Job, Plan
from seedbed.tables.settings import Forecast


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--costs", type=Path, default=Path("resources/forecast.yaml"), help="YAML: CostSpec")
    parser.add_argument("--forecast", default="{}", help="JSON: seedbed.tables.settings.Forecast")
    parser.add_argument("--configfiles", nargs="*", type=Path, default=[], help="as Snakemake was given them")
    parser.add_argument("--config", default={}, type=json.loads, help="JSON: what --config changed")
    parser.add_argument("--threads", default={}, type=json.loads, help="JSON: what --set-threads changed")
    parser.add_argument("--benchmarks", required=True, type=Path, help="directory of benchmark records")
    parser.add_argument("--output", required=True, type=Path)
    parser.add_argument("--page", required=True, type=Path)
    args = parser.parse_args(argv)

    settings, costs = Forecast.load(args.forecast), CostSpec.load(args.costs)
    plan = Plan(planned(args.configfiles, args.config, args.threads, settings.targets), costs, settings.device)
    records = collect(plan, args.benchmarks)
    table = forecast(plan, records)
    write_table(table, args.output)
    with atomic(args.page) as temporary:
        temporary.write_text(layout(table, errors(plan, records), records, plan, settings), encoding="utf-8")


def planned(configfiles: list[Path], config: dict, threads: dict, targets: list[str]) -> list[Job]:
    """Every job of the targets, as Snakemake itself plans them, and which of them it would run."""
    every = dry_run(configfiles, config, threads, targets, forceall=True)
    if not any(Path(output).exists() for event in every for output in event["output"]):
        return [job(event, todo=True) for event in every]
    todo = {tuple(event["output"]) for event in dry_run(configfiles, config, threads, targets, forceall=False)}
    return [job(event, todo=tuple(event["output"]) in todo) for event in every]


def job(event: dict, *, todo: bool) -> Job:
    """A job from Snakemake's log event of it."""
    return Job(
        rule=event["rule_name"],
        wildcards=dict(event["wildcards"]),
        command=event["shellcmd"],
        outputs=tuple(event["output"]),
        benchmark=event["benchmark"] or "",
        threads=event["threads"],
        gpus=float(event["resources"].get("gpu", 0)),
        todo=todo,
    )


def dry_run(configfiles: list[Path], config: dict, threads: dict, targets: list[str], *, forceall: bool) -> list[dict]:
    """The log events of the jobs of a dry-run, without a lock.

    Raises:
        UserError: Snakemake cannot plan these targets.
    """
    from snakemake.api import SnakemakeApi
    from snakemake.exceptions import RuleException, WorkflowError
    from snakemake.logging import logger
    from snakemake.settings import types

    events: list[dict] = []

    class Collector(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if hasattr(record, "rule_name") and getattr(record, "shellcmd", None):
                events.append(vars(record))

    try:
        with SnakemakeApi(types.OutputSettings(dryrun=True)) as api:
            for handler in logger.handlers:
                handler.setLevel(logging.ERROR)
            logger.addHandler(Collector())
            workflow = api.workflow(
                # As many cores as any rule may ask for: a job on fewer would be planned with fewer threads.
                resource_settings=types.ResourceSettings(cores=10_000, overwrite_threads=threads),
                config_settings=types.ConfigSettings(config=config, configfiles=configfiles),
                snakefile=Path("Snakefile"),
            )
            dag = workflow.dag(types.DAGSettings(targets=set(targets), forceall=forceall))
            dag.execute_workflow(executor="dryrun", execution_settings=types.ExecutionSettings(lock=False))
    except (RuleException, WorkflowError) as error:
        what = ", ".join(targets) or "the study"
        raise UserError(f"forecast.targets: no plan for {what}: {' '.join(str(error).split())}") from None
    return events


if __name__ == "__main__":
    run(main)

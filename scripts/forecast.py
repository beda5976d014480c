"""Say what the study will cost before it runs: hours, memory, disk and tokens for each rule and language."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from scripts.cli import run
from scripts.workflow import planned
from seedbed.io import UserError, atomic, write_table
from seedbed.resources import resource
from seedbed.tables.forecasting.costs import CostSpec
from seedbed.tables.forecasting.forecast import collect, errors, forecast, layout
from seedbed.tables.forecasting.work import Plan
from seedbed.tables.settings import Forecast


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--costs", type=Path, default=resource("forecast.yaml"), help="YAML: CostSpec")
    parser.add_argument("--forecast", default="{}", help="JSON: seedbed.tables.settings.Forecast")
    parser.add_argument("--configfiles", nargs="*", type=Path, default=[], help="as Snakemake was given them")
    parser.add_argument("--config", default={}, type=json.loads, help="JSON: what --config changed")
    parser.add_argument("--threads", default={}, type=json.loads, help="JSON: what --set-threads changed")
    parser.add_argument("--benchmarks", required=True, type=Path, help="directory of benchmark records")
    parser.add_argument("--output", required=True, type=Path)
    parser.add_argument("--page", required=True, type=Path)
    args = parser.parse_args(argv)

    settings, costs = Forecast.load(args.forecast), CostSpec.load(args.costs)
    try:
        jobs = planned(args.configfiles, args.config, args.threads, settings.targets)
    except UserError as error:
        raise UserError(f"forecast.targets: {error}") from None
    plan = Plan(jobs, costs, settings.device)
    records = collect(plan, args.benchmarks)
    table = forecast(plan, records)
    write_table(table, args.output)
    with atomic(args.page) as temporary:
        temporary.write_text(layout(table, errors(plan, records), records, plan, settings), encoding="utf-8")


if __name__ == "__main__":
    run(main)

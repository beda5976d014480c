"""Say what the study will cost before it runs: hours, memory, disk and tokens for each rule and language."""

import json
from pathlib import Path

from scripts.cli import add_study, arguments, run
from seedbed.io import UserError, atomic, write_table
from seedbed.operations.forecasting.costs import CostSpec
from seedbed.operations.forecasting.forecast import collect, errors, forecast, layout
from seedbed.operations.forecasting.languages import one_more
from seedbed.operations.forecasting.work import Plan
from seedbed.operations.jobs import planned
from seedbed.resources import resource
from seedbed.tables.settings import Forecast


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__, "page", "output")
    parser.add_argument("--costs", type=Path, default=resource("forecast.yaml"), help="YAML: CostSpec")
    parser.add_argument("--forecast", default="{}", help="JSON: seedbed.tables.settings.Forecast")
    add_study(parser)
    parser.add_argument("--threads", default={}, type=json.loads, help="JSON: what --set-threads changed")
    parser.add_argument("--benchmarks", required=True, type=Path, help="directory of benchmark records")
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
        page = layout(table, errors(plan, records), records, plan, settings) + one_more(plan, records)
        temporary.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    run(main)

"""Say what the study will cost before it runs: hours, memory, disk and tokens for each rule and language."""

from pathlib import Path

from scripts import cli
from seedbed.resources import resource
from seedbed.settings import NoResult
from seedbed.tables.settings import Forecast


class Job(cli.Planning):
    costs: Path = Path(resource("forecast.yaml"))
    """YAML: CostSpec"""
    forecast: NoResult[Forecast] = Forecast()
    threads: dict[str, int] = {}
    """rule -> threads, of what --set-threads changed"""
    benchmarks: Path
    """folder of benchmark records"""
    page: Path
    output: Path


def main(job: Job) -> None:
    from seedbed.io import UserError, atomic, write_table
    from seedbed.operations.forecasting.calibration import collect
    from seedbed.operations.forecasting.costs import CostSpec
    from seedbed.operations.forecasting.forecast import forecast, layout
    from seedbed.operations.forecasting.languages import one_more
    from seedbed.operations.forecasting.work import Plan
    from seedbed.operations.jobs import planned

    settings, costs = job.forecast, CostSpec.load(job.costs)
    try:
        jobs = planned(job.configfiles, job.config, job.threads, settings.targets)
    except UserError as error:
        raise UserError(f"forecast.targets: {error}") from None
    plan = Plan(jobs, costs, settings.device)
    records = collect(plan, job.benchmarks)
    table = forecast(plan, records)
    write_table(table, job.output)
    with atomic(job.page) as temporary:
        page = layout(table, plan, records, settings) + one_more(plan, records)
        temporary.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    cli.run(Job, main)

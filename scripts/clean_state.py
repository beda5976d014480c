"""List what killed jobs left that no job will use again; remove it if told so."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path

from scripts.cli import run
from scripts.workflow import planned, run_since
from seedbed.io import UserError
from seedbed.tables.forecasting.work import Job
from seedbed.tables.leftovers import listing, made_by, remove, stale


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--configfiles", nargs="*", type=Path, default=[], help="as Snakemake is given them")
    parser.add_argument("--config", default={}, type=json.loads, help="JSON: what --config changes")
    parser.add_argument("--delete", action="store_true", help="remove what is listed")
    args = parser.parse_args(argv)

    jobs = planned(args.configfiles, args.config, {}, [])
    state = next(Path(job.option("state")) for job in jobs if "state" in job.options)
    jobs += of_other_targets(args, jobs, made_by(state).values())
    leftovers = stale(state, jobs)
    print(listing(leftovers, state))
    if args.delete and leftovers:
        if run_since(state.parent):
            raise UserError("a run is going on: nothing was removed; wait for its end")
        remove(leftovers)
        print("removed")
    elif leftovers:
        print("Nothing was removed: that is DELETE=1 (--delete).")


def of_other_targets(args: argparse.Namespace, jobs: list[Job], outputs: Iterable[str]) -> list[Job]:
    """The jobs of outputs that the study makes only when it is asked for them."""
    known = {output for job in jobs for output in job.outputs}
    found = []
    for output in sorted(set(outputs) - known - {""}):
        try:
            found += planned(args.configfiles, args.config, {}, [output])
        except UserError:  # it cannot make them any more
            continue
    return found


if __name__ == "__main__":
    run(main)

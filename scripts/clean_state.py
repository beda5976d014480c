"""List what killed jobs left that no job will use again; remove it if told so."""

import argparse
from collections.abc import Iterable
from pathlib import Path

from scripts.cli import add_study, arguments, run
from seedbed.io import UserError
from seedbed.operations.job import Job
from seedbed.operations.jobs import planned, run_since
from seedbed.operations.leftovers import listing, made_by, remove, stale


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__)
    add_study(parser)
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
    """The jobs of outputs that the study makes only on request."""
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

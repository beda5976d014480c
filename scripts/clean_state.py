"""List files of killed jobs that no job will use again, and delete them if requested."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from scripts import cli
from seedbed.io import UserError
from seedbed.locks import exclusive

if TYPE_CHECKING:
    from seedbed.operations.jobs import Job as Planned


class Job(cli.Planning):
    delete: bool = False
    """remove what is listed"""


def main(job: Job) -> None:
    from seedbed.operations.jobs import LOCK, planned, results_of
    from seedbed.operations.stale_files import listing, made_by, remove, stale

    jobs = planned(job.configfiles, job.config, {}, [])
    state = results_of(job.configfiles, job.config) / "state"
    jobs += of_other_targets(job, jobs, made_by(state).values())
    files = stale(state, jobs)
    print(listing(files, state))
    if job.delete and files:
        with exclusive(state.parent / LOCK):
            remove(files)
        print("removed")
    elif files:
        print("Nothing was removed: that is DELETE=1 (--delete).")


def of_other_targets(job: Job, jobs: "list[Planned]", outputs: Iterable[str]) -> "list[Planned]":
    """The jobs of outputs that the study does not make by default."""
    from seedbed.operations.jobs import planned

    known = {output for one in jobs for output in one.outputs}
    found = []
    for output in sorted(set(outputs) - known - {""}):
        try:
            found += planned(job.configfiles, job.config, {}, [output])
        except UserError:  # it cannot make them any more
            continue
    return found


if __name__ == "__main__":
    cli.run(Job, main)

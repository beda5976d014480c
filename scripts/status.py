"""Say what of the study is done, runs, failed and is to do; a run may be going on."""

from scripts import cli


class Job(cli.Planning):
    targets: list[str] = []
    """files or rules; none: all that the study makes"""


def main(job: Job) -> None:
    from seedbed.operations import events
    from seedbed.operations.jobs import planned, results_of, rooms
    from seedbed.operations.status import layout

    # Before the plan: what ends in between is then done, not forgotten.
    known = events.read(results_of(job.configfiles, job.config))
    print(layout(planned(job.configfiles, job.config, {}, job.targets), rooms(), known))


if __name__ == "__main__":
    cli.run(Job, main)

"""Choose the scale of a composition on a development task: that whose encoders score best."""

from pathlib import Path

from scripts import cli


class Job(cli.Job):
    dev: str
    """name of the task"""
    scores: dict[str, Path]
    """SCALE/LANGUAGE -> the list of `score`"""
    output: Path


def main(job: Job) -> None:
    from seedbed.generators.scales import choose
    from seedbed.io import write_json

    lists = {float(scale): files for scale, files in cli.by_candidate(job.scores).items()}
    write_json(choose(job.dev, lists), job.output)


if __name__ == "__main__":
    cli.run(Job, main)

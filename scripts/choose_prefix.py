"""Choose the prefix of a recipe's encoders on a development task: that of the untrained recipe that scores best."""

from pathlib import Path

from scripts import cli


class Job(cli.Job):
    dev: str
    """name of the task"""
    prefixes: dict[str, str]
    """recipe -> its prefix"""
    scores: dict[str, Path]
    """RECIPE/LANGUAGE -> the list of `score`"""
    output: Path


def main(job: Job) -> None:
    from seedbed.encoders.prefix_choice import choose
    from seedbed.io import write_json

    write_json(choose(job.dev, job.prefixes, cli.by_candidate(job.scores)), job.output)


if __name__ == "__main__":
    cli.run(Job, main)

"""Write what a table shows of a study: its blocks, each a list of cells, as JSON."""

from pathlib import Path

from scripts import cli
from seedbed.tables.plan import Block


class Job(cli.Job):
    blocks: list[Block]
    output: Path


def main(job: Job) -> None:
    from seedbed.io import write_json

    write_json([block.model_dump(mode="json") for block in job.blocks], job.output)


if __name__ == "__main__":
    cli.run(Job, main)

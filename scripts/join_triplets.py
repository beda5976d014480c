"""Join the shards of one language's triplets in the order of its anchors."""

from pathlib import Path

from scripts import cli


class Job(cli.Job):
    shards: list[Path]
    anchors: Path
    rows: int = 0
    """number of anchors that the shards are of, see corpora.select.subset; 0: all"""
    output: Path


def main(job: Job) -> None:
    import pandas as pd

    from seedbed.corpora.select.subset import subset
    from seedbed.io import UserError, read_table, write_table
    from seedbed.triplets.shards import read_shard

    triplets = pd.concat([read_shard(path) for path in job.shards], ignore_index=True)
    anchors = subset(read_table(job.anchors, ["id"]), job.rows)
    if list(triplets["id"]) != list(anchors["id"]):
        raise UserError(
            f"{job.output}: shards hold {len(triplets)} rows, those of {job.anchors} are {len(anchors)}, or in "
            "another order; remove the shards so that they are made again"
        )
    write_table(triplets, job.output)


if __name__ == "__main__":
    cli.run(Job, main)

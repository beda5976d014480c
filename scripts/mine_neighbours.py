"""Mine the neighbours of one language's seed pairs among its anchors, by token means of one layer of a backbone."""

from pathlib import Path

from scripts import cli
from seedbed.encoders.settings import Mining


class Job(cli.Job):
    weights: Path
    """folder of the backbone"""
    pairs: Path
    """TSV: id, text, pivot"""
    pool: Path
    """TSV: id, text"""
    mining: Mining = Mining()
    prefix: str | None = None
    """put before every text; left out, what the backbone's own file says"""
    state: cli.State
    output: Path
    audit: Path


def main(job: Job) -> None:
    from seedbed.checkpoints import own_state
    from seedbed.corpora.settings import COLUMNS
    from seedbed.encoders.mining import neighbours
    from seedbed.encoders.prompts import plain_prompt
    from seedbed.io import read_table, write_json, write_table

    pairs = read_table(job.pairs, ["id", *COLUMNS["parallel"]])
    prefix = plain_prompt(job.prefix, job.weights)
    with own_state(job.state, job.output, job) as state:
        table, audit = neighbours(pairs, job.pool, job.weights, job.mining, prefix=prefix, state=state)
        write_table(table, job.output)
        write_json(audit, job.audit)


if __name__ == "__main__":
    cli.run(Job, main)

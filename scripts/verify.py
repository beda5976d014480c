"""Compare a run with its study's reference: a line for each number, or best encoder, that differs, and exit code 1."""

from pathlib import Path

from scripts import cli


class Job(cli.Job):
    reference: Path
    """YAML: seedbed.operations.verify.Reference"""
    tables: list[Path]
    """CSV files, identified by their names"""
    exact: bool = False
    """without tolerances, for the machine on which the reference was made"""
    write: bool = False
    """replace the numbers of the reference by the run's"""
    best: list[Path] = []
    """folders of the best encoders"""
    output: Path | None = None
    """TSV: every number next to that of the reference"""


def main(job: Job) -> None:
    from seedbed.io import UserError, write_table
    from seedbed.operations.verify import Reference, compared, differing, otherwise_chosen, write

    tables = {path.stem: path for path in job.tables}
    if job.write:
        write(job.reference, tables, job.best)
        return
    reference = Reference.load(job.reference)
    numbers = compared(reference, tables, exact=job.exact)
    if lines := [*differing(numbers), *otherwise_chosen(reference, job.best)]:
        print("\n".join(lines))
        count, made = len(numbers) + len(reference.best), f"{job.reference}, which `{reference.command}` made"
        raise UserError(f"{len(lines)} of {count} numbers and choices differ from {made}")
    if job.output:
        write_table(numbers, job.output)


if __name__ == "__main__":
    cli.run(Job, main)

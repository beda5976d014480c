"""Gather the scores of a study into a table: a tidy CSV, the differences of pairs of its rows, and Markdown in the
paper's layout."""

from pathlib import Path

from scripts import cli
from seedbed.resources import resource
from seedbed.tables.settings import Statistics


class Job(cli.Job):
    spec: Path
    """YAML: seedbed.tables.specs.TableSpec"""
    scores: Path
    """folder of the study's scores"""
    papers: Path = Path(resource("paper"))
    """CSV with the papers' numbers"""
    plan: Path
    """output of program plan_table"""
    statistics: Statistics = Statistics()
    output: Path
    """CSV"""
    compared: Path
    """CSV: the differences of the spec's pairs"""
    layout: Path
    """Markdown"""


def main(job: Job) -> None:
    from seedbed.io import UserError, atomic, read_json
    from seedbed.settings import validated
    from seedbed.tables.pages.layout import layout
    from seedbed.tables.plan import Block
    from seedbed.tables.published import Published
    from seedbed.tables.specs import TableSpec
    from seedbed.tables.tabulate import compare, measure_blocks, tabulate, write

    spec = TableSpec.load(job.spec)
    expected, plan = "what plan_table writes", read_json(job.plan)
    if not plan or not isinstance(plan, list):
        raise UserError(f"{job.plan}: no list of blocks; expected {expected}")
    blocks = [validated(Block, block, job.plan, expected) for block in plan]
    published = Published(spec.paper, job.papers)
    measured = [*measure_blocks(blocks, job.scores, job.statistics, spec)]
    table = tabulate(measured, job.statistics, published)
    write(table, job.output)
    differences = compare(measured, spec.compare, job.statistics)
    write(differences, job.compared)
    with atomic(job.layout) as temporary:
        quoted = {(block.backbone, block.column.label): block.quoted for block in blocks}
        papers = {block.backbone: block.paper_backbone for block in blocks}
        temporary.write_text(layout(table, spec, published, quoted, papers, differences), encoding="utf-8")


if __name__ == "__main__":
    cli.run(Job, main)

"""Choose the best encoder of a language on one task, compare it with the others on another task, and link it into a
folder.

If no task can choose, it is the recommended one.
"""

from pathlib import Path
from typing import Self

from pydantic import model_validator

from scripts import cli
from seedbed.tables.plan import Block, Cell
from seedbed.tables.settings import Statistics


class Job(cli.Job):
    language: str
    name: str
    """English name of the language"""
    blocks: list[Block]
    """the candidates as blocks of a table, on the task that reports; maybe none"""
    dev: list[str] = []
    """the tasks that choose, by the mean of their main scores"""
    encoder: str = ""
    """BACKBONE/RECIPE/LANGUAGE/SEED, which is recommended: no task chooses"""
    also: list[list[Block]] = []
    """for each further task: the candidates as blocks of a table"""
    why: str = ""
    """a sentence: why the encoder is recommended"""
    limits: str = ""
    """sentences: what the scores do not say"""
    test: Path | None = None
    """TSV: what the task that reports tests, to score its words alone"""
    statistics: Statistics = Statistics()
    root: Path
    """the study's results, with scores/ and encoders/"""
    output: Path

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if bool(self.dev) == bool(self.encoder):
            raise ValueError("give `dev`, tasks that choose, or `encoder`, which is recommended")
        if self.dev and not self.blocks:
            raise ValueError("blocks: none, of whose encoders `dev` chooses; give one")
        return self


def main(job: Job) -> None:
    from seedbed.tables.best import block_of, choose_encoder, link_encoder, report

    scores = job.root / "scores"
    if job.dev:
        cell, dev = choose_encoder(job.blocks, scores, job.dev)
    else:
        cell, dev = Cell.named(job.encoder, job.language), None
    facts = {"language": job.language, "name": job.name, "backbone": cell.backbone, "recipe": cell.recipe}
    facts |= {"seed": cell.seed, "dev": dev, "why": job.why, "limits": job.limits}
    facts["base"] = next((block.baseline for block in job.blocks if block.backbone == cell.backbone), "")
    facts["test"] = report(job.blocks, cell, scores, job.statistics, job.test) if job.blocks else None
    compared = [blocks for blocks in job.also if block_of(cell, blocks)]
    facts["also"] = [report(blocks, cell, scores, job.statistics, None) for blocks in compared]
    facts["statistics"] = job.statistics.model_dump(include={"resamples", "level", "seed"})  # of intervals in its card
    encoder = job.root / "encoders" / cell.backbone / cell.recipe / cell.lang / str(cell.seed)
    link_encoder(encoder, job.output, facts)


if __name__ == "__main__":
    cli.run(Job, main)

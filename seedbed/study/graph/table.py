"""Tables: what each shows of the study, and what it is made of."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from seedbed.evaluation import protocols
from seedbed.resources import resource, spec_file
from seedbed.study import paths
from seedbed.study.graph.available import Available
from seedbed.study.graph.product import Code, Files, Product
from seedbed.study.graph.score import Scores
from seedbed.tables.plan import Block, Cell, Texts
from seedbed.tables.specs import TableSpec


@dataclass(frozen=True)
class TablePlan(Product, rule="plan_table", place=paths.PLAN):
    """The parts of the study that a table shows, block by block."""

    table: str

    @property
    def spec_file(self) -> str:
        """The file of its spec."""
        return os.path.relpath(spec_file("tables", self.table))

    @cached_property
    def spec(self) -> TableSpec:
        """Its spec; raises as `TableSpec.load`."""
        return TableSpec.load(spec_file("tables", self.table))

    @cached_property
    def blocks(self) -> list[Block]:
        """The blocks that it shows, cached; raises as `spec`, and `Available.blocks`."""
        return Available.get(self.study).blocks(self.spec)

    @property
    def cells(self) -> set[Cell]:
        """The scores that it shows."""
        return {cell for block in self.blocks for cell in block.cells()}

    @property
    def texts(self) -> set[Texts]:
        """The files of triplets that it measures."""
        return {texts for block in self.blocks for texts in block.texts()}

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics of the protocols that it shows; programs load them by name."""
        known = {column.protocol for column in self.spec.columns} & {*protocols.names()}
        return tuple(metrics_of(sorted(known)))

    def settings(self) -> dict[str, Any]:
        return {"blocks": self.blocks}


@dataclass(frozen=True)
class Table(Product, rule="tabulate", place=paths.TABLE):
    """A table of scores, or of how far triplets overlap."""

    table: str

    @property
    def plan(self) -> TablePlan:
        """The plan of what it shows."""
        return TablePlan.get(self.study, self.table)

    @property
    def paper(self) -> str:
        """The paper's numbers; empty: there are none."""
        found = self.plan.spec.paper
        return os.path.relpath(resource(f"paper/{found.csv}")) if found else ""

    def inputs(self) -> dict[str, Files]:
        triplets = sorted({texts.file for texts in self.plan.texts})
        return {
            "scores": sorted({Scores.of_cell(self.study, cell).path for cell in self.plan.cells}),
            "triplets": [f"{self.study.results}/{file}" for file in triplets],
            "plan": self.plan.path,
            "spec": self.plan.spec_file,
            "paper": self.paper,
        }

    def settings(self) -> dict[str, Any]:
        return {"scores": f"{self.study.results}/scores"}

    def code(self) -> Code:
        """Its spec, the paper's numbers, and the metrics that are loaded by name."""
        return Code(data=(self.plan.spec_file, self.paper), modules=self.plan.metrics)


def metrics_of(names: Iterable[str]) -> list[str]:
    """The metrics of protocols, as what a program imports by name."""
    return [f"{protocols.module_of(name)}:METRICS" for name in names]

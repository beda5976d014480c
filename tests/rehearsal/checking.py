"""Whether a rehearsal made all that its papers' tables and figures show: a number in each cell, or why there is none."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd

from seedbed.evaluation.significance import LEAST_ITEMS
from seedbed.resources import spec_file, specs
from seedbed.study.graph.table import TablePlan
from seedbed.study.loading import load
from seedbed.study.model import Study
from seedbed.tables.figures.specs import FigureSpec, Map
from seedbed.tables.plan import Block
from seedbed.tables.published import AVERAGE
from seedbed.tables.specs import TableSpec, metric_of
from seedbed.tables.tabulate import read
from tests.rehearsal import cutting

PNG = b"\x89PNG\r\n\x1a\n"


def faults(root: Path, paper: cutting.Paper) -> list[str]:
    """What is missing of a paper in a rehearsal's folder, one line for each cell, page or figure."""
    with contextlib.chdir(root):
        config = cutting.merged(cutting.read(paper.config), *(cutting.read(file) for file in paper.overlays))
        study = load(config)
        return [*tables(study, paper.tables), *figures(study, paper)]


def tables(study: Study, wanted: list[str]) -> Iterator[str]:
    """What tables lack."""
    for table in wanted:
        spec, made = TableSpec.load(spec_file("tables", table)), Path(study.results, "tables", f"{table}.csv")
        if not made.is_file():
            yield f"{table}: not made"
            continue
        rows = {
            (row["backbone"], row["column"], row["recipe"], row["language"]): row
            for row in read(made).to_dict("records")
        }
        blocks = TablePlan.get(study, table).blocks
        for cell in [*cells(blocks), *means(spec, blocks)]:
            if fault := fault_of(rows.get(cell)):
                yield f"{table}: {', '.join(cell)}: {fault}"
        if not made.with_suffix(".md").read_text().strip():
            yield f"{table}: an empty page"


def cells(blocks: list[Block]) -> Iterator[tuple[str, str, str, str]]:
    """Backbone, column, recipe and language of every cell, averages too."""
    for block in blocks:
        for system in block.systems:
            for lang in [*block.tests, AVERAGE]:
                if lang == AVERAGE or system.has(block.backbone, lang):
                    yield (block.backbone, block.column.label, system.recipe, lang)


def means(spec: TableSpec, blocks: list[Block]) -> Iterator[tuple[str, str, str, str]]:
    """The same of means over backbones and over columns, of those that have all that a mean is of."""
    rows: dict[tuple[str, str], set[str]] = {}
    for backbone, column, recipe, _ in cells(blocks):
        rows.setdefault((backbone, recipe), set()).add(column)
    if spec.over_backbones:
        yield from {(AVERAGE, column, recipe, AVERAGE) for (_, recipe), columns in rows.items() for column in columns}
    there = {column for columns in rows.values() for column in columns}
    for (backbone, recipe), columns in rows.items():
        for mean in spec.over_columns:
            wanted = {*mean.columns} if mean.columns else there
            if wanted <= columns:
                columns = columns | {mean.label}
                yield (backbone, mean.label, recipe, AVERAGE)


def fault_of(row: dict | None) -> str:
    """What is wrong with a row of a table; nothing: it has a number, and says why it has no interval."""
    if row is None:
        return "no row"
    if not math.isfinite(row["value"]):
        return "no number"
    if pd.isna(row["low"]) and metric_of(row["protocol"], row["metric"]).items and row["n"] >= LEAST_ITEMS:
        return f"no interval of {row['n']:.0f} items"
    return ""


def figures(study: Study, paper: cutting.Paper) -> Iterator[str]:
    """What figures lack."""
    for figure, path in sorted(specs("figures").items()):
        spec, drawn = FigureSpec.load(path), Path(study.results, "figures", f"{figure}.svg")
        if not (spec.group == paper.group if isinstance(spec, Map) else spec.table in paper.tables):
            continue
        if not drawn.is_file() or len([*ElementTree.parse(drawn).iter()]) < 50:
            yield f"{figure}: no drawing"
        elif not drawn.with_suffix(".png").read_bytes().startswith(PNG):
            yield f"{figure}: no picture"
    if study.compute and not Path(study.results, "compute/miners_table4.md").is_file():
        yield "miners_table4: not made"

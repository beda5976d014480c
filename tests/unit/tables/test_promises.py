"""What the papers' tables promise is made by their shipped studies, or said to be absent with the reason."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from seedbed.resources import resource, specs
from seedbed.study.graph.offer import Offer
from seedbed.study.graph.table import TablePlan
from seedbed.study.model import Study
from seedbed.tables.plan import Block
from seedbed.tables.published import AVERAGE, Published
from seedbed.tables.specs import Column, TableSpec
from tests.asking import study_of
from tests.unit.tables.conftest import page

STUDIES = {
    "bootstrapping": "config.yaml",
    **{name: f"config/{name}.yaml" for name in ("neighxlm", "lira", "miners", "modular")},
}
SPECS = {name: TableSpec.load(path) for name, path in sorted(specs("tables").items())}
OF_PAPERS = [name for name, spec in SPECS.items() if spec.group in STUDIES]
PUBLISHED = [name for name in OF_PAPERS if SPECS[name].paper]


@cache
def shipped(group: str) -> Study:
    return study_of(STUDIES[group])


def planned(name: str) -> list[Block]:
    """What the paper's study shows in a table: nothing where nobody has its data."""
    study = shipped(SPECS[name].group)
    return TablePlan.get(study, name).blocks if Offer.get(study).has_column(SPECS[name]) else []


def columns(spec: TableSpec, blocks: list[Block]) -> list[Column]:
    """The spec's columns that are planned, under whatever label a column of several tasks has."""
    labels = {block.column.label for block in blocks}
    return [
        column
        for column in spec.columns
        if column.label in labels or any(label.startswith(f"{column.label} (") for label in labels)
    ]


def unplanned(name: str, published: Published) -> dict[tuple[str, ...], str]:
    """The paper's numbers that the study has no place for, by their keys; with the names of their rows."""
    spec, blocks = SPECS[name], planned(name)
    keys = {key for block in blocks for key in printed(spec, published, block)}
    return {key: cell.system for key, cell in published.cells.items() if key not in keys}


def printed(spec: TableSpec, published: Published, block: Block) -> Iterator[tuple[str, ...]]:
    """Where the paper would have each number of a block, of its averages, and of means of columns."""
    means = [block.column.model_copy(update={"paper_task": mean.paper_task}) for mean in spec.over_columns]
    backbones = [block.paper_backbone, *([AVERAGE] if spec.over_backbones else [])]
    for system in block.systems:
        tested = [code for code in block.tests if system.has(block.backbone, code)]
        for backbone in backbones:
            for column in (block.column, *means):
                for code in (*tested, AVERAGE):
                    yield published.key(column, system.recipe, backbone, code)


@pytest.mark.parametrize("name", OF_PAPERS)
def test_every_row_of_a_spec_is_made_in_its_columns(name: str) -> None:
    """A recipe, or a kind of classifier, in each column that shows it."""
    spec, blocks = SPECS[name], planned(name)
    made = {(block.column.label.partition(" (")[0], one.recipe) for block in blocks for one in block.systems}
    for column in columns(spec, blocks):
        label, asked = column.label.partition(" (")[0], column.recipes or spec.recipes
        lacking = [recipe for recipe in asked if (label, recipe) not in made]
        if spec.classifiers and column.labelled:
            of_classifiers = [kind for kind in spec.classifiers if (label, kind) in made]
            assert of_classifiers == [*spec.classifiers], label
            lacking = [] if column.answered_by else lacking
        assert {*lacking} <= {*spec.absent}, f"{label}: {lacking}; make them, or say in `absent` why not"


@pytest.mark.parametrize("name", OF_PAPERS)
def test_every_column_is_made_or_said_to_be_absent(name: str) -> None:
    spec = SPECS[name]
    made = columns(spec, planned(name))
    for column in spec.columns:
        said = {column.label, column.group} & {*spec.absent}
        assert bool(said) != (column in made), f"{column.label}: made, or in `absent` with the reason, and not both"


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_number_of_the_paper_has_a_place_or_a_reason(name: str) -> None:
    """Rows and columns that are said to be absent are those alone that the study does not make."""
    spec = SPECS[name]
    published = Published(spec.paper, resource("paper"))
    lacking = unplanned(name, published)
    measured = {(column.paper_task, column.metric): {column.label, column.group} for column in spec.columns}
    for key, system in lacking.items():
        of_column = measured.get((key[3], key[4]), set())
        assert ({system} | of_column) & {*spec.absent}, f"{system}, {key}: plan it, or say in `absent` why not"
    rows = {cell.system for cell in published.cells.values()}
    whole = rows - {published.cells[key].system for key in {*published.cells} - {*lacking}}
    of_columns = {name for column in spec.columns for name in (column.label, column.group)}
    assert {*spec.absent} - of_columns <= whole, "a row that is there, or of no paper"


def test_what_is_absent_is_told_below_the_caption_and_only_while_it_is(table, spec) -> None:
    absent = {"Labels": "not published", "Other": "not published", "DistFuse": "its server is paid"}
    lines = page(table, spec.model_copy(update={"absent": absent})).splitlines()
    assert lines[4] == "Not in this table: Labels, Other (not published); DistFuse (its server is paid)."
    shown = {"STS": "not published", "Synth - XL-LoRA": "quoted"}
    assert any(row.startswith("xllora|") for row in table["paper_cell"])
    assert "Not in this table" not in page(table, spec.model_copy(update={"absent": shown}))
    assert "Not in this table" not in page(table, spec)

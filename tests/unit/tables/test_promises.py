"""What the papers' tables promise is made by their shipped studies, or said to be absent with the reason."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product

import pytest

from seedbed import yamls
from seedbed.resources import resource, specs
from seedbed.study.graph.available import Available
from seedbed.study.graph.table import TablePlan
from seedbed.study.model import Study
from seedbed.tables.pages.layout import layout, row_names
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
    return TablePlan.get(study, name).blocks if Available.get(study).has_column(SPECS[name]) else []


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


def called(block: Block) -> str:
    """The backbone of a block by its name in the paper, which a pair of encoders shares with its English one."""
    return block.paper_backbone or block.backbone


def label_of(column: Column) -> str:
    """The label of a column in its spec; of several tasks, each has its own in brackets."""
    return column.label.partition(" (")[0]


def unmade(spec: TableSpec, study: Study, blocks: list[Block]) -> list[tuple[str, str, str]]:
    """Column, backbone and recipe of each row that a spec promises and no block has.

    A recipe is promised of every backbone in the table; where the paper has its numbers of some backbones only, of
    these. Recipes of one slug are one row. In a table of encoders a kind of classifier is promised once in each column
    with labels.
    """
    published = Published(spec.paper, resource("paper"))
    slugs = spec.paper.slugs if spec.paper else {}
    own = {} if spec.of_classifiers else study.classifiers
    backbones = dict.fromkeys(called(block) for block in blocks if block.backbone not in own)
    made = {
        (label_of(block.column), called(block), slugs.get(one.recipe, one.recipe))
        for block in blocks
        for one in block.systems
    }
    kinds = {(label_of(block.column), one.recipe) for block in blocks if block.backbone in own for one in block.systems}
    found = []
    for column in columns(spec, blocks):
        label = label_of(column)
        if spec.of_classifiers or not column.answered_by:
            for backbone, recipe in product(backbones, column.recipes or spec.recipes):
                row = (label, backbone, slugs.get(recipe, recipe))
                if row not in made and has_row(published, column, backbone, recipe):
                    found.append((label, backbone, recipe))
        if column.labelled:
            found += [(label, "", kind) for kind in spec.classifiers if (label, kind) not in kinds]
    return found


def has_row(published: Published, column: Column, backbone: str, recipe: str) -> bool:
    """Whether the paper has numbers of a recipe with a backbone, or of the recipe none at all."""
    if not published.paper:
        return True
    slug, named, *_ = published.key(column, recipe, backbone, AVERAGE)
    there = {key[1] for key in published.cells if key[0] == slug}
    return not there or named in there


@pytest.mark.parametrize("name", OF_PAPERS)
def test_every_row_of_a_spec_is_made_of_every_backbone_in_its_columns(name: str) -> None:
    spec = SPECS[name]
    lacking = [
        (label, backbone, recipe)
        for label, backbone, recipe in unmade(spec, shipped(spec.group), planned(name))
        if not row_names(backbone, spec.recipes.get(recipe, recipe)) & {*spec.absent}
    ]
    assert not lacking, "make them, or say in `absent` why not"


def test_a_row_of_one_language_model_only_is_not_made() -> None:
    """Another retriever's row of table 16, which one of eleven models has."""
    entries = yamls.read(STUDIES["miners"])["classifiers"]
    for name, entry in entries.items():
        if "in_context" in entry and name != "aya-23-8b-icl":
            entries[name] = entry | {"in_context": entry["in_context"] | {"variants": {}}}
    study = study_of(STUDIES["miners"], classifiers=entries)
    lacking = unmade(SPECS["miners_table16"], study, TablePlan.get(study, "miners_table16").blocks)
    backbones = {backbone for _, backbone, recipe in lacking if recipe == "one-shot-labse"}
    assert len(backbones) == 10 and "Aya-23 8B" not in backbones


def test_a_variant_makes_the_row_of_a_paid_retriever() -> None:
    config = yamls.read(STUDIES["miners"])["classifiers"]
    variants = config["bloomz-560m-icl"]["in_context"]["variants"]
    variants["one-shot-cohere"] = {"retriever": {"backbone": "cohere-embedv3", "recipe": "published"}}
    blocks = TablePlan.get(study_of(STUDIES["miners"], classifiers=config), "miners_table16").blocks
    (row,) = {label for label in SPECS["miners_table16"].absent if "Cohere" in label}
    assert any(row in block.names.values() for block in blocks)


@pytest.mark.parametrize("name", OF_PAPERS)
def test_rows_that_are_said_to_be_absent_are_not_made(name: str) -> None:
    spec, study = SPECS[name], shipped(SPECS[name].group)
    shown = [row_names(called(block), label) for block in planned(name) for label in block.names.values()]
    assert not {*spec.absent} & set().union(*shown)
    if not spec.paper:  # no numbers say what the paper's rows are called
        known = {one.paper for one in (*study.backbones.values(), *study.classifiers.values())}
        known |= {*spec.recipes.values()} | {name for column in spec.columns for name in (column.label, column.group)}
        assert {*spec.absent} <= known


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


def test_rows_are_absent_by_backbone_recipe_or_both(table, spec) -> None:
    absent = {"XLM-R": "a", "Base Encoder": "b", "XLM-R, Unsupervised": "c", "xlmr": "d", "XLM-R, Other": "e"}
    named, published = spec.model_copy(update={"absent": absent}), Published(spec.paper, resource("paper"))
    text = layout(table, named, published, papers={"xlmr": "XLM-R"})
    assert text.splitlines()[4] == "Not in this table: xlmr (d); XLM-R, Other (e)."
    unnamed = "Not in this table: XLM-R (a); XLM-R, Unsupervised (c); XLM-R, Other (e)."
    assert layout(table, named, published).splitlines()[4] == unnamed, "the paper may have no name for it"

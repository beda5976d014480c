"""Captions say what a reader must know of a table's rows, data and encoder."""

from __future__ import annotations

import csv

import pytest

from seedbed.resources import resource, specs
from seedbed.study.graph.table import TablePlan
from seedbed.tables.specs import TableSpec
from tests.asking import study_of

SPECS = {name: TableSpec.load(path) for name, path in specs("tables").items()}
ABOUT_ONE_ENCODER = [
    name
    for name, spec in SPECS.items()
    if spec.group == "bootstrapping" and len(spec.backbones) == 1 and not (spec.paper and spec.paper.backbones is None)
]
"""Tables of paper 000 of one encoder, where its own numbers do not say of which."""


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        *(("miners_table" + number, "miners_table2") for number in ("2", "13", "14", "15")),
        ("miners_figure2", "miners_table2"),
        *(("miners_table" + number, "miners_table3") for number in ("3", "16")),
        ("miners_table5", "miners_table5"),
    ],
)
def test_rows_of_the_paper_that_wait_for_a_request_are_named(name: str, numbers: str) -> None:
    """Tables whose own numbers are in an image have the rows of table 2 or 3."""
    with resource(f"paper/{numbers}.csv").open() as lines:
        rows = {*SPECS[name].recipes, *SPECS[name].classifiers}
        printed = {row["backbone"] for row in csv.DictReader(lines) if row["slug"] in rows}
    missing = printed - {block.paper_backbone for block in TablePlan.get(study_of("config/miners.yaml"), name).blocks}
    said = " ".join([*SPECS[name].caption.split(), *SPECS[name].absent])
    assert missing and all(row in said for row in missing)


@pytest.mark.parametrize("name", ABOUT_ONE_ENCODER)
def test_the_encoder_of_a_table_of_one_is_named(name: str) -> None:
    spec = SPECS[name]
    assert spec.backbones[0].replace("Gemma3-1b", "Gemma 3 1B") in f"{spec.title} {spec.caption}"


@pytest.mark.parametrize("name", ["table1", "bootstrapping_table12"])
def test_the_korean_test_set_is_named(name: str) -> None:
    assert "STS17" in SPECS[name].caption

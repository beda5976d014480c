"""Captions say what a reader must know of a table's rows, data and encoder."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable

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
    said = {row for row in SPECS[name].absent if row not in SPECS[name].recipes.values()}
    assert missing and {row.partition(", ")[0] for row in said} == missing
    assert not any(row in SPECS[name].caption for row in missing & said), "not where a study has them"


@pytest.mark.parametrize("name", ABOUT_ONE_ENCODER)
def test_the_encoder_of_a_table_of_one_is_named(name: str) -> None:
    spec = SPECS[name]
    assert spec.backbones[0].replace("Gemma3-1b", "Gemma 3 1B") in f"{spec.title} {spec.caption}"


@pytest.mark.parametrize("name", ["table1", "bootstrapping_table12"])
def test_the_korean_test_set_is_named(name: str) -> None:
    assert "STS17" in SPECS[name].caption


WORDS = {"one": "1", "ten": "10"}
COUNTS = [
    ("lira_table1", r"(\d+) of MLQA's 49", lambda study: len(study.tested_by("mlqa"))),
    ("lira_table1", r"(\d+) of Belebele's 122", lambda study: len(study.tested_by("belebele"))),
    ("lira_table1", r"the (\d+) of STS22 in one language", lambda study: len(study.tested_by("sts22"))),
    ("lira_table1", r"whose (\d+) of two languages", lambda study: len(study.pairs_tested_by("sts22"))),
    ("lira_figure10", r"(\d+) of MLQA", lambda study: len(study.tested_by("mlqa-shares"))),
    ("lira_figure10", r"(\d+) of Belebele", lambda study: len(study.tested_by("belebele-shares"))),
    ("lira_figure10", r"(\d+) of MGSM", lambda study: len(study.tested_by("mgsm-shares"))),
    ("lira_table9", r"over (\w+) languages", lambda study: len(study.tested_by("sts22-norms"))),
    ("lira_table10", r"of (\w+) languages", lambda study: len(study.tested_by("sts22-stability"))),
    *(
        (f"lira_table{number}", r"(\w+) seed\b", lambda study: len(study.seeds))
        for number in ("1", "3", "4", "5", "7", "8")
    ),
    ("miners_table5", r"(\d+) languages of BUCC", lambda study: len(study.tested_by("bucc-bitext"))),
    ("miners_table5", r"(\d+) of Tatoeba", lambda study: len(study.tested_by("tatoeba-bitext"))),
]
"""Table, where its caption has a number, and what the number is in the shipped study."""


@pytest.mark.parametrize(("name", "where", "count"), COUNTS)
def test_numbers_in_captions_are_those_of_the_shipped_study(name: str, where: str, count: Callable[..., int]) -> None:
    study = study_of(f"config/{SPECS[name].group}.yaml")
    said = [WORDS.get(number, number) for number in re.findall(where, SPECS[name].caption)]
    assert said and {*said} == {str(count(study))}


def test_texts_are_cut_where_the_caption_says() -> None:
    study = study_of("config/lira.yaml")
    cuts = {cut for task in ("mlqa", "sts22") for found in study.tasks[task].source.replace.values() for cut in found}
    (cut,), (said,) = cuts, re.findall(r"cut at ([\d,]+) characters", SPECS["lira_table1"].caption)
    assert re.findall(r"\.\{(\d+)\}", cut) == [said.replace(",", "")]

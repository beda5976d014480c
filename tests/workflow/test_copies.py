"""Small copies of an encoder through the graph: each is a row beside it in its table."""

from __future__ import annotations

import pandas as pd
import pytest

from seedbed.io import read_json
from tests.workflow.conftest import STUDY, Project, copy_project

COPIES = {
    "trimmed": {"from": "unsupervised", "data": {"corpus": "text"}, "copies": "trimmed"},
    "condensed": {"from": "unsupervised", "data": {"corpus": "text"}, "copies": {"static": {"dimensions": 8}}},
    "half": {"from": "unsupervised", "data": {"corpus": "text"}, "copies": "bfloat16"},
    "int8": {"from": "trimmed", "data": {"corpus": "text"}, "copies": "int8"},
}
RECIPES = {"base": {}, "unsupervised": {}} | COPIES
TABLE = "results/copies/tables/table1.csv"


@pytest.fixture(scope="module")
def study(tmp_path_factory) -> Project:
    """The study after its table is made."""
    changes = {"results": "results/copies", "generators": {}, "recipes": RECIPES}
    project = copy_project(tmp_path_factory.mktemp("copies"), STUDY | changes)
    done = project.snakemake(TABLE)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
    return project


def test_a_copy_is_a_row_beside_what_it_was_made_of(study) -> None:
    table = pd.read_csv(study.root / TABLE)
    table = table[table["language"] == "hau"].set_index(["column", "recipe"])["value"]
    for column in ("STS", "Bitext retrieval"):
        assert {*table[column].dropna().index} == {*RECIPES}, column


def test_its_manifest_says_how_much_smaller_it_is(study) -> None:
    learnt = read_json(study.root / "results/copies/encoders/tiny-bert/unsupervised/hau/1/seedbed.json")["training"]
    for name in COPIES:
        folder = study.root / f"results/copies/encoders/tiny-bert/{name}/hau/1"
        made = read_json(folder / "seedbed.json")["training"]
        assert made["bytes"] < made["bytes of the original"] and made["texts"] == 32, name
        assert made["examples"] == learnt["examples"], name
        # On the texts by which it was made; a test's may have tokens that those have not.
        assert made["agreement"] > 0.99 or name == "condensed", name

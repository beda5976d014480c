"""What the rehearsal's last look sees, and what its servers of models answer. In the ordinary suite, since it is quick."""

import re

import numpy as np
import pandas as pd
import pytest

from seedbed.encoders.endpoint import request, vectors_of
from seedbed.generators.writing.backends.openai import ChatBackend, OpenAIBackend
from seedbed.generators.writing.prompts import with_shots
from seedbed.resources import resource
from seedbed.study.graph.table import TablePlan
from seedbed.tables.tabulate import COLUMNS
from tests.rehearsal import checking, cutting, served

LAMBDA = "bootstrapping_figure10"


@pytest.fixture(scope="module")
def miners():
    return cutting.cut(cutting.PAPERS["003"]).study


@pytest.fixture
def made(tmp_path):
    """A study whose only table is figure 10's, and its rows, which the test may change."""
    study = cutting.cut(cutting.PAPERS["000"]).study
    numbers = {"protocol": "sts", "metric": "spearman", "value": 50.0, "low": 40.0, "high": 60.0, "n": 24}
    rows = [
        dict(zip(("backbone", "column", "recipe", "language"), cell, strict=True)) | numbers
        for cell in checking.cells(TablePlan.get(study, LAMBDA).blocks)
    ]
    (tmp_path / "tables").mkdir()
    (tmp_path / f"tables/{LAMBDA}.md").write_text("a page")

    def faults(of=f"{LAMBDA}:"):
        pd.DataFrame(rows, columns=COLUMNS).to_csv(tmp_path / f"tables/{LAMBDA}.csv", index=False)
        here = study.model_copy(update={"results": str(tmp_path)})
        return [line for line in checking.tables(here, cutting.PAPERS["000"].tables) if line.startswith(of)]

    return rows, faults


def test_a_whole_table_has_no_fault(made):
    rows, faults = made
    assert len(rows) == 9 * 2 and faults() == []  # nine lambdas, in Hindi and on average


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"value": None}, "no number"),
        ({"low": None}, "no interval of 24 items"),
        ({"low": None, "n": 9}, ""),
        ({"recipe": "another"}, "no row"),
    ],
)
def test_a_cell_without_a_number_is_told(made, change, fault):
    rows, faults = made
    rows[0] |= change
    assert faults() == ([f"{LAMBDA}: xlm-r, STR dev, ta-50k, hin: {fault}"] if fault else [])


def test_tables_that_are_not_made_are_told(made):
    _, faults = made
    others = [table for table in cutting.PAPERS["000"].tables if table != LAMBDA]
    assert faults("") == [f"{table}: not made" for table in others] and len(others) == 26


def test_means_are_of_those_that_have_all_columns(miners):
    spec = checking.TableSpec.load(resource("tables/miners_table2.yaml"))
    found = {*checking.means(spec, TablePlan.get(miners, "miners_table2").blocks)}
    assert ("labse", "Bitext avg", "published", "avg") in found and ("labse", "Labels avg", "published", "avg") in found
    assert ("majority", "Labels avg", "majority", "avg") in found  # it has no columns of bitext, and no mean of them
    assert {cell[1] for cell in found if cell[0] == "majority"} == {
        "Labels mono", "Labels XL", "Labels CS", "Labels XL CS", "Labels avg",
    }  # fmt: skip


def test_every_server_of_the_study_is_known_with_its_model(miners):
    endpoints = [backbone.endpoint for backbone in miners.backbones.values() if backbone.endpoint]
    assert len(endpoints) == 2
    for endpoint in endpoints:
        path, body = request(endpoint, ["one", "two", "one"])
        status, answer = served.answer(f"{endpoint.url}/{path}", body, "token")
        first, second, third = vectors_of(answer, endpoint.style)
        assert (
            status == 200
            and len(first) == endpoint.dimensions
            and first == third != second
            and np.isfinite(first).all()
        )
        assert served.answer(f"{endpoint.url}/{path}", body, "")[0] == 401
    writers = [generator for generator in miners.generators.values() if generator.endpoint]
    assert len(writers) == 3
    for generator in writers:
        url = f"{generator.endpoint}/{ {'openai': OpenAIBackend, 'openai-chat': ChatBackend}[generator.backend].path }"
        body = {
            "model": generator.served_model,
            "prompt": [3, 4],
            "messages": [{"content": "Options:['a', 'b']\nInput"}],
        }
        status, answer = served.answer(url, body, "token")
        assert served.known(url) and status == 200, url
        assert served.answer(url, body | {"model": "another"}, "token")[0] == 404


def test_a_label_is_one_of_those_that_a_prompt_offers():
    labels = ["negative", "not good", "positive"]
    prompts = [with_shots(f"text {number}", [], "Which?", options=labels, only_label=True) for number in range(40)]
    assert {served.label(prompt) for prompt in prompts} == {*labels}
    assert served.label(prompts[0]) == served.label(prompts[0]) and not re.search(r"\[", served.label(prompts[0]))

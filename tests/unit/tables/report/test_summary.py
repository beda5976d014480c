"""Tables across their columns: means of columns, and what is left out."""

from __future__ import annotations

import pytest

from seedbed.tables.plan import AvailableModel
from seedbed.tables.specs import TableSpec
from tests.unit.tables.conftest import page

STS = {"label": "STS", "protocol": "sts", "metric": "spearman", "tasks": ["semrel-sts"]}
BITEXT = {"label": "Bitext", "protocol": "bitext", "metric": "accuracy", "tasks": ["kolibri-bitext"]}
LACKING = {"label": "Labels", "protocol": "knn", "metric": "accuracy@10", "tasks": ["sib200-knn"]}
SPEC = {
    "title": "Overview",
    "caption": "Both tasks.",
    "columns": [STS, BITEXT],
    "recipes": {"crosslingual": "Crosslingual", "xllora": "XL-LoRA"},
    "over_columns": [{"label": "Mean"}],
    "across": "columns",
}


@pytest.fixture
def several(make):
    return make(backbones={"a": "XLM-R", "b": "mmBERT"}, seeds=2, resamples=200)


def averages(table, recipe="xllora", backbone="a"):
    rows = table[(table["recipe"] == recipe) & (table["backbone"] == backbone) & (table["language"] == "avg")]
    return rows.set_index("column")


def test_a_mean_of_columns_is_the_mean_of_their_averages(several):
    rows = averages(several.tabulate(TableSpec.model_validate(SPEC)))
    assert list(rows.index) == ["STS", "Bitext", "Mean"]
    for name in ("value", "difference"):
        assert rows[name]["Mean"] == pytest.approx(rows[name][["STS", "Bitext"]].mean(), abs=2e-3)
    assert rows["low"]["Mean"] < rows["value"]["Mean"] < rows["high"]["Mean"]
    assert rows["n"]["Mean"] == rows["n"]["STS"] + rows["n"]["Bitext"]


def test_the_page_has_a_row_for_each_backbone_and_method(several):
    spec = TableSpec.model_validate(SPEC)
    lines = page(several.tabulate(spec), spec).splitlines()
    assert lines.count("| System | STS | Bitext | Mean |") == 1
    rows = [line.split(" | ")[0] for line in lines if line.startswith(("| a", "| b"))]
    assert rows == ["| a, Crosslingual", "| a, XL-LoRA", "| b, Crosslingual", "| b, XL-LoRA"]
    assert "STS: spearman, 2 languages, 161 items; Bitext: accuracy, 2 languages, 161 items." in "\n".join(lines)
    assert "above or below Crosslingual of the same backbone" in "\n".join(lines)


def test_columns_of_a_group_stand_in_a_grid_of_their_own(several):
    columns = [
        STS | {"label": "STS, graded", "group": "graded"},
        BITEXT,
        STS | {"label": "Again, graded", "group": "graded"},
    ]
    spec = TableSpec.model_validate(SPEC | {"columns": columns, "over_columns": []})
    text = page(several.tabulate(spec), spec)
    assert "## Graded\n\n| System | STS | Again |" in text and "| System | Bitext |" in text
    assert text.count("Averages over languages") == 1


def test_many_columns_with_as_much_are_not_told_one_by_one(several):
    columns = [BITEXT, *(STS | {"label": f"L{number}"} for number in range(1, 8))]
    spec = TableSpec.model_validate(SPEC | {"columns": columns, "over_columns": []})
    table = several.tabulate(spec).assign(paper=50.0, paper_note="zero-shot", verdict="")
    table.loc[table["column"] == "Bitext", "n"] = 40
    text = page(table, spec)
    assert "Measured: Bitext: accuracy, 2 languages, 80 items; L1 ... L7 (7 columns): 2 languages, 161 items." in text
    assert "† all: zero-shot." in text
    table.loc[table["column"] == "L7", "paper_note"] = "other"
    assert "† Bitext, L1, L2, L3, L4, L5, L6: zero-shot. † L7: other." in page(table, spec)


def test_a_mean_of_means(several):
    means = [{"label": "Half", "columns": ["STS"]}, {"label": "All", "columns": ["Half", "Bitext"]}]
    rows = averages(several.tabulate(TableSpec.model_validate(SPEC | {"over_columns": means})))
    assert rows["value"]["Half"] == rows["value"]["STS"]
    assert rows["value"]["All"] == pytest.approx(rows["value"][["STS", "Bitext"]].mean(), abs=2e-3)


def test_means_alone(several):
    spec = TableSpec.model_validate(SPEC | {"across": "means"})
    assert "| System | Mean |" in page(several.tabulate(spec), spec)


def test_a_column_that_the_study_lacks_is_left_out_if_the_table_may_be_partial(several):
    mean = [{"label": "Mean", "columns": ["Bitext", "Labels"]}]
    spec = SPEC | {"columns": [STS, BITEXT, LACKING], "over_columns": mean}
    rows = averages(several.tabulate(TableSpec.model_validate(spec | {"partial": True})))
    assert list(rows.index) == ["STS", "Bitext", "Mean"] and rows["value"]["Mean"] == rows["value"]["Bitext"]
    with pytest.raises(Exception, match="no task 'sib200-knn'"):
        several.tabulate(TableSpec.model_validate(spec))


def test_what_lacks_a_column_that_others_have_has_no_mean_of_it(several):
    means = [{"label": "Half", "columns": ["STS"]}, {"label": "All", "columns": ["Half", "Bitext"]}]
    spec = TableSpec.model_validate(SPEC | {"over_columns": means})
    narrow = {"a": AvailableModel(paper="XLM-R"), "b": AvailableModel(paper="mmBERT", tasks=["semrel-sts"])}
    table = several.tabulate(spec, backbones=narrow)
    assert list(averages(table).index) == ["STS", "Bitext", "Half", "All"]
    assert list(averages(table, backbone="b").index) == ["STS", "Half"]


def test_a_row_beside_others_has_its_own_name_alone(several):
    """As a classifier beside encoders has, whose recipe is printed as its name."""
    spec = TableSpec.model_validate(SPEC)
    table = several.tabulate(spec)
    table = table[(table["backbone"] == "a") | (table["recipe"] == "xllora")]
    table.loc[table["backbone"] == "b", "method"] = "b"
    rows = [line.split(" | ")[0] for line in page(table, spec).splitlines() if line.startswith(("| a", "| b"))]
    assert rows == ["| a, Crosslingual", "| a, XL-LoRA", "| b"]


def test_a_mean_of_what_is_no_column():
    with pytest.raises(ValueError, match=r"over_columns.Mean:.*'Bitex'.*'Bitext'"):
        TableSpec.model_validate(SPEC | {"over_columns": [{"label": "Mean", "columns": ["Bitex"]}]})

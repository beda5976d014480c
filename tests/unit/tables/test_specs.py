"""Specs: what ships is valid, what is wrong is told in one line."""

from itertools import combinations
from pathlib import Path

import pandas as pd
import pytest
import yaml

from seedbed import yamls
from seedbed.evaluation import protocols
from seedbed.io import UserError
from seedbed.tables.figures.specs import FigureSpec
from seedbed.tables.published import Published
from seedbed.tables.specs import TableSpec
from tests.refusals import tells

TABLES, FIGURES = (sorted(Path("seedbed/resources", kind).glob("*.yaml")) for kind in ("tables", "figures"))


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_shipped_tables_are_valid_and_every_number_of_the_paper_is_theirs(path):
    spec = TableSpec.load(path)
    if not spec.paper:
        assert (
            "figure" in path.stem or path.stem in ("composition_scale", "learning_curve", "retrieval") or spec.partial
        )
        return
    published = Published(spec.paper, Path("seedbed/resources/paper"))
    backbones = spec.backbones or {key[1] for key in published.cells}
    pairs = ["-".join(sorted(both)) for both in combinations(spec.languages, 2) if len("".join(both)) == 6]
    ours = {
        published.key(
            spec.columns[0].model_copy(update={"paper_task": task, "metric": metric}), recipe, backbone, language
        )
        for task, metric in spec.printed
        for recipe in (*spec.recipes, *spec.classifiers)
        for backbone in (*backbones, "avg")
        for language in (*spec.languages, *pairs, "avg")
    }
    marked = ("original score", "quoted by the paper", "weighted by locale")
    quoted = {key for key, cell in published.cells.items() if any(mark in cell.note for mark in marked)}
    assert set(published.cells) - quoted <= ours


AVERAGES_ALONE = [
    *(f"miners_table{number}" for number in (2, 3, 5)),
    *(f"modular_table{number}" for number in (1, 5, 6, 7)),
]
"""Of MINERS averages alone survive; tables of paper 004 are of averages, 7 but for its first column."""
PAPER = sorted(Path("seedbed/resources/paper").glob("*.csv"))


@pytest.mark.parametrize("path", PAPER, ids=lambda path: path.stem)
def test_printed_averages_are_those_of_the_printed_cells(path):
    numbers = pd.read_csv(path, dtype={"value": float}, keep_default_na=False, na_values={"value": [""]})
    for _, average in numbers[numbers["language"] == "avg"].iterrows():
        same = (numbers[["slug", "task", "metric"]] == average[["slug", "task", "metric"]]).all(axis=1)
        if average["backbone"] != "avg":
            same &= numbers["backbone"] == average["backbone"]
        cells = numbers[same & (numbers["language"] != "avg")]["value"]
        if path.stem in AVERAGES_ALONE or average["task"] == "all (CL)":
            assert cells.empty
        elif cells.notna().any():  # some rows are lost
            assert abs(cells.mean() - average["value"]) <= 0.1 + 1e-9, (path, average["slug"])


def test_the_average_over_all_pairs_of_modular_table_3_counts_each_pair_alike():
    numbers = pd.read_csv("seedbed/resources/paper/modular_table3.csv")
    cells, printed = (numbers[(numbers["language"] == "avg") == average] for average in (False, True))
    means = cells.groupby("slug")["value"].mean()
    every = printed[printed["task"] == "all (CL)"].set_index("slug")["value"]
    assert (abs(means - every) <= 0.005 + 1e-9).all() and len(means) == 4


def test_the_averages_of_miners_table_2_follow_from_its_settings():
    """It was copied from an image: a wrong digit would show."""
    numbers = pd.read_csv("seedbed/resources/paper/miners_table2.csv").pivot(
        index="backbone", columns="task", values="value"
    )
    for kind, settings in (("Bitext", ["XL", "CS"]), ("Labels", ["Mono", "XL", "CS", "XL CS"])):
        means = numbers[[f"{kind} {setting}" for setting in settings]].mean(axis=1)
        assert (means - numbers[f"{kind} avg"]).abs().max() <= 0.005 + 1e-9 and means.count() == 13 + (kind == "Labels")


def test_the_copied_cell_of_table_18_is_marked():
    numbers = pd.read_csv("seedbed/resources/paper/bootstrapping_table18.csv", keep_default_na=False)
    assert list(numbers.loc[numbers["note"].str.contains("copying slip"), "slug"]) == ["base", "base"]


@pytest.mark.parametrize("path", FIGURES, ids=lambda path: path.stem)
def test_shipped_figures_are_valid_and_name_a_table(path):
    spec = FigureSpec.load(path)
    if spec.kind != "map":
        assert spec.table in {table.stem for table in TABLES}
        shown = TableSpec.load(f"seedbed/resources/tables/{spec.table}.yaml")
        assert {*spec.columns} <= {each.label for each in (*shown.columns, *shown.over_columns)}


def test_every_protocol_has_metrics():
    assert all(protocols.load(name).METRICS for name in protocols.names())


def change(path, **changes):
    """The shipped spec with other values, as text."""
    return yaml.safe_dump(yamls.read(Path("seedbed/resources", path)) | changes)


COLUMN = {"label": "STS", "protocol": "sts", "metric": "spearman"}
PAIRS = {"P": {"x": "a", "y": "b"}}
FAULTS = {
    "unknown key": (TableSpec, change("tables/table1.yaml", captoin="x"), "did you mean 'caption'"),
    "unknown key below": (
        TableSpec,
        change("tables/table1.yaml", columns=[COLUMN | {"paper_tsk": "x"}]),
        "unknown key",
    ),
    "unknown protocol": (TableSpec, change("tables/table1.yaml", columns=[COLUMN | {"protocol": "nli"}]), "protocol"),
    "unknown metric": (TableSpec, change("tables/table1.yaml", columns=[COLUMN | {"metric": "spearmn"}]), "'spearman'"),
    "metric of another": (TableSpec, change("tables/table1.yaml", columns=[COLUMN | {"metric": "accuracy"}]), "sts"),
    "unknown key of the paper": (TableSpec, change("tables/table1.yaml", paper={"csv": "x", "slug": {}}), "'slugs'"),
    "metric of overlap": (
        TableSpec,
        change("tables/table1.yaml", columns=[COLUMN | {"protocol": "overlap", "metric": "anchor-postive"}]),
        "did you mean 'anchor-positive'",
    ),
    "recipe of a column": (
        TableSpec,
        change("tables/table1.yaml", columns=[COLUMN | {"recipes": ["xlora"]}]),
        "columns.STS.recipes: 'xlora' ... 'xllora'",
    ),
    "recipe of a pair": (
        TableSpec,
        change("tables/table1.yaml", compare=[["xlora", "base"]]),
        "compare: 'xlora' ... 'xllora'",
    ),
    "a pair twice": (
        TableSpec,
        change("tables/table1.yaml", compare=[["xllora", "base"], ["base", "xllora"]]),
        "compare: xllora, base: ... each pair once",
    ),
    "a pair of two kinds": (
        TableSpec,
        change("tables/miners_table3.yaml", compare=[["zero-shot", "published"]]),
        "compare: 'published'",
    ),
    "a pair of one": (TableSpec, change("tables/table1.yaml", compare=[["base", "base"]]), "give two recipes"),
    "two kinds of systems": (
        TableSpec,
        change("tables/table1.yaml", columns=[COLUMN, COLUMN | {"protocol": "icl", "metric": "accuracy"}]),
        "need separate tables; divide them",
    ),
    "two kinds of classifiers": (
        TableSpec,
        change(
            "tables/table1.yaml",
            columns=[COLUMN | {"protocol": name, "metric": "accuracy"} for name in ("icl", "classification")],
        ),
        "need separate tables; divide them",
    ),
    "no column": (TableSpec, change("tables/table1.yaml", columns=[]), "columns"),
    "a list": (TableSpec, "- 1", "expected settings"),
    "nothing": (TableSpec, "", "expected settings"),
    "broken YAML": (TableSpec, "title: [", "not YAML"),
    "not a colour": (FigureSpec, change("figures/table1.yaml", palette=["red"]), "palette"),
    "pairs of nothing": (FigureSpec, change("figures/table1.yaml", kind="pairs"), "pairs: Field required"),
    "dots with pairs": (FigureSpec, change("figures/table1.yaml", pairs=PAIRS), "pairs: unknown key"),
    "one of a pair": (FigureSpec, change("figures/table1.yaml", kind="pairs", pairs={"P": {"x": "a"}}), "two columns"),
    "names that differ": (
        FigureSpec,
        change("figures/table1.yaml", kind="pairs", pairs=PAIRS | {"Q": {"x": "a", "y": "c"}}),
        "the same two names",
    ),
    "columns of nothing": (FigureSpec, change("figures/table1.yaml", kind="columns"), "panels: Field required"),
    "panels of dots": (FigureSpec, change("figures/table1.yaml", panels={"P": {"x": 1}}), "panels: unknown key"),
    "groups by nothing": (FigureSpec, change("figures/table1.yaml", kind="groups"), "by: Field required"),
    "groups by size": (FigureSpec, change("figures/table1.yaml", kind="groups", by="size"), "'family' or 'script'"),
    "a map of nothing": (FigureSpec, change("figures/miners_map.yaml", map=None), "map: expected settings"),
    "a map of a table": (FigureSpec, change("figures/miners_map.yaml", table="table1"), "table: unknown key"),
    "dots of no table": (
        FigureSpec,
        change("figures/table1.yaml", table=""),
        "table: ... at least 1",
    ),
    "a map without a task": (FigureSpec, change("figures/miners_map.yaml", map={"texts": 9}), "map.task"),
    "another kind": (FigureSpec, change("figures/table1.yaml", kind="pie"), "kind: ... 'dots', 'curve'"),
    "unknown placeholder": (FigureSpec, change("figures/table1.yaml", note="{leevl}"), "{level}"),
    "open brace": (FigureSpec, change("figures/table1.yaml", note="{"), "{level}"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_told_in_one_line(fault, tmp_path):
    model, text, told = FAULTS[fault]
    path = tmp_path / "spec.yaml"
    path.write_text(text)
    with pytest.raises(UserError) as error:
        model.load(path)
    assert tells(str(error.value), told) and str(path) in str(error.value) and "\n" not in str(error.value)


def test_a_spec_that_is_not_there_is_told(tmp_path):
    with pytest.raises(UserError, match="no such file"):
        TableSpec.load(tmp_path / "none.yaml")


def test_languages_keep_the_specs_order(spec):
    assert spec.ordered(["hau", "zul", "hin", "amh", "afr"]) == ["afr", "hin", "hau", "zul", "amh"]

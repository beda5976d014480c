"""Pairs of languages in tables: their own columns, averages over pairs, intervals over items, the paper's spelling."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from seedbed.evaluation.significance import percentiles
from seedbed.io import UserError, write_json, write_table
from seedbed.tables.pages.layout import layout
from seedbed.tables.plan import AvailableModel, AvailableRecipe, AvailableTask, plan
from seedbed.tables.published import Published
from seedbed.tables.settings import Statistics
from seedbed.tables.specs import Column, Paper, TableSpec
from seedbed.tables.tabulate import measure_blocks, tabulate

SYSTEMS = [
    AvailableRecipe(recipe="base", language="mul", seeds=[0]),
    AvailableRecipe(recipe="multi-mc", language="*", seeds=[1, 2]),
]
TASKS = {
    "kardes": AvailableTask(protocol="sts", languages=["aze", "kaz", "uzn"], pairs=["aze-kaz", "aze-uzn", "kaz-uzn"])
}
COLUMN = {"protocol": "sts", "metric": "spearman", "paper_task": "K-STS (CL)"}
CSV = "system,slug,backbone,language,task,metric,value,std,note\nMulti,multi-mc,LaBSE,{},K-STS (CL),spearman,{},,\n"


def spec(**changes: object) -> TableSpec:
    columns = [{"label": "mono", "protocol": "sts", "metric": "spearman"}, {"label": "pairs", "pairs": True} | COLUMN]
    recipes = {"base": "Base", "multi-mc": "Multi"}
    return TableSpec.model_validate(
        {"title": "T", "caption": "C", "columns": columns, "recipes": recipes, "baseline": "base"} | changes
    )


def planned(table: TableSpec, reserved: frozenset[str] = frozenset()):
    return plan(table, SYSTEMS, {"labse": AvailableModel(paper="LaBSE")}, TASKS, "base", reserved)


def test_a_column_has_languages_or_pairs() -> None:
    blocks = {block.column.label: block for block in planned(spec())}
    assert [*blocks["mono"].tests] == ["aze", "kaz", "uzn"]
    assert [*blocks["pairs"].tests] == ["aze-kaz", "aze-uzn", "kaz-uzn"]
    folders = {(cell.recipe, cell.lang) for cell in blocks["pairs"].cells() if cell.test_lang == "kaz-uzn"}
    assert folders == {("base", "mul"), ("multi-mc", "kaz")}, "that of the first language"


@pytest.mark.parametrize(
    ("changes", "reserved", "shown"),
    [
        ({"languages": ["kaz", "aze"], "only_languages": True}, set(), ["aze-kaz"]),
        ({"languages": ["kaz-uzn"]}, set(), ["kaz-uzn", "aze-kaz", "aze-uzn"]),
        ({}, {"aze-kaz", "aze-uzn", "aze"}, ["kaz-uzn"]),
        ({"languages": ["aze", "uzn"]}, {"aze-kaz", "aze-uzn", "aze"}, ["aze-uzn", "kaz-uzn"]),
    ],
)
def test_pairs_of_languages_that_a_spec_names(changes: dict, reserved: set[str], shown: list[str]) -> None:
    (block,) = planned(spec(columns=[{"label": "pairs", "pairs": True} | COLUMN], **changes), frozenset(reserved))
    assert [*block.tests] == shown


def test_a_recipe_of_some_languages_has_the_pairs_of_these() -> None:
    some = SYSTEMS[1].model_copy(update={"languages": ["aze", "kaz"]})
    assert some.has("labse", "aze-kaz") and not some.has("labse", "aze-uzn")


def test_overlaps_have_no_pairs() -> None:
    with pytest.raises(ValueError, match=r"pairs: protocol.*languages"):
        Column(label="x", protocol="bitext", metric="f1@1 forward", pairs=True)


def written(folder: Path, blocks: list) -> dict[tuple[str, str], list[list[pd.DataFrame]]]:
    """Score files of every cell -> its items, order by order."""
    rng, found = np.random.default_rng(11), {}
    gold = {pair: rng.random(40) for pair in TASKS["kardes"].pairs}
    for cell in (cell for block in blocks for cell in block.cells()):
        orders = ["-".join(cell.test_lang.split("-")[::step]) for step in (1, -1)]
        skill = 2.0 if cell.recipe == "multi-mc" else 0.8
        values = gold[cell.test_lang]
        tables = [
            pd.DataFrame({"id": [f"i{n}" for n in range(40)], "order": order, "gold": values,
                          "cosine": skill * values + rng.normal(size=40) * 0.5})
            for order in orders
        ]  # fmt: skip
        path = folder / cell.path
        rho = float(np.mean([spearmanr(table["gold"], table["cosine"]).statistic for table in tables]))
        write_table(pd.concat(tables), path.with_suffix(".items.tsv"))
        told = {
            "protocol": "sts",
            "main_score": rho,
            "metrics": {"cosine_spearman": rho},
            "dataset": {"origin": [{"kind": "file", "name": "x"}]},
        }
        write_json(told | {"items": path.with_suffix(".items.tsv").name}, path)
        found.setdefault((cell.recipe, cell.test_lang), []).append(tables)
    return found


def test_numbers_of_pairs_are_means_of_orders_with_intervals_over_items(tmp_path: Path) -> None:
    table_of = spec(columns=[{"label": "pairs", "pairs": True} | COLUMN])
    blocks = planned(table_of)
    items = written(tmp_path, blocks)
    (tmp_path / "p.csv").write_text(CSV.format("kaz-aze", 80))
    published = Published(Paper(csv="p.csv"), tmp_path)
    statistics = Statistics(resamples=200)
    table = tabulate([*measure_blocks(blocks, tmp_path, statistics, table_of)], statistics, published)
    row = table[(table["recipe"] == "multi-mc") & (table["language"] == "aze-kaz")].iloc[0]
    by_seed = [
        [spearmanr(one["gold"], one["cosine"]).statistic for one in tables] for tables in items["multi-mc", "aze-kaz"]
    ]
    assert row["value"] == pytest.approx(100 * np.mean(by_seed), abs=1e-3) and (row["n"], row["seeds"]) == (40, 2)
    assert row["paper"] == 80 and row["paper_cell"] == "multi-mc|LaBSE|kaz-aze|K-STS (CL)|spearman"
    assert row["low"] < row["value"] < row["high"] and row["p"] < 0.05 and np.isnan(row["p_items"])
    of_base = table[(table["recipe"] == "base") & (table["language"] == "aze-kaz")].iloc[0]
    rng = np.random.default_rng(statistics.seed)
    drawn = np.concatenate([rng.integers(40, size=(100, 40)) for _ in range(2)])
    (tables,) = items["base", "aze-kaz"]
    values = [np.mean([spearmanr(one["gold"][at], one["cosine"][at]).statistic for one in tables]) for at in drawn]
    assert (of_base["low"], of_base["high"]) == pytest.approx(percentiles(100 * np.array(values), 0.95), abs=1e-3)
    average = table[(table["recipe"] == "multi-mc") & (table["language"] == "avg")].iloc[0]
    of_pairs = table[(table["recipe"] == "multi-mc") & (table["language"] != "avg")]
    assert average["value"] == pytest.approx(of_pairs["value"].mean(), abs=2e-3) and average["n"] == 120
    page = layout(table, table_of, published)
    assert "aze-kaz 40" in page and "by the paired bootstrap (p" in page
    assert "over languages); averages by the bootstrap alone. Bold" in page
    across = spec(columns=[{"label": "pairs", "pairs": True} | COLUMN], across="columns")
    assert "3 pairs, 120 items" in layout(table, across, published)


def test_items_of_a_pair_that_do_not_give_its_number_are_refused(tmp_path: Path) -> None:
    table_of = spec(columns=[{"label": "pairs", "pairs": True} | COLUMN])
    blocks = planned(table_of)
    written(tmp_path, blocks)
    path = tmp_path / next(blocks[0].cells()).path
    items = pd.read_csv(path.with_suffix(".items.tsv"), sep="\t")
    items["order"] = "aze-kaz"
    items["id"] = [f"i{n}" for n in range(80)]
    write_table(items, path.with_suffix(".items.tsv"))
    with pytest.raises(UserError, match="but its items give"):
        [*measure_blocks(blocks, tmp_path, Statistics(resamples=100), table_of)]

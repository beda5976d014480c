"""What systems share in a bootstrap, what an average is over, and what a cell says of both."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from seedbed.evaluation.protocols import sts
from seedbed.io import write_json, write_table
from seedbed.tables.cells import cell
from seedbed.tables.measures import Measure, average, measure
from seedbed.tables.plan import AvailableModel, AvailableRecipe, AvailableTask, plan
from seedbed.tables.published import Published
from seedbed.tables.settings import Statistics
from seedbed.tables.specs import Column, TableSpec
from seedbed.tables.tabulate import measure_blocks, tabulate, verdict
from tests.unit.tables.conftest import page, write_score


def test_a_difference_is_of_the_same_items_in_every_resample(make, spec) -> None:
    """Of two systems that answer alike it is nothing, however much their scores vary."""
    study = make(seeds=1, recipes=("crosslingual", "xllora"))
    for language in ("hau", "ind"):
        for task in ("semrel-sts", "kolibri-bitext"):
            ours, theirs = (study.score("xlmr", name, 1, task, language) for name in ("xllora", "crosslingual"))
            for ending in (".json", ".items.tsv"):
                shutil.copy(theirs.with_suffix(ending), ours.with_suffix(ending))
    table = study.tabulate(spec)
    rows = table[table["recipe"] == "xllora"]
    assert len(rows) == 6 and (rows["high"] - rows["low"] > 1).all()
    assert (rows[["difference", "difference_low", "difference_high"]] == 0).all(axis=None)


def test_a_metric_of_one_class_has_the_items_of_its_test(make, spec, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is made anew at each look, unlike others."""
    study = make(seeds=1, recipes=("crosslingual", "xllora"))
    (block,) = [block for block in study.plan(spec) if block.column.protocol == "bitext"]
    metric = block.column.measured
    monkeypatch.setattr(Column, "measured", property(lambda column: replace(metric, by=replace(metric.by))))
    assert measure(study.scores, block, "hau", study.statistics).items.keys() == {"crosslingual", "xllora"}


def test_the_seeds_of_an_average_are_the_averages_of_each_seed(make, spec) -> None:
    """Some systems are one encoder for all languages, whose seeds are as good or bad in all of them."""
    study = make(seeds=2, recipes=("crosslingual", "xllora"), resamples=5_000)
    for language, n in (("hau", 80), ("ind", 81)):
        for recipe in ("crosslingual", "xllora"):
            for seed in (1, 2):
                hits = pd.DataFrame(seed - 1, index=range(n), columns=["forward", "backward"])
                path = study.score("xlmr", recipe, seed, "kolibri-bitext", language)
                write_score(path, "bitext", hits, seed - 1, "here")
    (block,) = [block for block in study.plan(spec) if block.column.protocol == "bitext"]
    for language in ("hau", "ind"):
        assert {*measure(study.scores, block, language, study.statistics).replicates["xllora"]} == {0.5}
    table = study.tabulate(spec).set_index(["recipe", "language", "column"])
    for language in ("hau", "ind", "avg"):
        row = table.loc["xllora", language, block.column.label]
        assert row["sd"] == pytest.approx(100 * np.sqrt(0.5)) and [row["low"], row["high"]] == [0, 100]
        assert row["p"] == pytest.approx(1, abs=0.04)
        exact = stats.t.interval(0.95, 2, 0, 100 * np.sqrt(2 * 0.25))  # of two seeds each, 0 and 1: two degrees
        assert [row["difference_low"], row["difference_high"]] == pytest.approx(exact, rel=0.1)


def test_a_draw_of_seeds_is_the_same_whatever_other_systems_a_language_has(make, spec) -> None:
    study = make(seeds=3, recipes=("unsupervised", "xllora"))
    (block,) = [block for block in study.plan(spec, baseline="xllora") if block.column.protocol == "bitext"]
    both, alone = (
        measure(study.scores, block.model_copy(update={"systems": systems}), "hau", study.statistics)
        for systems in (block.systems, block.systems[1:])
    )
    np.testing.assert_array_equal(both.replicates["xllora"], alone.replicates["xllora"])


def test_means_of_means_over_languages_weigh_each_language_once(tmp_path) -> None:
    languages = {"one": ["hau"], "three": ["hau", "amh", "kin"], "two": ["hau", "amh"]}
    value = {"one": 1, "three": 0, "two": 0.5}
    scores = tmp_path / "scores"
    for task, codes in languages.items():
        for code in codes:
            hits = pd.DataFrame(value[task], index=range(40), columns=["forward", "backward"])
            write_score(scores / f"b/base/mul/0/{task}/{code}.json", "bitext", hits, value[task], "here")
    column = {"protocol": "bitext", "metric": "accuracy"}
    means = {"inner": ["one", "three"], "nested": ["inner", "two"], "flat": [*languages]}
    spec = TableSpec.model_validate(
        {
            "title": "T",
            "caption": "c",
            "columns": [column | {"label": task, "tasks": [task]} for task in languages],
            "recipes": {"base": "Base"},
            "over_columns": [
                {"label": name, "columns": columns, "over": "languages"} for name, columns in means.items()
            ],
        }
    )
    tasks = {task: AvailableTask(protocol="bitext", languages=codes) for task, codes in languages.items()}
    blocks = plan(
        spec, [AvailableRecipe(recipe="base", language="mul", seeds=[0])], {"b": AvailableModel()}, tasks, "base"
    )
    measured = [*measure_blocks(blocks, scores, Statistics(resamples=100), spec)]
    table = tabulate(measured, Statistics(), Published(None, tmp_path))
    averages = table[table["language"] == "avg"].set_index("column")["value"]
    assert averages["nested"] == averages["flat"] == pytest.approx(100 * (1 + 0 * 3 + 0.5 * 2) / 6, abs=1e-3)


def test_what_is_no_share_has_three_decimals_and_the_number_of_what_it_is_over(tmp_path) -> None:
    """Alignment of ten pairs, uniformity of fifteen sentences; one decimal would show 0.2 of all encoders."""
    scores = tmp_path / "scores"
    path = scores / "b/base/hau/0/geometry/hau.json"
    distances = np.linspace(0.1, 0.2468, 10)
    metrics = {"alignment": distances.mean(), "uniformity": -1.2345, "sentences": 15.0}
    items = pd.DataFrame({"id": [*"abcdefghij"], "distance": distances})
    write_table(items, path.with_suffix(".items.tsv"))
    about = {"protocol": "geometry", "metrics": metrics, "items": "hau.items.tsv"}
    write_json(about | {"dataset": {"origin": [{"kind": "hub", "name": "here"}]}}, path)
    columns = [
        {"label": name, "protocol": "geometry", "metric": name, "tasks": ["geometry"]}
        for name in ("alignment", "uniformity")
    ]
    given = {"title": "T", "caption": "c", "columns": columns, "recipes": {"base": "Base"}}
    of_table = TableSpec.model_validate(given)
    tasks = {"geometry": AvailableTask(protocol="geometry", languages=["hau"])}
    blocks = plan(
        of_table, [AvailableRecipe(recipe="base", language="hau", seeds=[0])], {"b": AvailableModel()}, tasks, "base"
    )
    measured = [*measure_blocks(blocks, scores, Statistics(resamples=100), of_table)]
    table = tabulate(measured, Statistics(), Published(None, tmp_path))
    assert table["n"].tolist() == [10, 10, 15, 15]
    for across in ("languages", "columns"):
        shown = page(table, of_table.model_copy(update={"across": across}))
        assert re.search(r"\*\*0\.173\*\* \[0\.1\d\d, 0\.2\d\d]", shown) and "**-1.234** (n = 15)" in shown


@pytest.mark.parametrize("lower", [False, True])
def test_the_best_average_of_a_column_is_bold(make, spec, monkeypatch, lower: bool) -> None:
    study = make(seeds=1, n=30, resamples=100, recipes=("crosslingual", "xllora"))
    monkeypatch.setitem(sts.METRICS, "spearman", replace(sts.METRICS["spearman"], lower=lower))
    across = spec.model_copy(update={"across": "columns", "columns": spec.columns[:1]})
    table = study.tabulate(across)
    averages = table[table["language"] == "avg"]["value"]
    (bold,) = re.findall(r"\*\*([\d.]+)\*\*", page(table, across))
    assert bold == f"{averages.min() if lower else averages.max():.1f}"


def test_an_average_is_of_the_systems_that_all_languages_have() -> None:
    def of(language: str, n: int, **values: float) -> Measure:
        scores = {recipe: np.array([value]) for recipe, value in values.items()}
        return Measure(language, "sts", dict.fromkeys(values, n), scores, scores, None, unlike=())

    found = average([of("hau", 80, a=0.2, b=0.9), of("ind", 81, a=0.4)])
    assert {recipe: values.tolist() for recipe, values in found.by_seed.items()} == {"a": [pytest.approx(0.3)]}
    assert found.n == {"a": 161} and list(found.replicates) == ["a"] and found.language == "avg"


@pytest.mark.parametrize(
    ("difference", "p", "mark"),
    [(3.0, 0.04, " ▲"), (-3.0, 0.04, " ▼"), (3.0, 0.06, ""), (-3.0, 0.9, ""), (3.0, None, "")],
)
def test_a_cell_marks_what_is_real_and_which_way(difference: float, p: float | None, mark: str) -> None:
    row = {"value": 71.34, "low": 68.2, "high": 74.1, "difference": difference, "p_adjusted": p, "level": 0.95, "n": 80}
    assert cell(pd.Series(row, dtype=float), best=None) == f"71.3 [68.2, 74.1]{mark}"


@pytest.mark.parametrize(("paper", "found"), [(1.0, "reproduced"), (2.0, "reproduced"), (0.9, ""), (2.1, "")])
def test_a_number_is_reproduced_within_both_ends(paper: float, found: str) -> None:
    assert verdict({"low": 1.0, "high": 2.0}, paper) == (found or "not reproduced")
    assert verdict({}, paper) == ""

"""Differences between backbones, against closed forms and scipy: paired over items, tested, adjusted, and told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import bootstrap, false_discovery_control, norm, spearmanr
from scipy.stats import t as student

from seedbed import yamls
from seedbed.evaluation.aggregation import mean
from seedbed.evaluation.significance import replicates
from seedbed.io import UserError
from seedbed.study.graph.table import TablePlan
from seedbed.study.loading import load
from seedbed.study.model import Study
from seedbed.tables.plan import AvailableModel, AvailableRecipe, AvailableTask, Block, compared, of_labellers
from seedbed.tables.published import Published
from seedbed.tables.specs import TableSpec
from seedbed.tables.tabulate import measure_blocks, read, tabulate, write
from tests.unit.tables.conftest import PAPER, make_study, page
from tests.unit.tables.conftest import Study as Scores

COLUMNS = [
    {"label": "STS", "protocol": "sts", "metric": "spearman"},
    {"label": "Bitext", "protocol": "bitext", "metric": "accuracy"},
]
KEY = ["backbone", "column", "recipe", "language"]
DIFFERENCE = ["difference", "difference_low", "difference_high", "p", "p_items", "p_adjusted"]
N = 300


def spec(**changes: Any) -> TableSpec:
    facts = {"title": "T", "caption": "C", "columns": COLUMNS, "recipes": {"base": "Base", "xllora": "XL-LoRA"}}
    return TableSpec.model_validate({**facts, "baseline": "base", **changes})


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Scores:
    """Three backbones; `base` has one seed, `xllora` two."""
    folder = tmp_path_factory.mktemp("backbones")
    backbones = {"one": "One", "two": "Two", "three": ""}
    return make_study(folder, backbones=backbones, recipes=("base", "xllora"), seeds=2, n=N, resamples=2000)


@pytest.fixture(scope="module")
def quick(small: Scores) -> Scores:
    """The same scores, of which few are drawn: for what hangs on no interval."""
    return replace(small, statistics=small.statistics.model_copy(update={"resamples": 100}))


def table_of(study: Scores, backbone: str, **changes: Any) -> pd.DataFrame:
    shown = spec(**changes)
    blocks = compared(shown, study.plan(shown), backbone)
    measured = [*measure_blocks(blocks, study.scores, study.statistics, shown)]
    return tabulate(measured, study.statistics, Published(None, PAPER))


@pytest.fixture(scope="module")
def table(small: Scores) -> pd.DataFrame:
    return table_of(small, "one")


def row_of(table: pd.DataFrame, *key: str) -> pd.Series:
    return table.set_index(KEY).loc[key]


def test_correlations_differ_as_williams_and_scipys_bootstrap_find(small: Scores, table: pd.DataFrame) -> None:
    row = row_of(table, "two", "STS", "base", "hau")
    (ours,), (theirs,) = (small.items(name, "base", "semrel-sts", "hau") for name in ("two", "one"))
    assert (ours[:, 0] == theirs[:, 0]).all(), "one gold"
    sides = np.column_stack([ours[:, 0], ours[:, 1], theirs[:, 1]])
    matrix = spearmanr(sides).statistic
    assert row["difference"] == pytest.approx(100 * (matrix[0, 1] - matrix[0, 2]), abs=2e-3)
    # Steiger (1980), equation 7, with the determinant by numpy.
    r12, r13, r23 = matrix[0, 1], matrix[0, 2], matrix[1, 2]
    spread = 2 * (N - 1) / (N - 3) * np.linalg.det(matrix) + ((r12 + r13) / 2) ** 2 * (1 - r23) ** 3
    t = (r12 - r13) * np.sqrt((N - 1) * (1 + r23) / spread)
    assert row["p_items"] == pytest.approx(2 * student.sf(abs(t), N - 3), abs=2e-4)

    def difference(gold: np.ndarray, a: np.ndarray, b: np.ndarray) -> float:
        return 100 * (spearmanr(gold, a).statistic - spearmanr(gold, b).statistic)

    drawn = bootstrap(
        tuple(sides.T), difference, paired=True, vectorized=False, n_resamples=1000, method="percentile", rng=1
    )
    interval = drawn.confidence_interval
    assert [row["difference_low"], row["difference_high"]] == pytest.approx(
        [*interval], abs=0.15 * (interval[1] - interval[0])
    )
    far = 2 * min((drawn.bootstrap_distribution <= 0).mean(), (drawn.bootstrap_distribution >= 0).mean())
    assert row["p"] == pytest.approx(far, abs=0.06)


def test_means_differ_as_the_normal_distribution_of_paired_items_has_it(small: Scores, table: pd.DataFrame) -> None:
    row = row_of(table, "three", "Bitext", "base", "ind")
    ours, theirs = (small.items(name, "base", "kolibri-bitext", "ind")[0].mean(axis=1) for name in ("three", "one"))
    each = 100 * (ours - theirs)
    error = each.std() / np.sqrt(len(each))
    assert row["difference"] == pytest.approx(each.mean(), abs=1e-3)
    assert [row["difference_low"], row["difference_high"]] == pytest.approx(
        [*norm.interval(0.95, each.mean(), error)], abs=0.3 * error
    )
    # Two systems change places item by item: the distribution of the sum of halves with every sign, exactly.
    halves, chances = np.rint(2 * (ours - theirs)).astype(int), np.ones(1)
    for step in abs(halves):
        both = np.zeros(len(chances) + 2 * step)
        both[: len(chances)] += chances / 2
        both[2 * step :] += chances / 2
        chances = both
    sums = np.arange(len(chances)) - len(chances) // 2
    exact = min(1, 2 * min(chances[sums >= halves.sum()].sum(), chances[sums <= halves.sum()].sum()))
    assert row["p_items"] == pytest.approx(exact, abs=0.04)
    assert row["p"] == pytest.approx(2 * norm.sf(abs(each.mean()) / error), abs=0.06)


def test_p_values_are_adjusted_over_the_languages_of_a_row(table: pd.DataFrame) -> None:
    for name in ("two", "three"):
        rows = table[(table["backbone"] == name) & (table["recipe"] == "base")]
        for _, own in rows[rows["language"] != "avg"].groupby("column"):
            larger = own[["p", "p_items"]].max(axis=1)
            assert own["p_adjusted"].to_numpy() == pytest.approx(false_discovery_control(larger), abs=2e-4)
        average = rows[rows["language"] == "avg"]
        assert (average["p_adjusted"] == average["p"]).all() and average["difference"].notna().all()


def test_what_was_there_stays_to_the_last_digit(quick: Scores, tmp_path: Path) -> None:
    plain, table = table_of(quick, ""), table_of(quick, "one")
    assert (plain["baseline_backbone"] == "").all()
    theirs = table["baseline_backbone"] == "one"
    assert {*zip(table["backbone"][theirs], table["recipe"][theirs], strict=True)} == {
        ("two", "base"),
        ("three", "base"),
    }
    pd.testing.assert_frame_equal(table[~theirs], plain[~theirs])
    rest = [name for name in table.columns if name not in (*DIFFERENCE, "baseline_backbone")]
    pd.testing.assert_frame_equal(table[rest], plain[rest])
    assert plain.loc[theirs, DIFFERENCE].isna().all(axis=None) and table.loc[theirs, "difference_low"].notna().all()
    own = table[(table["backbone"] == "one") & (table["recipe"] == "base")]
    assert own[DIFFERENCE].isna().all(axis=None), "nothing is compared with itself"
    write(table, tmp_path / "t.csv")
    pd.testing.assert_frame_equal(read(tmp_path / "t.csv"), table, check_dtype=False)


def test_what_stands_beside_is_drawn_with_the_same_items_and_changes_nothing() -> None:
    rng = np.random.default_rng(3)
    one = rng.random((1, 40, 1))
    two = rng.random((1, 40, 1)) + 0.5 * rng.random((3, 40, 1))  # an item is alike in all seeds
    options: Any = {"resamples": 200, "seed": 5}
    alone = replicates(mean, {"one": one, "two": two}, **options)
    found = replicates(mean, {"other two": two, "other one": one, "one": one, "two": two}, **options)
    assert all((found[name] == alone[name]).all() for name in alone)
    assert (found["other one"] == found["one"]).all() and (found["other two"] == found["two"]).all()


def test_pages_say_what_marks_are_about(quick: Scores, table: pd.DataFrame) -> None:
    text = page(table, spec())
    assert "▲ ▼: above or below Base, by" in text.split("## STS, two")[0]
    assert "above or below Base, and that above or below the one of one, by" in text.split("## STS, two")[1]
    alone = table_of(quick, "One", recipes={"base": "Base"}, across="columns")
    assert "▲ ▼: above or below one, by the paired bootstrap (p < 0.05)." in page(
        alone, spec(recipes={"base": "Base"}, across="columns")
    )


def test_a_spec_may_name_it_by_the_papers_name_and_then_it_must_be_there(quick: Scores) -> None:
    named = table_of(quick, "three", baseline_backbone="Two")
    assert {*named["baseline_backbone"]} == {"", "two"}
    for changes in ({"baseline_backbone": "four"}, {"baseline_backbone": "three", "backbones": ["one", "two"]}):
        with pytest.raises(UserError, match=r"table 'T': baseline_backbone '\w+'.*backbones") as caught:
            table_of(quick, "one", **changes)
        assert "\n" not in str(caught.value) and "'T'" in str(caught.value)
        assert {*table_of(quick, "one", partial=True, **changes)["baseline_backbone"]} == {""}
    assert {*table_of(quick, "one", backbones=["two", "three"])["baseline_backbone"]} == {""}, "a table may lack it"


def test_a_backbone_without_the_metric_is_no_baseline(quick: Scores, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seedbed.tables.tabulate.lacks", lambda scores, block: block.backbone == "one")
    monkeypatch.setattr(Block, "compared", lambda block, language: pytest.fail("read") if block.other else [])
    table = table_of(quick, "one", partial=True)
    assert {*table["backbone"]} == {"two", "three"} and {*table["baseline_backbone"]} == {""}


def test_a_row_names_the_baseline_that_was_taken_from(quick: Scores) -> None:
    shown = spec(backbones=["one", "two"])
    one, two = (block for block in compared(shown, quick.plan(shown), "one") if block.column.label == "STS")
    two = two.model_copy(update={"baseline": "xllora"})  # as `baseline_classifier` gives classifiers their own
    measured = [*measure_blocks([one, two], quick.scores, quick.statistics, shown)]
    table = tabulate(measured, quick.statistics, Published(None, PAPER))
    rows = table.set_index(KEY[:1] + KEY[2:]).xs("two")
    taken = rows[["baseline", "baseline_backbone"]].drop_duplicates().T.to_dict("list")
    assert {recipe: own for (recipe, _), own in taken.items()} == {"base": ["xllora", ""], "xllora": ["base", "one"]}
    ours, theirs = rows.loc[("xllora", "hau")], table.set_index(KEY[:1] + KEY[2:]).loc[("one", "base", "hau")]
    assert ours["difference"] == pytest.approx(ours["value"] - theirs["value"], abs=2e-6)
    assert "above or below XL-LoRA, and that above or below the one of one" in page(table, shown)


def test_a_study_names_one_that_it_has() -> None:
    config = yamls.read("studies/miners.yaml")
    config["statistics"] |= {"baseline_backbone": "me5-smal"}
    with pytest.raises(UserError, match=r"statistics.baseline_backbone:.*'me5-smal'; did you"):
        load(config)


def blocks_of(**tests: str) -> list[Block]:
    """Blocks of two backbones, the second in other languages, and of a classifier."""
    table = spec(columns=[{"label": "k", "protocol": "knn", "metric": "accuracy@1"}], classifiers=["random"])
    tasks = {"labels": AvailableTask(protocol="knn", languages=["hau", "ind"], k=[1])}
    drawn = of_labellers(
        table,
        [AvailableRecipe(recipe="random", language="mul", seeds=[1, 2], backbones=["drawn"])],
        {"drawn": AvailableModel()},
        tasks,
        "base",
    )
    narrow = AvailableRecipe(recipe="base", language="mul", seeds=[0], languages=["hau"])
    facts = {"paper_backbone": "", "column": drawn[0].column, "names": {"base": "Base"}, "baseline": "base"}
    encoders = [
        Block(backbone="one", tests={"hau": "labels"}, systems=[narrow], **facts),
        Block(
            backbone="two",
            tests={"hau": "labels", "ind": "labels"},
            systems=[narrow.model_copy(update={"languages": None})],
            **facts,
        ),
    ]
    return compared(table, [*encoders, *drawn], "one")


def test_classifiers_are_compared_too_in_the_languages_that_both_have() -> None:
    one, two, drawn = blocks_of()
    assert one.other is None and (two.other.backbone, two.other.languages) == ("one", ["hau"])
    assert drawn.other == two.other
    assert [cell.path for cell in drawn.compared("hau")] == ["one/base/mul/0/labels/hau.json"]
    assert drawn.compared("ind") == [] == one.compared("hau")


@pytest.mark.parametrize(("file", "named"), [("config/miners.yaml", "me5-large"), ("studies/miners.yaml", "me5-small")])
def test_tables_of_miners_whose_rows_are_backbones_are_compared(file: str, named: str) -> None:
    study = Study.model_validate(yamls.read(file))
    for table in ("miners_table2", "miners_table5", "miners_table13", "miners_table14", "miners_table15"):
        blocks = TablePlan.get(study, table).blocks
        others = {block.backbone: block.other for block in blocks if block.backbone != named}
        assert all(other and other.backbone == named for other in others.values()), table
        assert not any(block.other for block in blocks if block.backbone == named)


@pytest.mark.parametrize("table", ["miners_table3", "miners_table16"])
def test_language_models_without_an_example_are_compared_with_one_of_them(table: str) -> None:
    study = Study.model_validate(yamls.read("config/miners.yaml"))
    for block in TablePlan.get(study, table).blocks:
        named = block.other and (block.other.backbone, block.other.system.recipe)
        assert named == (None if block.backbone == "bloomz-560m-icl" else ("bloomz-560m-icl", "zero-shot"))
        assert block.other is None or block.other.languages == [*block.tests]
    demo = Study.model_validate(yamls.read("studies/miners.yaml"))
    assert not any(block.other for block in TablePlan.get(demo, table).blocks), "a study may lack it"

"""The table against direct computations with numpy and scipy, and its two forms on the disk."""

import re
import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import false_discovery_control, spearmanr

from scripts import tabulate as program
from seedbed.evaluation.metrics import Metric
from seedbed.evaluation.significance import percentiles, replicates, spearman, williams, with_seeds
from seedbed.io import UserError, read_json, write_json, write_table
from seedbed.tables.cells import difference, significant, trained_on
from seedbed.tables.pages.legends import without_interval
from seedbed.tables.plan import AvailableModel, AvailableRecipe, AvailableTask, plan
from seedbed.tables.published import Published
from seedbed.tables.settings import Statistics
from seedbed.tables.specs import Column, Overall, TableSpec
from seedbed.tables.tabulate import COLUMNS, COMPARED, measure_blocks, read, tabulate, write
from tests.programs import call
from tests.unit.tables.conftest import page, write_score

KEY = ["backbone", "column", "recipe", "language"]


def cell(table, recipe, language, column="STS", backbone="xlmr"):
    """One row of a table."""
    return table.set_index(KEY).loc[(backbone, column, recipe, language)]


def test_values_deviations_and_differences_are_those_of_the_items(table, study):
    base = study.items("xlmr", "crosslingual", "semrel-sts", "hau")
    by_seed = [100 * spearmanr(*items.T).statistic for items in study.items("xlmr", "xllora", "semrel-sts", "hau")]
    row = cell(table, "xllora", "hau")
    assert row["value"] == pytest.approx(np.mean(by_seed), abs=1e-3)
    assert row["sd"] == pytest.approx(np.std(by_seed, ddof=1), abs=1e-3)
    baseline = np.mean([100 * spearmanr(*items.T).statistic for items in base])
    assert row["difference"] == pytest.approx(np.mean(by_seed) - baseline, abs=2e-3)
    assert (row["n"], row["seeds"], row["task"], row["metric"]) == (80, 3, "semrel-sts", "spearman")


def test_accuracy_is_the_mean_of_both_directions(table, study):
    hits = study.items("xlmr", "prompting", "kolibri-bitext", "ind")
    assert cell(table, "prompting", "ind", "Bitext retrieval")["value"] == pytest.approx(100 * hits.mean(), abs=1e-3)


def test_the_average_is_over_languages_and_its_deviation_over_seeds(table, study):
    row, languages = cell(table, "xllora", "avg"), [cell(table, "xllora", code) for code in ("hau", "ind")]
    assert row["value"] == pytest.approx(np.mean([each["value"] for each in languages]), abs=1e-3)
    by_seed = [
        [100 * spearmanr(*items.T).statistic for items in study.items("xlmr", "xllora", "semrel-sts", code)]
        for code in ("hau", "ind")
    ]
    assert row["sd"] == pytest.approx(np.mean(by_seed, axis=0).std(ddof=1), abs=1e-3)
    assert row["n"] == 161


def test_intervals_hold_their_values_and_an_average_is_surer(table):
    assert table["low"].le(table["value"]).all() and table["value"].le(table["high"]).all()
    own = table[table["recipe"] != "crosslingual"]
    assert own["difference_low"].le(own["difference"]).all() and own["difference"].le(own["difference_high"]).all()
    widths = (table["high"] - table["low"]).groupby([table["language"] == "avg", table["column"]]).mean()
    assert (widths[True] < widths[False]).all()


def test_the_joint_bootstrap_agrees_with_the_pairwise_one(table, study):
    a, b = (study.items("xlmr", recipe, "semrel-sts", "hau") for recipe in ("composition", "crosslingual"))
    row = cell(table, "composition", "hau")
    of_a, of_b = replicates(spearman, {"a": a, "b": b}, resamples=2000, seed=0).values()
    drawn = 100 * with_seeds(of_a, spearman(a), seed=0)
    assert [row["low"], row["high"]] == pytest.approx(percentiles(drawn, 0.95), abs=2.5)
    theirs = percentiles(100 * with_seeds(of_a - of_b, spearman(a), spearman(b), seed=0), 0.95)
    assert [row["difference_low"], row["difference_high"]] == pytest.approx(theirs, abs=2.5)


def test_p_values_are_adjusted_over_languages_and_the_average_stands_alone(table):
    for _, rows in table[table["recipe"] != "crosslingual"].groupby(["column", "recipe"]):
        languages = rows[rows["language"] != "avg"]
        larger = languages[["p", "p_items"]].max(axis=1)
        assert languages["p_adjusted"].to_numpy() == pytest.approx(false_discovery_control(larger), abs=2e-4)
        average = rows[rows["language"] == "avg"].iloc[0]
        assert average["p_adjusted"] == average["p"] and np.isnan(average["p_items"])


@pytest.mark.parametrize(
    ("p", "level", "real"),
    [
        (0.050049, 0.95, False),
        (0.05, 0.95, False),
        (0.049951, 0.95, True),
        (0.010001, 0.99, False),
        (0.0099999, 0.99, True),
        (0.00415, 0.99583, True),
        (0.00419, 0.99583, False),
    ],
)
def test_a_difference_is_marked_by_its_p_value_before_this_is_rounded(
    make, spec, tmp_path, monkeypatch, p, level, real
):
    monkeypatch.setattr("seedbed.tables.tabulate.benjamini_hochberg", lambda found: np.full(len(found), p))
    study = make(languages=("hau",), recipes=("crosslingual", "xllora"), seeds=1, n=12, resamples=100)
    study = replace(study, statistics=study.statistics.updated({"level": level}))
    write(study.tabulate(spec), tmp_path / "table.csv")
    row = cell(read(tmp_path / "table.csv"), "xllora", "hau")
    assert significant(row) == real and row["p_adjusted"] == pytest.approx(p, abs=1e-4)
    assert f"{row['p_adjusted']:.4f}" in (tmp_path / "table.csv").read_text(encoding="utf-8")


def test_the_baseline_is_not_compared_with_itself(table):
    rows = table[table["recipe"] == "crosslingual"]
    assert rows[["difference", "difference_low", "p", "p_adjusted"]].isna().all(axis=None)


def test_one_seed_has_no_deviation(table):
    assert table.loc[table["recipe"] == "base", "sd"].isna().all()


def test_two_seeds_have_one(make, spec):
    study = make(languages=("hau",), seeds=2, n=12, resamples=100)
    by_seed = [100 * spearmanr(*items.T).statistic for items in study.items("xlmr", "xllora", "semrel-sts", "hau")]
    row = cell(study.tabulate(spec), "xllora", "hau")
    assert row["sd"] == pytest.approx(np.std(by_seed, ddof=1), abs=1e-3) and row["sd"] > 0


def test_paper_numbers_stand_beside_ours(table):
    row = cell(table, "xllora", "hau")
    assert (row["paper"], row["paper_sd"], row["paper_note"]) == (58.4, 0.3, "")
    assert table.loc[table["column"] == "Bitext retrieval", "paper"].isna().all()


def test_a_number_within_our_interval_is_reproduced(table):
    sts = table[(table["column"] == "STS") & table["paper"].notna()]
    inside = sts["paper"].between(sts["low"], sts["high"])
    assert (sts["verdict"] == inside.map({True: "reproduced", False: "not reproduced"})).all()
    assert sts["delta"].to_numpy() == pytest.approx(sts["value"] - sts["paper"], abs=0.01)
    assert cell(table, "xllora", "hau")["paper_cell"] == "xllora|XLM-R|hau|STS|spearman"


def test_the_page_says_of_each_of_the_papers_numbers_what_became_of_it(table, spec):
    text = page(table, spec)
    verdicts = table.loc[table["paper_cell"] != "", "verdict"].value_counts()
    told = f"{verdicts['reproduced']} reproduced, {verdicts['not reproduced']} not reproduced, "
    assert f"Of the 96 numbers that the paper prints here: {told}{96 - verdicts.sum()} not run" in text
    row = cell(table, "xllora", "hau")
    assert f"58.4 → {row['value']:.1f} ({row['delta']:+.1f})" in text
    sts, bitext = text.split("\n## ")[1:3]
    assert "In italics below a row: the paper's number" in sts and "*58.4 ± 0.3*" in sts
    assert "The paper does not have Bitext retrieval of xlmr." in bitext


def test_a_number_of_the_paper_that_two_rows_have_is_counted_once_and_shown_with_both(make, spec):
    table = make(backbones={"a": "XLM-R", "b": "XLM-R"}, resamples=100).tabulate(spec)
    text = page(table, spec)
    tried = (table["verdict"] != "") & (table["paper_cell"] != "")
    by_cell = table[tried].groupby("paper_cell")["verdict"]
    reproduced = by_cell.agg(lambda each: (each == "reproduced").all()).sum()
    told = f"{reproduced} reproduced, {by_cell.ngroups - reproduced} not reproduced, {96 - by_cell.ngroups} not run. "
    assert f"Of the 96 numbers that the paper prints here: {told}" in text and "all must reproduce it" in text
    marks = {"reproduced": "✓", "not reproduced": "✗"}
    rows = [cell(table, "xllora", "hau", backbone=backbone) for backbone in ("a", "b")]
    both = ", ".join(f"{row['value']:.1f} ({row['delta']:+.1f}) {marks[row['verdict']]}" for row in rows)
    assert f"58.4 → {both} |" in text


def test_both_tests_must_call_a_difference_real(table, study):
    a, b = (study.items("xlmr", recipe, "semrel-sts", "hau") for recipe in ("prompting", "crosslingual"))
    own = (np.mean([spearmanr(*one.T).statistic for one in items]) for items in (a, b))
    between = np.mean([spearmanr(one[:, 1], other[:, 1]).statistic for one in a for other in b])
    assert cell(table, "prompting", "hau")["p_items"] == pytest.approx(williams(*own, between, a.shape[1])[1], abs=1e-4)
    languages = table[table["p_items"].notna()]
    assert (languages["p_adjusted"] >= languages[["p", "p_items"]].max(axis=1) - 1e-4).all()


def test_an_average_over_other_languages_is_recomputed_from_the_papers_cells(table):
    row = cell(table, "xllora", "avg")
    assert row["paper"] == pytest.approx((58.4 + 47.8) / 2)
    assert np.isnan(row["paper_sd"]) and row["paper_note"] == "mean of the paper's ind, hau"


def test_the_printed_average_stands_beside_an_average_over_the_same_languages(make, spec):
    study = make(languages=("afr", "hau", "hin", "ind", "kor", "mar", "tel"), seeds=2, n=12, resamples=100)
    table = study.tabulate(spec)
    row = cell(table, "xllora", "avg")
    assert (row["paper"], row["paper_sd"]) == (72.3, 0.1)
    assert list(table["language"].unique()) == ["afr", "hin", "mar", "tel", "ind", "hau", "kor", "avg"]
    assert "SemRel2024 has no Korean" in cell(table, "base", "kor")["paper_note"]


SEVEN = ("afr", "hin", "mar", "tel", "ind", "hau", "kor")


def over_backbones(make, languages, names, *, paper_languages=None, **changes):
    """A table of one recipe of paper 000, table 12, whose average is over backbones too; 12 items a language."""
    spec = TableSpec.load("seedbed/resources/tables/bootstrapping_table12.yaml")
    slugs = spec.paper.model_copy(update={"slugs": {"base": "xllora-mt"}})
    column = {"tasks": ("semrel-sts",), "paper_languages": paper_languages}
    columns = [spec.columns[0].model_copy(update=column)]
    recipes = {"recipes": {"base": "MT"}, "baseline": "base"}
    spec = spec.model_copy(update={"paper": slugs, "columns": columns, **recipes})
    study = make(languages=languages, backbones=names, recipes=("base",), n=12, resamples=100)
    return study.tabulate(spec, **changes)


@pytest.mark.parametrize(("languages", "number"), [(SEVEN, 72.9), (("afr", "hau"), (80.0 + 61.0 + 80.5 + 59.4) / 4)])
def test_the_printed_average_over_backbones_stands_beside_the_same_cells_alone(make, languages, number):
    """Paper 000, table 12: its Score is over seven languages and both backbones."""
    table = over_backbones(make, languages, {"a": "XLM-R", "b": "mmBERT"})
    row = cell(table, "base", "avg", backbone="avg")
    assert row["paper"] == pytest.approx(number, abs=0.01)
    assert ("mean of the paper's XLM-R, mmBERT, afr, hau" in row["paper_note"]) == (languages != SEVEN)


@pytest.mark.parametrize("order", [1, -1])
def test_an_average_over_backbones_of_unequal_languages_stands_beside_the_same_cells(make, order):
    offered = {"a": AvailableModel(paper="XLM-R"), "b": AvailableModel(paper="mmBERT", languages=["hau"])}
    offered = dict([*offered.items()][::order])
    table = over_backbones(make, SEVEN, {"a": "XLM-R", "b": "mmBERT"}, backbones=offered)
    own = table[(table["backbone"] != "avg") & (table["language"] != "avg")]
    row = cell(table, "base", "avg", backbone="avg")
    assert len(own) == 8 and row["value"] == pytest.approx(own["value"].mean(), abs=1e-3)
    assert row["paper"] == pytest.approx(own["paper"].mean(), abs=0.01)
    items = own.drop_duplicates("language")["n"].sum()
    assert row["n"] == items < own["n"].sum(), "both backbones have the items of Hausa"
    told = ["XLM-R (afr, hin, mar, tel, ind, hau, kor)", "mmBERT (hau)"][::order]
    assert row["paper_note"] == f"mean of the paper's {', '.join(told)}"


@pytest.mark.parametrize("paper_languages", [1, 2])
def test_an_average_over_backbones_is_an_attempt_at_the_papers_over_as_many_languages(make, paper_languages):
    names = {"a": "XLM-R", "b": "mmBERT"}
    table = over_backbones(make, ("afr", "hau"), names, paper_languages=paper_languages)
    averages = table[table["language"] == "avg"]
    assert len(averages) == 3 and ((averages["verdict"] != "") == (paper_languages == 2)).all()


def test_backbones_with_one_name_in_the_paper_count_as_often_as_they_are_averaged(make):
    table = over_backbones(make, SEVEN, {"a": "XLM-R", "b": "mmBERT", "c": "mmBERT"})
    own = table[(table["backbone"] != "avg") & (table["language"] != "avg")]
    row = cell(table, "base", "avg", backbone="avg")
    assert len(own) == 21 and row["paper"] == pytest.approx(own["paper"].mean(), abs=0.006)


def test_a_number_on_other_data_is_marked(make, spec):
    table = make(origin="someone/mine", resamples=100).tabulate(spec)
    assert cell(table, "base", "hau")["paper_note"] == "other data than the paper's"
    assert "*4.1*†" in page(table, spec)


@pytest.mark.parametrize("languages", [None, 2, 3, 0])
def test_an_average_is_an_attempt_at_the_papers_over_as_many_languages(study, spec, languages):
    columns = [column.model_copy(update={"paper_languages": languages}) for column in spec.columns[:1]]
    mean = Overall(label="All", paper_task="STS")
    table = study.tabulate(spec.model_copy(update={"columns": columns, "over_columns": [mean]}))
    for row in (cell(table, "xllora", "avg"), cell(table, "xllora", "avg", column="All")):
        assert (row["verdict"] != "", pd.notna(row["delta"])) == (languages in (None, 2),) * 2
        assert ("other data than the paper's" in row["paper_note"]) == (languages == 3)
        assert ("languages that the paper does not name" in row["paper_note"]) == (languages == 0)
    assert cell(table, "xllora", "hau")["verdict"] != ""


@pytest.mark.parametrize(
    ("lacking", "languages", "attempt"),
    [(False, None, True), (False, 2, True), (False, 7, False), (True, None, False)],
)
def test_a_mean_of_all_columns_is_an_attempt_at_the_papers_over_as_many(study, spec, lacking, languages, attempt):
    """Paper 004, tables 3 and 5: its means are over columns, or pairs, that a study may lack."""
    columns = spec.columns[:1] + [spec.columns[0].model_copy(update={"label": "Lost", "tasks": ("lost",)})] * lacking
    mean = Overall(label="All", paper_task="STS", paper_languages=languages)
    table = study.tabulate(spec.model_copy(update={"columns": columns, "over_columns": [mean], "partial": True}))
    row = cell(table, "xllora", "avg", column="All")
    assert (row["verdict"] != "", "other data" in row["paper_note"]) == (attempt, not attempt)
    assert row["value"] == cell(table, "xllora", "avg")["value"]


@pytest.mark.parametrize("over", ["columns", "languages"])
def test_a_mean_of_two_columns_of_one_task_counts_its_items_once(study, spec, over):
    columns = [spec.columns[0].model_copy(update={"label": label}) for label in ("one", "other")]
    means = [Overall(label="Both", over=over), Overall(label="Nested", columns=("one", "Both"), over=over)]
    table = study.tabulate(spec.model_copy(update={"columns": columns, "over_columns": means}))
    for label in ("one", "Both", "Nested"):
        row = cell(table, "xllora", "avg", column=label)
        assert row["n"] == 161 and row["value"] == pytest.approx(cell(table, "xllora", "avg", column="one")["value"])


def test_a_backbone_that_the_paper_lacks_has_no_number_of_it(make, spec):
    study = make(backbones={"me5-small": ""}, resamples=100)
    table = study.tabulate(spec)
    assert table["paper"].isna().all()
    text = page(table, spec)
    assert text.count("No number here has a counterpart in the paper") == 1
    assert "The paper's numbers, and ours" not in text


def test_languages_that_the_paper_lacks_are_named_as_they_stand(make, spec):
    text = page(make(languages=("zul", "hau", "xho", "amh"), n=12, resamples=100).tabulate(spec), spec)
    assert "The paper lacks zul, xho, amh." in text


def test_a_block_that_the_paper_lacks_says_so_beside_those_that_it_has(make, spec):
    text = page(make(backbones={"xlmr": "XLM-R", "me5-small": ""}, resamples=100).tabulate(spec), spec)
    assert text.count("The paper does not have") == 3 and "The paper does not have STS of me5-small." in text
    assert "No number here" not in text


def test_marks_that_all_blocks_share_are_explained_once(make, spec):
    alone = page(make(resamples=100).tabulate(spec.model_copy(update={"columns": spec.columns[:1]})), spec)
    several = make(backbones={"xlmr": "XLM-R", "mmbert": "mmBERT"}, resamples=100)
    text = page(several.tabulate(spec.model_copy(update={"columns": spec.columns[:1]})), spec)
    for found in (alone, text):
        assert found.count("Bold: the best of a language.") == 1 and found.count("Test items:") == found.count(
            "\n## STS"
        )
    assert text.index("Bold: the best") < text.index("## STS, xlmr") < text.index("## STS, mmbert")
    both = page(several.tabulate(spec), spec)
    assert both.count("Bold: the best of a language.") == 4, "Williams' test is not the permutation test"


def test_decimals_are_those_of_a_columns_protocol(study, spec):
    """Both protocols have a metric `mean`: of lengths to a tenth, of norms to a thousandth."""
    table = study.tabulate(spec.model_copy(update={"paper": None})).assign(metric="mean")
    labels = dict.fromkeys(table["column"])
    columns = [
        Column(label=label, protocol=protocol, metric="mean")
        for label, protocol in zip(labels, ("lengths", "norms"), strict=True)
    ]
    text = page(table, spec.model_copy(update={"paper": None, "columns": columns}))
    blocks = text.split("\n## ")[1:]
    for block, decimals in zip(blocks, (1, 3), strict=True):
        (row,) = [line for line in block.splitlines() if line.startswith("| Base Encoder")]
        assert len(re.findall(rf"\d\.\d{{{decimals}}} \[", row)) == 3, row


@pytest.mark.parametrize("across", ["languages", "columns"])
def test_two_tests_of_one_language_have_a_column_each(make, spec, across):
    """As in each study of one's own whose test set has a half that chooses and one that reports."""
    study = make(resamples=100)
    for folder in [*study.scores.rglob("semrel-sts")]:
        shutil.copytree(folder, folder.with_name("other-sts"))
    study.tasks["other-sts"] = study.tasks["semrel-sts"]
    columns = [column.model_copy(update={"group": "Graded"}) for column in spec.columns]
    own = {"across": across, "columns": columns, "paper": None, "compare": [("xllora", "base")]}
    alone = spec.model_copy(update=own | {"absent": {columns[0].label: "not made", "another": "why"}})
    table = study.tabulate(alone)
    assert [*table["column"].unique()][:2] == ["STS (semrel-sts)", "STS (other-sts)"]
    text = page(table, alone, study.compare(alone))
    assert "STS (semrel-sts)" in text and "STS (other-sts)" in text and "Not in this table: another (why)." in text


def test_a_table_needs_no_paper(study, spec):
    alone = spec.model_copy(update={"paper": None})
    table = study.tabulate(alone)
    assert table["paper"].isna().all()
    assert "counterpart" not in page(table, alone) and "The paper does not" not in page(table, alone)


def test_fewer_than_ten_items_have_a_value_and_their_number(make, spec):
    table = make(n=9, resamples=100).tabulate(spec)  # 9 for hau, 10 for ind
    assert np.isnan(cell(table, "xllora", "hau")["low"]) and np.isnan(cell(table, "xllora", "avg")["low"])
    assert np.isfinite(cell(table, "xllora", "ind")[["low", "high", "p_adjusted"]].astype(float)).all()
    text = page(table, spec)
    row = next(line for line in text.splitlines() if "XL-LoRA" in line)
    assert "(n = 9)" in row and "(n = 10)" not in row
    why = "n instead of an interval: fewer than 10 test items (hau); so has an average over such a language."
    assert text.count(why) == text.count("\n## STS") + text.count("\n## Bitext") > 0
    assert "instead of an interval" not in page(make(n=10, resamples=100).tabulate(spec), spec)


def test_a_metric_that_is_not_resampled_says_so(make, spec):
    """As the maximum of `stability`: no resample exceeds it."""
    table = make(resamples=100).tabulate(spec)
    block = table[table["column"] == "STS"].assign(low=np.nan, high=np.nan)
    assert without_interval(block, Metric("max", ())) == [
        "No number has an interval: this metric does not follow from resampled items."
    ]


def test_of_one_seed_intervals_are_not_said_to_be_over_seeds(make, spec):
    for seeds, told in (
        (1, "interval over items, and not over seeds, of which there is one."),
        (2, "seeds and items."),
    ):
        assert told in page(make(seeds=seeds, resamples=100).tabulate(spec), spec)


def test_tasks_of_one_protocol_share_a_column_unless_they_share_a_language(make, spec):
    study = make(resamples=100)
    for folder in list(study.scores.rglob("semrel-sts")):
        shutil.copytree(folder, folder.with_name("other-sts"))

    def columns(**languages):
        tasks = {f"{name}-sts": AvailableTask(protocol="sts", languages=codes) for name, codes in languages.items()}
        table = study.tabulate(spec, tasks=tasks)
        return list(table.drop_duplicates(["column", "language"])[["column", "language", "task"]].agg(" ".join, axis=1))

    apart = ["STS ind other-sts", "STS hau semrel-sts", "STS avg other-sts, semrel-sts"]
    assert columns(semrel=["hau"], other=["ind"]) == apart
    twice = ["STS (semrel-sts) hau semrel-sts", "STS (semrel-sts) avg semrel-sts"]
    twice += [f"STS (other-sts) {code} other-sts" for code in ("ind", "hau", "avg")]
    assert columns(semrel=["hau"], other=["hau", "ind"]) == twice


def test_a_missing_score_is_told(make, spec):
    study = make(resamples=100)
    path = study.score("xlmr", "xllora", 2, "semrel-sts", "ind")
    path.unlink()
    with pytest.raises(UserError, match=re.escape(f"{path}: no such file")):
        study.tabulate(spec)


def test_a_metric_that_no_encoder_of_a_backbone_has_is_left_out_of_a_partial_table(make, spec):
    study = make(seeds=1)
    for path in study.scores.glob("xlmr/*/*/*/kolibri-bitext/*.json"):
        record = read_json(path)
        del record["metrics"]["accuracy"]
        write_json(record, path)
    table = study.tabulate(spec.model_copy(update={"partial": True}))
    assert {*table.loc[table["backbone"] == "xlmr", "metric"]} == {"spearman"}
    with pytest.raises(UserError, match="no metric 'accuracy'"):
        study.tabulate(spec)


def test_a_score_at_odds_with_its_items_is_told(make, spec):
    study = make(resamples=100)
    path = study.score("xlmr", "base", 0, "kolibri-bitext", "ind")
    write_json(read_json(path) | {"metrics": {"accuracy": 0.99}}, path)
    with pytest.raises(UserError, match="its items give"):
        study.tabulate(spec)


@pytest.mark.parametrize(("old", "new"), [("item-3\t", "item-x\t"), ("\n", "\r\n")])
def test_systems_must_have_been_asked_the_same(make, spec, old, new):
    study = make(resamples=100)
    path = study.score("xlmr", "xllora", 1, "kolibri-bitext", "ind").with_suffix(".items.tsv")
    path.write_bytes(path.read_text().replace(old, new).encode())
    if old == "\n":  # line endings are no difference
        study.tabulate(spec)
        return
    with pytest.raises(UserError, match="not the items of"):
        study.tabulate(spec)


def test_a_baseline_that_is_no_recipe_is_told(study, spec):
    with pytest.raises(UserError, match=r"baseline 'mine'.*recipes"):
        study.tabulate(spec, baseline="mine")


def test_a_study_without_a_fitting_task_is_told(study, spec):
    with pytest.raises(UserError, match="Table .*protocol sts or bitext"):
        study.tabulate(spec, tasks={})


def test_the_layout_is_the_papers(table, spec):
    text = page(table, spec)
    assert "| Method | ind | hau | avg | Rows |" in text and "3; Base Encoder 1" in text and "hau 80" in text
    block = text.split("## ")[1]
    order = [line.split(" | ")[0].removeprefix("| ") for line in block.splitlines() if line.startswith("| ")][2:]
    assert order[::2] == list(spec.recipes.values()) and set(order[1::2]) == {"*paper*"}
    best = [line for line in block.splitlines() if "**" in line and line.startswith("|")]
    assert len(best) == 1 and best[0].count("**") == 6 and "XL-LoRA" in best[0] and best[0].count("▲") == 3
    assert "▲" not in next(line for line in block.splitlines() if line.startswith("| Cross Lingual"))


def test_the_rows_that_encoders_were_trained_on_stand_beside_their_numbers(table, spec):
    assert (cell(table, "xllora", "hau")["rows"], cell(table, "xllora", "ind")["rows"]) == (1288, 12880)
    assert cell(table, "base", "hau")["rows"] == 0 and table.loc[table["language"] == "avg", "rows"].isna().all()
    lines = page(table, spec).splitlines()
    assert {"Base Encoder": "0 |", "Cross Lingual": "64 |"}.items() <= _first(lines).items()
    assert _first(lines)["Synth - XL-LoRA"] == "ind 12,880, hau 1,288 |"
    assert "Rows: what an encoder was last trained on." in "\n".join(lines)


def _first(lines: list[str]) -> dict[str, str]:
    """Method -> the last cell of its row in the first grid."""
    grid = lines[lines.index("| Method | ind | hau | avg | Rows |") :]
    return {line.split(" | ")[0].removeprefix("| "): line.split(" | ")[-1] for line in grid[: grid.index("")]}


def test_scores_that_do_not_know_their_rows_have_no_column_of_them(make, spec):
    study = make(resamples=100)
    for path in study.scores.rglob("*.json"):
        write_json({key: value for key, value in read_json(path).items() if key != "encoder"}, path)
    table = study.tabulate(spec)
    assert table["rows"].isna().all() and "| Method | ind | hau | avg |\n" in page(table, spec)


def test_rows_of_many_languages_are_told_by_their_ends(table):
    rows = table[table["column"] == "STS"]
    several = pd.concat([rows.assign(language=code) for code in ("hau", "ind", "kin", "swh")])
    assert trained_on(rows)["prompting"] == "ind 60, hau 6" and trained_on(several)["prompting"] == "6 to 60"


def test_a_single_language_has_no_average(make, spec):
    text = page(make(languages=("hau",), resamples=100).tabulate(spec), spec)
    assert "| Method | hau | Rows |" in text and "avg" not in text.split("## The paper's")[0]


def test_a_table_survives_the_disk(table, tmp_path):
    write(table, tmp_path / "table.csv")
    pd.testing.assert_frame_equal(read(tmp_path / "table.csv"), table, check_dtype=False)
    first = (tmp_path / "table.csv").read_text().splitlines()
    assert first[0] == ",".join(COLUMNS) and "nan" not in "".join(first)
    written = pd.read_csv(tmp_path / "table.csv", dtype=str, keep_default_na=False).iloc[-1]
    lengths = {name: len(written[name].partition(".")[2]) for name in ("value", "difference_low", "p_adjusted", "n")}
    assert lengths == {"value": 6, "difference_low": 6, "p_adjusted": 4, "n": 0}


@pytest.mark.parametrize(
    ("more", "printed"), [(0.0004, "+0.000 [0.000, 0.000] ▲"), (-0.0004, "-0.000 [-0.000, -0.000] ▼")]
)
def test_a_difference_below_what_is_printed_is_marked_by_its_sign(tmp_path, more, printed):
    """Alignment of 600 pairs by two encoders that are nearly alike: the difference is printed as 0.000."""
    rng = np.random.default_rng(0)
    alike = rng.uniform(0.02, 0.03, 600)
    scores = tmp_path / "scores"
    for recipe, distances in (("base", alike), ("other", alike + more + rng.normal(0, 0.0005, 600))):
        path = scores / f"b/{recipe}/hau/0/geometry/hau.json"
        items = pd.DataFrame({"id": [f"{place}" for place in range(600)], "distance": distances})
        write_table(items, path.with_suffix(".items.tsv"))
        about = {"protocol": "geometry", "metrics": {"alignment": distances.mean()}, "items": "hau.items.tsv"}
        write_json(about | {"dataset": {"origin": [{"kind": "hub", "name": "here"}]}}, path)
    column = {"label": "Alignment", "protocol": "geometry", "metric": "alignment"}
    recipes = {"base": "Base", "other": "Other"}
    of_table = TableSpec.model_validate({"title": "T", "caption": "c", "columns": [column], "recipes": recipes})
    tasks = {"geometry": AvailableTask(protocol="geometry", languages=["hau"])}
    systems = [AvailableRecipe(recipe=recipe, language="*", seeds=[0]) for recipe in recipes]
    blocks = plan(of_table, systems, {"b": AvailableModel()}, tasks, "base")
    measured = [*measure_blocks(blocks, scores, Statistics(), of_table)]
    write(tabulate(measured, Statistics(), Published(None, tmp_path)), tmp_path / "table.csv")
    row = cell(read(tmp_path / "table.csv"), "other", "hau", "Alignment", "b")
    assert difference(row, 3) == printed


def test_no_difference_has_no_minus():
    none = {"difference": -0.0, "difference_low": -0.0, "difference_high": 0.04, "p_adjusted": 1.0, "level": 0.95}
    assert difference(none) == "+0.0 [0.0, 0.0]"


def test_a_tenth_is_rounded_from_the_score_itself(make, spec, tmp_path):
    """13 hits of 107 are 12.1495 per cent."""
    study = make(languages=("hau",), recipes=("crosslingual", "xllora"), seeds=1, n=107, resamples=100)
    for recipe in ("crosslingual", "xllora"):
        hits = pd.DataFrame({name: np.arange(107) < 13 for name in ("forward", "backward")}).astype(int)
        write_score(study.score("xlmr", recipe, 1, "kolibri-bitext", "hau"), "bitext", hits, 13 / 107, "here")
    write(study.tabulate(spec), tmp_path / "table.csv")
    assert "**12.1** [" in page(read(tmp_path / "table.csv"), spec).partition("Bitext retrieval, xlmr")[2]


def test_another_csv_is_refused(tmp_path):
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(UserError, match="expected a table made by tabulate"):
        read(tmp_path / "other.csv")
    with pytest.raises(UserError, match="no such file"):
        read(tmp_path / "none.csv")


def test_a_pair_is_compared_as_a_row_with_the_baseline_is(study, spec):
    pairs = [("xllora", "composition"), ("base", "composition")]
    found = study.compare(spec.model_copy(update={"compare": pairs}))
    rows = study.tabulate(spec, baseline="composition")
    where, numbers = ["recipe", "baseline", "column", "language"], COMPARED[COMPARED.index("level") :]
    same = rows[rows["recipe"].isin(["xllora", "base"])].set_index(where)
    pd.testing.assert_frame_equal(found.set_index(where)[numbers].sort_index(), same[numbers].sort_index())
    assert len(found) == len(same) == 2 * 2 * 3 and found["p_adjusted"].notna().all()
    assert found[["seeds", "baseline_seeds"]].drop_duplicates().values.tolist() == [[3, 3], [1, 3]]


def test_pairs_are_below_the_table(study, spec, table):
    differences = study.compare(spec)
    text = page(table, spec, differences).partition("## Rows compared with each other")[2].partition("\n## ")[0]
    row = differences.set_index(["recipe", "baseline", "column", "language"]).loc[
        ("xllora", "crosslingual", "STS", "avg")
    ]
    cell = f"+{row['difference']:.1f} [{row['difference_low']:.1f}, {row['difference_high']:.1f}] ▲"
    assert f"| STS, xlmr | Synth - XL-LoRA less Cross Lingual | {cell} |" in text and row["p_adjusted"] < 0.05
    assert text.count("\n| STS") == len(spec.compare)
    assert page(table, spec, differences.iloc[:0]) == page(table, spec)


def test_a_pair_in_one_language_and_one_over_backbones_are_below_it_too(make, spec):
    both = spec.model_copy(update={"over_backbones": True, "compare": [("xllora", "base")]})
    study = make(languages=("hau",), backbones={"a": "XLM-R", "b": "mmBERT"}, n=20, resamples=100)
    text = page(study.tabulate(both), both, study.compare(both)).partition("## Rows compared with each other")[2]
    names = [line.split(" | ")[0] for line in text.splitlines() if line.startswith("| STS")][:3]
    assert names == ["| STS, a, hau", "| STS, b, hau", "| STS, over backbones"]


def test_the_program_writes_the_same_bytes_twice(study, spec, table, tmp_path):
    for run in ("a", "b"):
        kinds = {"output": "csv", "compared": "compared.csv", "layout": "md"}
        outputs = [part for name, kind in kinds.items() for part in (f"--{name}", str(tmp_path / f"{run}.{kind}"))]
        call(program, ["--spec", "seedbed/resources/tables/table1.yaml", *study.arguments(spec), *outputs])
    for kind in kinds.values():
        assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()
    differences = study.compare(spec)
    assert (tmp_path / "a.md").read_text() == page(table, spec, differences)
    written = read(tmp_path / "a.csv"), read(tmp_path / "a.compared.csv", COMPARED)
    assert page(written[0], spec, written[1]) == page(table, spec, differences)


def test_what_others_report_stands_below_ours_and_is_in_no_csv(study, spec, tmp_path):
    arguments, plan = study.arguments(spec), study.scores.with_name("plan.json")
    quotes = [{"system": "BGE-M3", "language": "hau", "value": 56.5, "source": "their paper, table 2"}]
    blocks = [block | {"quoted": quotes if block["column"]["label"] == "STS" else []} for block in read_json(plan)]
    write_json(blocks, plan)
    outputs = ["--output", str(tmp_path / "a.csv"), "--compared", str(tmp_path / "b.csv")]
    outputs += ["--layout", str(tmp_path / "a.md")]
    call(program, ["--spec", "seedbed/resources/tables/table1.yaml", *arguments, *outputs])
    first, *others = (tmp_path / "a.md").read_text().split("\n## ")[1:]
    assert first.rstrip().endswith("| BGE-M3, quoted | 56.5 |  |  |  |")  # hau, ind, avg, rows
    assert "no interval and in no test. BGE-M3, quoted: their paper, table 2." in first
    assert all("BGE-M3" not in other for other in others) and "BGE-M3" not in (tmp_path / "a.csv").read_text()

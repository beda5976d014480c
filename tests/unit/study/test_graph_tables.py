"""What tables, figures, maps and the report are made of, of the paper's own study and of MINERS'."""

from __future__ import annotations

from collections import Counter
from math import comb
from pathlib import Path

import pytest
import yaml

from seedbed import yamls
from seedbed.evaluation.settings import Task
from seedbed.io import UserError
from seedbed.resources import specs
from seedbed.study.environment import require_own_specs
from seedbed.study.graph.available import Available
from seedbed.study.graph.figure import Figure, MapPoints
from seedbed.study.graph.outside import StudyReference
from seedbed.study.graph.product import Product
from seedbed.study.graph.report import Paper, Report
from seedbed.study.graph.table import Table, TablePlan
from seedbed.study.model import Study
from seedbed.study.remarks import remarks
from seedbed.tables.figures.specs import FigureSpec
from seedbed.tables.specs import TableSpec
from tests.asking import TOLD, study_of, within

MAP = ("miners_figure3", "xlm-r", "published")
LANGUAGES = ["ace", "ban", "bbc", "bjn", "bug", "eng", "ind", "jav", "mad", "min", "nij", "sun"]
"""Those of NusaX, each with a training set."""
MAPPED = ["base-last-four", "neighxlm-k2-swh"]


@pytest.fixture(scope="module")
def miners():
    return study_of("config/miners.yaml")


def read(product: Product, argument: str):
    """Files that its job reads, within the folder of results."""
    return within(product.inputs()[argument], product.study)


def files_of(study: Study, paper: str) -> list[str]:
    """What a study can make of a paper, within the folder of results."""
    return within(Paper.get(study, paper).files(), study)


def test_written_triplets_stand_beside_translation_in_tests_of_one_language_and_of_two() -> None:
    """Six languages and all pairs of them, for each of five recipes of one backbone."""
    modular = study_of("config/modular.yaml")
    scores = read(Table.get(modular, "modular_written"), "scores")
    found = Counter("/".join(score.split("/")[1:3]) for score in scores)
    recipes = ("multi-m", "multi-m-prompting", "multi-m-composition", "multi-mc", "multi-mc-xllora")
    assert found == {f"LaBSE/{recipe}": 6 + comb(6, 2) for recipe in recipes}
    assert "modular_written" not in modular.tables, "its generator writes on request"


def test_labels_in_context_are_shown_of_every_number_of_shots() -> None:
    study = study_of(TOLD)
    blocks = TablePlan.get(study, "in_context").blocks
    shown = {block.backbone: [system.recipe for system in block.systems] for block in blocks}
    assert shown == {"likely": ["zero-shot", "one-shot", "far"], "served": ["zero-shot", "few-shot"]}


def test_tasks_that_nothing_reads_are_told() -> None:
    sts = {"protocol": "sts", "source": {"file": "own/{lang}.sts.tsv"}}
    tasks = {
        "dev": sts,
        "report": sts,
        "shown": {**sts, "protocol": "bitext"},
        "of-figure": {**sts, "protocol": "layers"},
        "set": {**sts, "protocol": "geometry"},
        "of-set": {"protocol": "retrieval", "set_of": "set"},
        "asked": {**sts, "protocol": "norms", "on_request": True},
        "absent": {**sts, "protocol": "norms", "languages": ["swh"]},
        "forgotten": {**sts, "protocol": "norms"},
    }
    changes = {"best": {"dev": "dev", "test": "report"}, "tables": ["translations", "retrieval"], "figures": ["layers"]}
    (said,) = remarks(study_of(TOLD, tasks=tasks, compute=None, classifiers={}, **changes))
    assert said.startswith("tasks.forgotten: ") and "`tables`" in said and "protocol norms" in said


def test_a_plan_is_found_once(paper) -> None:
    blocks = TablePlan.get(paper, "table1").blocks
    columns = {(block.backbone, block.column.protocol) for block in blocks}
    assert columns == {(backbone, protocol) for backbone in ("xlm-r", "mmbert") for protocol in ("sts", "bitext")}
    assert {test for block in blocks for test in block.tests.values()} == {"semrel-sts", "sts17-sts", "flores-bitext"}
    assert TablePlan.get(paper, "table1").blocks is blocks
    again = Available.get(paper).blocks(TablePlan.get(paper, "table1").spec)
    assert again == blocks and again is not blocks


def test_a_plan_is_of_all_that_a_table_can_print(told) -> None:
    available = Available.get(told)
    recipes, backbones = {system.recipe: system for system in available.recipes}, available.backbones
    assert recipes["picked"].chosen_on == "dev" and recipes["xllora"].seeds == [3, 5]
    triplets = {name: recipes[name].triplets for name in ("prompting", "xllora", "base")}
    # Positives in the pivot language share no words with anchors.
    assert triplets == {"prompting": "triplets/tiny/prompting/{lang}.tsv", "xllora": "", "base": ""}
    assert backbones["chosen"].tasks == ["bitext", "knn", "knn-xl"] and backbones["bert"].tasks is None
    folders = {system.recipe: system.language for system in available.variants}
    assert folders == {
        **{"base": "mul", "task-target": "*", "task-pivot": "eng", "composition": "*"},
        **{"source": "mul", "translated": "mul"},
        **{"zero-shot": "mul", "one-shot": "mul", "few-shot": "mul", "far": "mul"},
    }
    assert [*available.classifiers] == [*told.classifiers]


def test_a_tables_scores_are_those_of_its_plan(paper) -> None:
    table = Table.get(paper, "table1")
    scores = read(table, "scores")
    assert len(scores) == 2 * 6 * 7 and scores[0] == "scores/mmbert/base/mul/afr.all.json"
    assert "scores/xlm-r/crosslingual/eng/kor.all.json" in scores
    assert read(table, "triplets") == [], "no column measures overlap"
    assert "xlm-r" in {block.backbone for block in table.plan.settings()["blocks"]}


def test_overlap_is_measured_on_triplets(paper) -> None:
    texts = read(Table.get(paper, "bootstrapping_figure5"), "triplets")
    assert {"corpora/eng/nli.tsv", "triplets/gemma-3-27b/composition/hau.tsv"} <= {*texts}


def test_a_table_has_a_spec_and_maybe_a_papers_numbers(paper) -> None:
    table, figure = Table.get(paper, "table1"), Figure.get(paper, "table1")
    assert table.plan.spec.columns and figure.spec.table == "table1"
    assert read(table, "spec") == "seedbed/resources/tables/table1.yaml"
    assert read(figure, "spec") == "seedbed/resources/figures/table1.yaml"
    assert read(table, "paper") == "seedbed/resources/paper/bootstrapping_table1.csv"
    assert read(Table.get(paper, "composition_scale"), "paper") == ""
    metrics = tuple(f"seedbed/evaluation/protocols/{name}.py:METRICS" for name in ("bitext", "sts"))
    assert table.code().modules == figure.code().modules == metrics
    assert Figure.get(paper, "miners_figure3").code().modules == (), "a map has no metric"
    for made in (table, figure):
        assert made.inputs()["spec"] in made.code().data, "an edit of any age makes it anew"


def test_a_table_is_made_where_one_of_its_columns_can_be(paper) -> None:
    """Paper 002's tables 2 and 11 are of a set that nobody has published."""
    lira = study_of("config/lira.yaml")

    def has_column(study: Study, table: str) -> bool:
        return Available.get(study).has_column(TablePlan.get(study, table).spec)

    there = {number: has_column(lira, f"lira_table{number}") for number in (1, 2, 3, 11)}
    assert there == {1: True, 2: False, 3: True, 11: False}
    assert not has_column(paper, "lira_table9"), "no task measures norms"
    assert has_column(paper, "table1"), "it may lack nothing"


@pytest.mark.parametrize(
    ("named", "figures"),
    [
        ({}, ["table1"]),
        ({"tables": ["labels"]}, []),
        ({"tables": ["labels", "layers", "table1"]}, ["layers", "table1"]),
        ({"tables": ["labels"], "figures": ["table1"]}, ["table1"]),
        ({"tables": ["table1"], "figures": []}, []),
    ],
)
def test_figures_left_out_are_those_of_the_tables(named, figures) -> None:
    study = yamls.read(TOLD)
    kept = {key: value for key, value in study.items() if key not in ("tables", "figures")}
    assert Study.model_validate(kept | named).figures == figures


def test_every_spec_of_the_library_can_be_read() -> None:
    for file in specs("tables").values():
        TableSpec.load(file)
    for file in specs("figures").values():
        FigureSpec.load(file)


def test_every_spec_of_ones_own_is_read_at_the_start(tmp_path, monkeypatch) -> None:
    require_own_specs()
    (tmp_path / "resources/tables").mkdir(parents=True)
    (tmp_path / "resources/tables/mine.yaml").write_text(yaml.safe_dump({"title": "Mine"}))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="mine"):
        require_own_specs()
    mine = yamls.read(specs("tables")["table1"]) | {"paper": {"csv": "mine.csv"}}
    (tmp_path / "resources/tables/mine.yaml").write_text(yaml.safe_dump(mine))
    with pytest.raises(UserError, match="mine.csv: no such file"):
        require_own_specs()


def test_a_paper_has_its_tables_figures_and_cost(paper, told, miners) -> None:
    found = files_of(miners, "miners")
    assert {"tables/miners_table2.csv", "figures/miners_figure3.svg", "compute/miners_table4.md"} <= {*found}
    fewer = files_of(told, "miners")
    assert "figures/miners_figure3.svg" not in fewer, "the study has none of the backbones of its map"
    assert "compute/miners_table4.md" in fewer and "tables/table1.csv" not in fewer
    assert "compute/miners_table4.md" not in files_of(paper, "miners")


def test_a_paper_is_made_without_what_nobody_has() -> None:
    lira = study_of("config/lira.yaml")
    found = files_of(lira, "lira")
    made = [f"tables/lira_table{number}.csv" for number in (1, 3, 4, 5, 7, 8, 9, 10)]
    made += ["tables/lira_bound.csv", "tables/lira_figure10.csv"]
    assert sorted(made) == [file for file in found if file.startswith("tables/")], "LazRetrieval is in tables 2 and 11"
    assert sorted(lira.tables) == sorted(Path(file).stem for file in made)
    sets = {name: {"protocol": protocol, "source": {"file": "own/{lang}.tsv"}, "on_request": True, "languages": ["tha"]}
            for name, protocol in (("laz", "retrieval"), ("laz-query", "lengths"), ("laz-item", "lengths"))}  # fmt: skip
    lira.tasks.update({name: Task.model_validate(spec) for name, spec in sets.items()})
    assert {"tables/lira_table2.csv", "tables/lira_table11.csv"} <= {*files_of(lira, "lira")}


def test_a_report_shows_what_the_tables_rest_on(paper) -> None:
    report = Report.get(paper)
    encoders = within([encoder.path for encoder in report.encoders], paper)
    assert {f"encoders/xlm-r/{name}/seedbed.json" for name in ("crosslingual/eng/13", "base/mul/0")} <= {*encoders}
    trained = [encoder for encoder in report.encoders if encoder.recipe == "xllora"]
    assert len(trained) == 2 * 7 * 4  # backbones, languages, seeds
    cards = within(report.settings()["cards"], paper)
    assert "encoders/xlm-r/xllora/hau/13/README.md" in cards and "encoders/xlm-r/xllora/hau/21/README.md" not in cards
    audits = read(report, "audits")
    assert len(audits) == 3 * 7 and "triplets/gemma-3-27b/xllora/hau.audit.json" in audits
    assert within(report.triplets("<results>/{lang}"), paper).count("hau") == 3


def test_a_report_shows_what_several_languages_learnt_from_one_by_one() -> None:
    """A folder of encoders of several languages is no language."""
    found = within(
        Report.get(study_of("config/modular.yaml")).triplets("<results>/{lang}"), study_of("config/modular.yaml")
    )
    assert "mul" not in found and {"hau", "swh"} & {*found}


def test_a_report_asks_for_no_triplets_of_encoders_that_are_published(paper) -> None:
    made = Report.get(paper)
    given = {name: {"file": "own/encoder"} for name in paper.backbones}
    recipes = {name: one.updated({"published": given}) if one.written else one for name, one in paper.recipes.items()}
    taken = paper.model_copy(update={"recipes": recipes, "start": "encoders"})
    assert made.triplets("<results>/{lang}") and not Report.get(taken).triplets("<results>/{lang}")


def test_a_report_shows_the_neighbours_that_its_encoders_learnt_from(paper) -> None:
    assert read(Report.get(paper), "neighbours") == []
    found = read(Report.get(study_of("config/neighxlm.yaml")), "neighbours")
    folder = "encoders/infoxlm/neighbours/layer9"
    assert found == [f"{folder}/swh.audit.json", f"{folder}/swh.tsv"], "one file of three recipes, four seeds"


def test_a_figure_is_drawn_from_a_table_or_from_the_points_of_a_map(paper, miners) -> None:
    assert read(Figure.get(paper, "table1"), "data") == "tables/table1.csv"
    points = [f"maps/miners_figure3/{backbone}/published.tsv" for backbone in ("me5-large", "xlm-r")]
    assert read(Figure.get(miners, "miners_figure3"), "data") == points


def test_a_map_is_of_the_training_texts_of_its_languages(miners) -> None:
    drawn = MapPoints.get(miners, *MAP)
    mapped, told = drawn.mapped, drawn.settings()
    assert (mapped.backbones, mapped.languages) == (["me5-large", "xlm-r"], LANGUAGES)
    assert read(drawn, "encoder") == "encoders/xlm-r/published/mul/0/seedbed.json"
    files = {lang: f"corpora/{lang}/nusax-knn_train.tsv" for lang in LANGUAGES}
    assert read(drawn, "texts") == files
    assert told["map"].task == "nusax-knn"
    assert told["batch_size"] == miners.tasks["nusax-knn"].batch_size


def test_a_map_of_pairs_is_of_test_sets_by_several_recipes() -> None:
    study = study_of("config/neighxlm.yaml")
    points = [f"maps/neighxlm_figure5/infoxlm/{name}.tsv" for name in MAPPED]
    assert read(Figure.get(study, "neighxlm_figure5"), "data") == points
    base, trained = (MapPoints.get(study, "neighxlm_figure5", "infoxlm", name) for name in MAPPED)
    assert read(base, "encoder") == "encoders/infoxlm/base-last-four/mul/0/seedbed.json"
    assert read(trained, "encoder") == "encoders/infoxlm/neighxlm-k2-swh/swh/42/seedbed.json"
    assert read(base, "texts") == {lang: f"corpora/{lang}/tatoeba.tsv" for lang in ("swh", "fra")}
    shown = trained.settings()["map"]
    assert (shown.pairs, shown.method, shown.neighbours) == (100, "umap", 15)


def test_a_study_is_verified_by_the_reference_of_its_first_configuration(paper) -> None:
    reference = StudyReference.of(paper, ["config/demo.yaml", "more.yaml"])
    assert reference.file.endswith("resources/reference/demo.yaml")
    assert reference.tables() == ["results/tables/table1.csv"]

"""What tables, figures, maps and the report are made of, of the paper's own study and of MINERS'."""

from __future__ import annotations

from collections import Counter
from math import comb
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from seedbed.evaluation.settings import Task
from seedbed.io import UserError
from seedbed.resources import specs
from seedbed.study import paths
from seedbed.study.graph import operations, plans, tables
from seedbed.study.model import Study
from tests.asking import TOLD, asking, study_of

TABLE, FIGURE = {"table": "table1"}, {"figure": "table1"}
MAP = {"figure": "miners_figure3", "backbone": "xlm-r", "recipe": "published"}
LANGUAGES = ["ace", "ban", "bbc", "bjn", "bug", "eng", "ind", "jav", "mad", "min", "nij", "sun"]
"""Those of NusaX, each with a training set."""
MAPPED = ["base-last-four", "neighxlm-k2-swh"]


@pytest.fixture(scope="module")
def miners():
    return study_of("config/miners.yaml")


def test_written_triplets_stand_beside_translation_in_tests_of_one_language_and_of_two() -> None:
    """Six languages and all pairs of them, for each of five recipes of one backbone."""
    modular = study_of("config/modular.yaml")
    scores = asking(modular)(tables.scores, table="modular_written")
    found = Counter("/".join(score.split("/")[1:3]) for score in scores)
    recipes = ("multi-m", "multi-m-prompting", "multi-m-composition", "multi-mc", "multi-mc-xllora")
    assert found == {f"LaBSE/{recipe}": 6 + comb(6, 2) for recipe in recipes}
    assert "modular_written" not in modular.tables, "its generator writes on request"


def test_a_plan_is_found_once(paper) -> None:
    blocks = plans.plan(paper, "table1")
    columns = {(block.backbone, block.column.protocol) for block in blocks}
    assert columns == {(backbone, protocol) for backbone in ("xlm-r", "mmbert") for protocol in ("sts", "bitext")}
    assert {test for block in blocks for test in block.tests.values()} == {"semrel-sts", "sts17-sts", "flores-bitext"}
    assert plans.plan(paper, "table1") is blocks
    again = plans.of_spec(paper, tables.table_of("table1"))
    assert again == blocks and again is not blocks


def test_a_plan_is_of_all_that_a_table_can_print(told) -> None:
    systems, models = plans.of_encoders(told)
    recipes = {system.recipe: system for system in systems}
    assert recipes["picked"].chosen_on == "dev" and recipes["xllora"].seeds == [3, 5]
    triplets = {name: recipes[name].triplets for name in ("prompting", "xllora", "base")}
    # Positives in the pivot language share no words with anchors.
    assert triplets == {"prompting": "triplets/tiny/prompting/{lang}.tsv", "xllora": "", "base": ""}
    assert models["chosen"].tasks == ["bitext", "knn", "knn-xl"] and models["bert"].tasks is None
    systems, models = plans.of_classifiers(told)
    folders = {system.recipe: system.language for system in systems}
    assert folders == {
        **{"base": "mul", "task-target": "*", "task-pivot": "eng", "composition": "*"},
        **{"source": "mul", "translated": "mul"},
        **{"zero-shot": "mul", "one-shot": "mul", "few-shot": "mul", "far": "mul"},
    }
    assert [*models] == [*told.classifiers]


def test_a_tables_scores_are_those_of_its_plan(paper) -> None:
    scores = asking(paper)(tables.scores, **TABLE)
    assert len(scores) == 2 * 6 * 7 and scores[0] == "scores/mmbert/base/mul/afr.all.json"
    assert "scores/xlm-r/crosslingual/eng/kor.all.json" in scores
    assert asking(paper)(tables.texts, **TABLE) == [], "no column measures overlap"
    assert "xlm-r" in {block.backbone for block in tables.plan(paper, SimpleNamespace(**TABLE))}


def test_overlap_is_measured_on_triplets(paper) -> None:
    texts = asking(paper)(tables.texts, table="bootstrapping_figure5")
    assert {"corpora/eng/nli.tsv", "triplets/gemma-3-27b/composition/hau.tsv"} <= {*texts}


def test_a_table_has_a_spec_and_maybe_a_papers_numbers(paper) -> None:
    ask = asking(paper)
    assert tables.table_of("table1").columns and tables.figure_of("table1").table == "table1"
    assert ask(tables.spec, **TABLE) == "seedbed/resources/tables/table1.yaml"
    assert ask(tables.spec, **FIGURE) == "seedbed/resources/figures/table1.yaml"
    assert ask(tables.paper, **TABLE) == "seedbed/resources/paper/bootstrapping_table1.csv"
    assert ask(tables.paper, table="composition_scale") == []
    metrics = [f"seedbed/evaluation/protocols/{name}.py:METRICS" for name in ("bitext", "sts")]
    assert ask(tables.metrics, **TABLE) == ask(tables.metrics, **FIGURE) == metrics
    assert ask(tables.metrics, figure="miners_figure3") == [], "a map has no metric"


def test_a_table_is_made_where_one_of_its_columns_can_be(paper) -> None:
    """Paper 002's tables 2 and 11 are of a set that nobody has published."""
    lira = study_of("config/lira.yaml")
    there = {number: tables.has_column(lira, tables.table_of(f"lira_table{number}")) for number in (1, 2, 3, 11)}
    assert there == {1: True, 2: False, 3: True, 11: False}
    assert not tables.has_column(paper, tables.table_of("lira_table9")), "no task measures norms"
    assert tables.has_column(paper, tables.table_of("table1")), "it may lack nothing"


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
    study = yaml.safe_load(Path(TOLD).read_text())
    kept = {key: value for key, value in study.items() if key not in ("tables", "figures")}
    assert Study.model_validate(kept | named).figures == figures


def test_every_spec_of_the_library_can_be_read() -> None:
    for name in specs("tables"):
        tables.table_of(name)
    for name in specs("figures"):
        tables.figure_of(name)


def test_every_spec_of_ones_own_is_read_at_the_start(tmp_path, monkeypatch) -> None:
    tables.check_specs()
    (tmp_path / "resources/tables").mkdir(parents=True)
    (tmp_path / "resources/tables/mine.yaml").write_text(yaml.safe_dump({"title": "Mine"}))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="mine"):
        tables.check_specs()


def test_a_paper_has_its_tables_figures_and_cost(paper, told, miners) -> None:
    found = asking(miners)(tables.of_paper, "miners")
    assert {"tables/miners_table2.csv", "figures/miners_figure3.svg", "compute/miners_table4.md"} <= {*found}
    fewer = asking(told)(tables.of_paper, "miners")
    assert "figures/miners_figure3.svg" not in fewer, "the study has none of the backbones of its map"
    assert "compute/miners_table4.md" in fewer and "tables/table1.csv" not in fewer
    assert "compute/miners_table4.md" not in asking(paper)(tables.of_paper, "miners")


def test_a_paper_is_made_without_what_nobody_has() -> None:
    lira = study_of("config/lira.yaml")
    found = asking(lira)(tables.of_paper, "lira")
    made = [f"tables/lira_table{number}.csv" for number in (1, 3, 4, 5, 7, 8, 9, 10)]
    made += ["tables/lira_bound.csv", "tables/lira_figure10.csv"]
    assert sorted(made) == [file for file in found if file.startswith("tables/")], "LazRetrieval is in tables 2 and 11"
    assert sorted(lira.tables) == sorted(Path(file).stem for file in made)
    sets = {name: {"protocol": protocol, "source": {"file": "own/{lang}.tsv"}, "on_request": True, "languages": ["tha"]}
            for name, protocol in (("laz", "retrieval"), ("laz-query", "lengths"), ("laz-item", "lengths"))}  # fmt: skip
    lira.tasks.update({name: Task.model_validate(spec) for name, spec in sets.items()})
    assert {"tables/lira_table2.csv", "tables/lira_table11.csv"} <= {*asking(lira)(tables.of_paper, "lira")}


def test_a_report_shows_what_the_tables_rest_on(paper) -> None:
    encoders = tables.shown_encoders(paper)
    assert ("xlm-r", "crosslingual", "eng", 13) in encoders and ("xlm-r", "base", "mul", 0) in encoders
    trained = [cell for cell in encoders if cell[1] == "xllora"]
    assert len(trained) == 2 * 7 * 4  # backbones, languages, seeds
    ask = asking(paper)
    cards = ask(tables.cards)
    assert "encoders/xlm-r/xllora/hau/13/README.md" in cards and "encoders/xlm-r/xllora/hau/21/README.md" not in cards
    audits = ask(tables.shown_triplets, paths.AUDIT)
    assert len(audits) == 3 * 7 and "triplets/gemma-3-27b/xllora/hau.audit.json" in audits
    assert ask(tables.shown_triplets, "<results>/{lang}").count("hau") == 3


def test_a_report_shows_the_neighbours_that_its_encoders_learnt_from(paper) -> None:
    assert asking(paper)(tables.shown_neighbours) == []
    found = asking(study_of("config/neighxlm.yaml"))(tables.shown_neighbours)
    folder = "encoders/infoxlm/neighbours/layer9"
    assert found == [f"{folder}/swh.audit.json", f"{folder}/swh.tsv"], "one file of three recipes, four seeds"


def test_a_figure_is_drawn_from_a_table_or_from_the_points_of_a_map(paper, miners) -> None:
    assert asking(paper)(tables.drawn_from, **FIGURE) == "tables/table1.csv"
    points = [f"maps/miners_figure3/{backbone}/published.tsv" for backbone in ("me5-large", "xlm-r")]
    assert asking(miners)(tables.drawn_from, **MAP) == points


def test_a_map_is_of_the_training_texts_of_its_languages(miners) -> None:
    mapped = plans.mapped(miners, tables.figure_of("miners_figure3"))
    assert (mapped.backbones, mapped.languages) == (["me5-large", "xlm-r"], LANGUAGES)
    ask = asking(miners)
    assert ask(tables.mapped_encoder, **MAP) == "encoders/xlm-r/published/mul/0/seedbed.json"
    files = {lang: f"corpora/{lang}/nusax-knn_train.tsv" for lang in LANGUAGES}
    assert ask(tables.mapped_texts, **MAP) == files
    assert ask(tables.map_settings, **MAP).task == "nusax-knn"
    assert ask(tables.map_rows, **MAP) == miners.tasks["nusax-knn"].batch_size


def test_a_map_of_pairs_is_of_test_sets_by_several_recipes() -> None:
    ask = asking(study_of("config/neighxlm.yaml"))
    base, trained = ({"figure": "neighxlm_figure5", "backbone": "infoxlm", "recipe": name} for name in MAPPED)
    assert ask(tables.drawn_from, **base) == [f"maps/neighxlm_figure5/infoxlm/{name}.tsv" for name in MAPPED]
    assert ask(tables.mapped_encoder, **base) == "encoders/infoxlm/base-last-four/mul/0/seedbed.json"
    assert ask(tables.mapped_encoder, **trained) == "encoders/infoxlm/neighxlm-k2-swh/swh/42/seedbed.json"
    assert ask(tables.mapped_texts, **base) == {lang: f"corpora/{lang}/tatoeba.tsv" for lang in ("swh", "fra")}
    shown = ask(tables.map_settings, **trained)
    assert (shown.pairs, shown.method, shown.neighbours) == (100, "umap", 15)


def test_a_study_is_verified_by_the_reference_of_its_first_configuration(paper) -> None:
    assert operations.reference(paper, ["config/demo.yaml", "more.yaml"]).endswith("resources/reference/demo.yaml")
    assert operations.verified(paper, None, ["config/demo.yaml"]) == ["results/tables/table1.csv"]

"""Among which encoders the best one of a language is chosen, and by which scores."""

from __future__ import annotations

from typing import Any

import pytest

from seedbed import yamls
from seedbed.io import UserError
from seedbed.study.checks.prefixes import of_prefixes
from seedbed.study.graph.best_encoder import Answer, BestEncoder
from seedbed.study.graph.report import Report
from seedbed.study.jobs import Jobs
from seedbed.study.loading import load
from seedbed.study.model import Study
from tests.asking import TOLD, Wildcards, study_of, within

DEMO = "config/demo.yaml"


def chosen_by(**changes: Any):
    """The demo, with another choice."""
    return study_of(DEMO, best=changes)


def hausa(study: Study) -> BestEncoder:
    """The best encoder of Hausa."""
    return BestEncoder.get(study, "hau")


def given(best: BestEncoder, argument: str) -> Any:
    """What its program is told, or which files it reads, within the folder of results."""
    return within((best.inputs() | best.settings())[argument], best.study)


def test_one_is_chosen_of_each_language_that_two_tasks_test():
    assert Answer.get(study_of(DEMO)).best() == [f"results/demo/best/{code}/seedbed.json" for code in ("hau", "ind")]
    assert Answer.get(study_of(DEMO, best=None)).best() == []
    tasks = yamls.read(DEMO)["tasks"]
    study = study_of(DEMO, tasks={"graded-sts": tasks["graded-sts"]}, best={"dev": "graded-sts"})
    assert Answer.get(study).chosen == [], "nothing reports"


def test_a_language_that_the_named_test_lacks_has_no_other_in_its_place():
    tasks = yamls.read(DEMO)["tasks"]
    bitext = tasks["kolibri-bitext"]
    tasks |= {"kolibri-bitext": bitext | {"languages": ["hau"]}, "another-bitext": bitext}
    study = study_of(DEMO, tasks=tasks, best={"dev": "graded-sts", "test": "kolibri-bitext"})
    assert [BestEncoder.get(study, code).reported_on for code in ("hau", "ind")] == ["kolibri-bitext", ""]


def test_nothing_is_chosen_in_a_language_of_which_no_recipe_makes_an_encoder():
    recipes = {name: {"only": {"languages": ["hau"]}} for name in ("base", "unsupervised")}
    answer = Answer.get(study_of(DEMO, recipes=recipes, tables=[], figures=[]))
    assert [best.lang for best in answer.chosen] == ["hau"] and "ind" not in answer.listed


def test_graded_pairs_report_before_others():
    assert hausa(chosen_by(dev="kolibri-bitext")).reported_on == "graded-sts"
    assert hausa(chosen_by(dev="graded-sts")).reported_on == "kolibri-dev", "the first that does not choose"
    assert hausa(chosen_by(dev="kolibri-dev", mean_with=["graded-sts"])).reported_on == "kolibri-bitext"


def test_every_encoder_of_a_language_is_asked_for_with_its_scores_on_both_tasks():
    best = hausa(study_of(DEMO))
    folders = ["base/mul/0", "unsupervised/hau/1", "crosslingual/eng/1"]
    folders += [f"{recipe}/hau/1" for recipe in ("prompting", "composition", "xllora", "mixed")]
    assert given(best, "encoders") == [f"encoders/me5-small/{folder}/seedbed.json" for folder in folders]
    recipes = [score.split("/")[2] for score in given(best, "scores")]
    assert recipes == sorted(one.split("/")[0] for one in folders)
    assert given(best, "test") == ""
    assert best.code().modules == ("seedbed/evaluation/protocols/bitext.py:METRICS",)
    graded, sts = hausa(chosen_by(dev="kolibri-bitext")), "seedbed/evaluation/protocols/sts.py"
    assert given(graded, "test") == "corpora/hau/graded-sts.tsv"
    assert graded.code().modules == (f"{sts}:METRICS", f"{sts}:lexical")


def test_tasks_that_choose_together_do_so_in_languages_that_they_test():
    tasks = yamls.read(DEMO)["tasks"]
    study = study_of(DEMO, tasks=tasks | {"graded-sts": tasks["graded-sts"] | {"languages": ["hau"]}})
    chosen = {best.lang: best.chosen_on for best in Answer.get(study).chosen}
    assert chosen == {"hau": ["kolibri-dev", "graded-sts"], "ind": ["kolibri-dev"]}


def test_a_task_on_request_has_scores_of_its_own():
    scores = given(hausa(study_of(TOLD, best={"dev": "dev"})), "scores")
    assert "scores/bert/base/mul/hau.dev.json" in scores and "scores/bert/base/mul/hau.all.json" in scores


def test_what_has_no_weights_to_take_home_is_not_chosen():
    shown = {block.backbone for block in given(hausa(study_of(TOLD)), "blocks")}
    assert "bert" in shown and not shown & {"given", "chosen", "api"}


RECOMMENDED = {
    "recipe": "unsupervised",
    "test": "graded-sts",
    "also": ["kolibri-bitext"],
    "why": "It is.",
    "limits": "x",
}


def test_a_recommended_encoder_needs_no_task_that_chooses():
    """Its answer waits for every encoder, and for their scores on all tasks that it shows."""
    study = chosen_by(**RECOMMENDED)
    best, answer = hausa(study), Answer.get(study)
    assert given(best, "encoder") == "me5-small/unsupervised/hau/1"
    assert [block.tests for blocks in given(best, "also") for block in blocks] == [{"hau": "kolibri-bitext"}]
    assert best.scores == hausa(study_of(DEMO)).scores, "dev and test, as reported"
    assert BestEncoder.get(study, "ind").candidates == BestEncoder.get(study_of(DEMO), "ind").candidates
    every = [file for files in answer.listed.values() for file in files]
    assert len(every) == 14 and Jobs(study).inputs("report")(Wildcards())["encoders"] == [*dict.fromkeys(every)]
    assert (
        within(Report.get(study).inputs()["encoders"]["Hausa"][0], study)
        == "encoders/me5-small/base/mul/0/seedbed.json"
    )


def test_without_any_test_the_recommended_encoder_is_all_that_is_said():
    study = study_of(DEMO, tasks={}, tables=[], figures=[], best={"recipe": "xllora"})
    hau, ind = Answer.get(study).chosen
    assert (hau.lang, ind.lang) == ("hau", "ind") and given(hau, "blocks") == []
    assert given(ind, "encoder") == "me5-small/xllora/ind/1"
    assert given(hau, "scores") == [] and len(given(hau, "encoders")) == 7
    assert given(hau, "test") == "" and hau.code().modules == ()


def test_encoders_of_languages_without_a_choice_are_listed_too():
    study = study_of(DEMO, tasks={}, tables=[], figures=[], best=None)
    listed = {code: len(files) for code, files in Answer.get(study).listed.items()}
    assert listed == {"hau": 6, "ind": 6}, "those that are trained"
    several = Answer.get(study_of(DEMO, tasks={}, tables=[], figures=[], best=None, seeds=[1, 2]))
    assert several.listed == Answer.get(study).listed, "of each recipe the first seed"
    assert len(several.unchosen()) == 24, "all seeds are trained"


def test_encoders_of_a_language_that_the_choosing_task_lacks_are_made_and_listed():
    tasks = yamls.read(DEMO)["tasks"]
    tasks["kolibri-dev"]["languages"] = ["hau"]
    answer = Answer.get(study_of(DEMO, tasks=tasks, best={"dev": "kolibri-dev"}))
    assert [best.lang for best in answer.chosen] == ["hau"] and "ind" in answer.study.tested_by("graded-sts")
    assert answer.unchosen() == answer.listed["ind"] and len(answer.listed["ind"]) == 6


def test_what_a_server_alone_has_is_trained_by_no_recipe():
    api = {"endpoint": {"url": "https://host/v1", "model": "m", "dimensions": 8}}
    changes = {"backbones": {"api": api}, "recipes": {"base": {}, "unsupervised": {}}, "tables": [], "figures": []}
    changes |= {"generators": {}, "tasks": {}, "best": None}
    assert Answer.get(study_of(DEMO, **changes)).unchosen() == []
    with pytest.raises(UserError, match=r"^languages.hau: no test set.*and no recipe trains an encoder of it"):
        load(yamls.read(DEMO) | changes)
    prefixed = {"backbones": {"api": api | {"prefix": "{flores}"}}, "languages": {"abs": {}}}
    of_prefixes(study_of(DEMO, **changes | prefixed | {"recipes": {"unsupervised": {}}}))


TOPICS = {"file": "topics.{lang}.tsv", "columns": {"text": "text", "label": "label"}}


@pytest.mark.parametrize(
    ("choice", "fault"),
    [
        ({"recipe": "xlora"}, "config: best.recipe: no recipe 'xlora'; did you mean 'xllora'?"),
        ({"recipe": "xllora", "also": ["sts"]}, "config: best.also: no task 'sts'; "),
        ({}, "config.best: give either `dev`, the task that chooses, or `recipe`"),
        ({"dev": "graded-sts", "recipe": "xllora"}, "config.best: give either `dev`, the task that chooses, or `recipe`"),
        ({"dev": "graded"}, "config: best.dev: no task 'graded'; did you mean 'graded-sts'?"),
        ({"dev": "graded-sts", "test": "sts"}, "config: best.test: no task 'sts'; "),
        ({"dev": "graded-sts", "mean_with": ["graded"]}, "config: best.mean_with: no task 'graded'; did you mean 'graded-sts'?"),
        ({"dev": "graded-sts", "mean_with": ["kolibri-dev"], "test": "kolibri-dev"}, "config: best.test: kolibri-dev has the texts of kolibri-dev, which chooses"),
        ({"dev": "graded-sts", "mean_with": ["graded-sts", "kolibri-dev"]}, "config.best: mean_with: graded-sts is `dev` already; leave it out"),
        ({"dev": "graded-sts", "test": "kolibri-bitext", "also": ["kolibri-bitext"]}, "config.best: also: kolibri-bitext is `test` already"),
        ({"recipe": "xllora", "mean_with": ["kolibri-dev"]}, "config.best: mean_with: no mean without `dev`"),
        ({"dev": "graded-sts", "test": "graded-sts"}, "config: best.test: graded-sts has the texts of graded-sts, which chooses"),
        ({"dev": "graded-sts", "test": "shape"}, "config: best.test: shape is of protocol geometry, which says of no encoder"),
        ({"dev": "graded-sts", "also": ["graded-sts"]}, "config: best.also: graded-sts has the texts of graded-sts, which chooses"),
        ({"dev": "topics"}, "config: tasks.topics.k: 3; tables of knn have 10, 5, 1; best.dev needs one"),
        ({"dev": "seen"}, "config: best.dev: seen is of protocol layers, which says of no encoder that it is the better; take one"),
    ],
)  # fmt: skip
def test_a_choice_that_cannot_be_made_is_told(choice, fault):
    study = yamls.read(DEMO)
    study["tasks"]["seen"] = study["tasks"]["kolibri-bitext"] | {"protocol": "layers"}
    study["tasks"]["seen"].pop("clean")
    study["tasks"]["shape"] = study["tasks"]["graded-sts"] | {"protocol": "geometry"}
    study["tasks"]["topics"] = {
        "protocol": "knn",
        "k": [3],
        "source": TOPICS,
        "train": TOPICS | {"file": "topics.train.tsv"},
    }
    with pytest.raises(UserError) as error:
        load(study | {"best": choice})
    assert str(error.value).startswith(fault)


@pytest.mark.parametrize(
    ("choice", "asked", "fault"),
    [
        ({"recipe": "xllora"}, {"xllora"}, "config: best.recipe: no encoder of xllora to choose in any language; "),
        ({"dev": "graded-sts"}, None, "config: best.dev: no encoder to choose in any language; give a backbone"),
    ],
)
def test_a_choice_among_no_encoders_is_told(choice, asked, fault):
    """What has `on_request` is not chosen."""
    study = yamls.read(DEMO) | {"best": choice}
    for name in asked or study["recipes"]:
        study["recipes"][name]["on_request"] = True
    with pytest.raises(UserError) as error:
        load(study)
    assert str(error.value).startswith(fault)


@pytest.mark.parametrize(
    "task",
    [
        {"protocol": "knn", "source": {"file": "{lang}.tsv"}, "train": {"file": "{lang}.train.tsv"}, "k": [1]},
        {"protocol": "retrieval", "source": {"file": "{lang}.tsv"}},
    ],
    ids=lambda task: task["protocol"],
)
def test_topics_and_a_search_choose_too(task, tmp_path):
    study = yamls.read(DEMO)
    for name in ("source", "train"):
        if name in task:
            task[name] = {"file": str(tmp_path / task[name]["file"])}
    for code in study["languages"]:
        for ending in ("", ".train"):
            (tmp_path / f"{code}{ending}.tsv").write_text("id\n")
    study["tasks"]["ours"] = task
    assert load(study | {"best": {"dev": "ours", "test": "graded-sts"}}).best.dev == "ours"


@pytest.mark.parametrize("named", [{"test": "second"}, {}])
@pytest.mark.parametrize(("first", "second"), [([0, 100], [0, 100]), ([0, 60], [40, 100])])
def test_rows_that_choose_report_nothing_whatever_their_task_is_called(named, first, second):
    study = yamls.read(DEMO)
    task = study["tasks"]["graded-sts"]
    parts = {"first": first, "second": second}
    study["tasks"] = {name: task | {"source": task["source"] | {"buckets": rows}} for name, rows in parts.items()}
    with pytest.raises(UserError, match=r"^config: best: in hau, second.*first"):
        load(study | {"best": {"dev": "first", **named}})
    study["tasks"]["second"]["source"]["buckets"] = [60, 100]
    study["tasks"]["first"]["source"]["buckets"] = [0, 60]
    assert load(study | {"best": {"dev": "first", **named}})

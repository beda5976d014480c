"""Among which encoders the best one of a language is chosen, and by which scores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from seedbed.io import UserError
from seedbed.study.graph import best
from seedbed.study.loading import load
from tests.asking import asking, study_of

DEMO = "config/demo.yaml"


def chosen_by(**changes: Any):
    """The demo, with another choice."""
    return study_of(DEMO, best=changes)


def test_one_is_chosen_of_each_language_that_two_tasks_test():
    assert best.chosen(study_of(DEMO)) == [f"results/demo/best/{code}/seedbed.json" for code in ("hau", "ind")]
    assert best.chosen(study_of(DEMO, best=None)) == []
    tasks = study_of(DEMO).tasks
    study = study_of(DEMO).model_copy(update={"tasks": {"graded-sts": tasks["graded-sts"]}})
    assert best.languages(study.model_copy(update={"best": chosen_by(dev="graded-sts").best})) == [], "nothing reports"


def test_a_language_that_the_named_test_lacks_has_no_other_in_its_place():
    tasks = yaml.safe_load(Path(DEMO).read_text())["tasks"]
    bitext = tasks["kolibri-bitext"]
    tasks |= {"kolibri-bitext": bitext | {"languages": ["hau"]}, "another-bitext": bitext}
    study = study_of(DEMO, tasks=tasks, best={"dev": "graded-sts", "test": "kolibri-bitext"})
    assert [best.reported_on(study, code) for code in ("hau", "ind")] == ["kolibri-bitext", ""]


def test_graded_pairs_report_before_others():
    assert best.reported_on(chosen_by(dev="kolibri-bitext"), "hau") == "graded-sts"
    assert best.reported_on(chosen_by(dev="graded-sts"), "hau") == "kolibri-dev", "the first that does not choose"
    assert best.reported_on(chosen_by(dev="kolibri-dev", mean_with=["graded-sts"]), "hau") == "kolibri-bitext"


def test_every_encoder_of_a_language_is_asked_for_with_its_scores_on_both_tasks():
    ask = asking(study_of(DEMO))
    encoders = ask(best.encoders, lang="hau")
    folders = ["base/mul/0", "unsupervised/hau/1", "crosslingual/eng/1"]
    folders += [f"{recipe}/hau/1" for recipe in ("prompting", "composition", "xllora", "mixed")]
    assert encoders == [f"encoders/me5-small/{folder}/seedbed.json" for folder in folders]
    assert [score.split("/")[2] for score in ask(best.scores, lang="hau")] == sorted(
        one.split("/")[0] for one in folders
    )
    assert ask(best.read, lang="hau") == []
    assert ask(best.metrics, lang="hau") == ["seedbed/evaluation/protocols/bitext.py:METRICS"]
    graded, sts = asking(chosen_by(dev="kolibri-bitext")), "seedbed/evaluation/protocols/sts.py"
    assert graded(best.read, lang="hau") == "corpora/hau/graded-sts.tsv"
    assert graded(best.metrics, lang="hau") == [f"{sts}:METRICS", f"{sts}:lexical"]


def test_tasks_that_choose_together_do_so_in_languages_that_they_test():
    tasks = yaml.safe_load(Path(DEMO).read_text())["tasks"]
    study = study_of(DEMO, tasks=tasks | {"graded-sts": tasks["graded-sts"] | {"languages": ["hau"]}})
    ask = asking(study)
    assert ask(best.choosing, lang="hau") == ["kolibri-dev", "graded-sts"]
    assert ask(best.choosing, lang="ind") == ["kolibri-dev"] and best.languages(study) == ["hau", "ind"]


def test_a_task_on_request_has_scores_of_its_own(told):
    study = told.model_copy(update={"best": chosen_by(dev="dev").best})
    scores = asking(study)(best.scores, lang="hau")
    assert "scores/bert/base/mul/hau.dev.json" in scores and "scores/bert/base/mul/hau.all.json" in scores


def test_what_has_no_weights_to_take_home_is_not_chosen(told):
    blocks = asking(told)(best.blocks, lang="hau")
    shown = {block.backbone for block in blocks}
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
    ask = asking(study := chosen_by(**RECOMMENDED))
    assert ask(best.recommended, lang="hau") == "me5-small/unsupervised/hau/1"
    assert [block.tests for blocks in ask(best.also, lang="hau") for block in blocks] == [{"hau": "kolibri-bitext"}]
    assert ask(best.scores, lang="hau") == asking(study_of(DEMO))(best.scores, lang="hau"), "dev and test, as reported"
    assert ask(best.encoders, lang="ind") == asking(study_of(DEMO))(best.encoders, lang="ind")
    every = [file for files in best.listed(study).values() for file in files]
    assert len(every) == 14 and best.every(study) == [*dict.fromkeys(every)]
    assert ask(best.named)["Hausa"][0] == "encoders/me5-small/base/mul/0/seedbed.json"


def test_without_any_test_the_recommended_encoder_is_all_that_is_said():
    ask = asking(study := study_of(DEMO, tasks={}, tables=[], figures=[], best={"recipe": "xllora"}))
    assert best.languages(study) == ["hau", "ind"] and ask(best.blocks, lang="hau") == []
    assert ask(best.recommended, lang="ind") == "me5-small/xllora/ind/1"
    assert ask(best.scores, lang="hau") == [] and len(ask(best.encoders, lang="hau")) == 7
    assert ask(best.read, lang="hau") == [] and ask(best.metrics, lang="hau") == []


def test_encoders_of_languages_without_a_choice_are_listed_too():
    study = study_of(DEMO, tasks={}, tables=[], figures=[], best=None)
    assert {code: len(files) for code, files in best.listed(study).items()} == {"hau": 6, "ind": 6}, (
        "those that are trained"
    )


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
        ({"recipe": "xllora", "mean_with": ["kolibri-dev"]}, "config.best: mean_with: no mean without `dev`"),
        ({"dev": "graded-sts", "test": "graded-sts"}, "config: best.test: graded-sts has the texts of graded-sts, which chooses"),
        ({"dev": "graded-sts", "test": "shape"}, "config: best.test: shape is of protocol geometry, which says of no encoder"),
        ({"dev": "seen"}, "config: best.dev: seen is of protocol layers, which says of no encoder that it is the better; take one"),
    ],
)  # fmt: skip
def test_a_choice_that_cannot_be_made_is_told(choice, fault):
    study = yaml.safe_load(Path(DEMO).read_text())
    study["tasks"]["seen"] = study["tasks"]["kolibri-bitext"] | {"protocol": "layers"}
    study["tasks"]["seen"].pop("clean")
    study["tasks"]["shape"] = study["tasks"]["graded-sts"] | {"protocol": "geometry"}
    with pytest.raises(UserError) as error:
        load(study | {"best": choice})
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
    study = yaml.safe_load(Path(DEMO).read_text())
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
    study = yaml.safe_load(Path(DEMO).read_text())
    task = study["tasks"]["graded-sts"]
    parts = {"first": first, "second": second}
    study["tasks"] = {name: task | {"source": task["source"] | {"buckets": rows}} for name, rows in parts.items()}
    with pytest.raises(UserError, match=r"^config: best: in hau, second.*first"):
        load(study | {"best": {"dev": "first", **named}})
    study["tasks"]["second"]["source"]["buckets"] = [60, 100]
    study["tasks"]["first"]["source"]["buckets"] = [0, 60]
    assert load(study | {"best": {"dev": "first", **named}})

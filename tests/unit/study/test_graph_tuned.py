"""What is fine-tuned for a task: one training for each encoder, seed and training set, whatever it then answers."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from seedbed import yamls
from seedbed.io import UserError
from seedbed.study.backbone import StudyBackbone
from seedbed.study.graph.available import Available
from seedbed.study.graph.classifier import TunedEncoder, trained_as
from seedbed.study.graph.report import Report
from seedbed.study.graph.score import Scores, scored_with, tunes
from seedbed.study.graph.table import TablePlan
from seedbed.study.model import Study
from seedbed.study.recipe import StudyRecipe
from seedbed.tables.plan import Cell
from seedbed.tables.specs import TableSpec
from tests.asking import TOLD, study_of

Ask = Callable[..., Any]
NEWS = {"backbone": "bert", "recipe": "crosslingual", "lang": "eng", "task": "news", "train_lang": "eng", "seed": "3"}
ASKED = {"backbone": "other", "recipe": "base", "lang": "mul", "task": "asked", "train_lang": "eng", "seed": "5"}
SCORED = {"backbone": "other", "recipe": "base", "lang": "mul", "test_lang": "hin", "tasks": "told"}


def test_tasks_with_one_training_set_and_the_same_settings_share_a_training(told: Study) -> None:
    assert [trained_as(told, name) for name in ("news", "asked", "told")] == ["news", "asked", "asked"]
    other = {"told": {"protocol": "qa", "source": {"file": "x"}, "train": {"file": "own/{lang}.qa.train.tsv"}}}
    first = {"asked": other["told"] | {"reading": {"epochs": 1}}}
    small = {"generators": {}, "recipes": {"base": {}}, "classifiers": {}, "compute": None, "backbones": {"one": {}}}
    small["backbones"] = {"one": {"source": {"file": "own/backbone"}}}
    apart = study_of(TOLD, tasks=first | other, **small)
    assert trained_as(apart, "told") == "told", "another number of epochs is another training"


def test_a_further_task_on_the_same_sets_moves_no_training() -> None:
    tasks = yamls.read(TOLD)["tasks"]
    further = {"protocol": "qa", "set_of": "asked", "train_language": "eng", "reading": {"stride": 32}}
    more = study_of(TOLD, tasks=tasks | {"a": further})
    assert [trained_as(more, name) for name in ("a", "asked", "told")] == ["asked"] * 3


def test_one_training_answers_the_tests_of_every_language_that_has_the_encoder(ask: Ask) -> None:
    assert ask(TunedEncoder, **NEWS).tests == {f"{code}/news": f"corpora/{code}/news.tsv" for code in ("hau", "hin")}
    asked = {f"{code}/asked": f"corpora/{code}/asked.tsv" for code in ("hau", "hin")}
    assert ask(TunedEncoder, **ASKED).tests == asked | {"hin/told": "corpora/hin/told.tsv"}
    own = NEWS | {"recipe": "unsupervised", "lang": "hau"}
    assert ask(TunedEncoder, **own).tests == {"hau/news": "corpora/hau/news.tsv"}, "Hindi has an encoder of its own"
    assert ask(TunedEncoder, **NEWS).inputs()["train"] == "corpora/eng/news_train.tsv"


def test_a_head_has_the_seeds_of_the_study_and_an_untrained_encoder_one(ask: Ask) -> None:
    assert ask(StudyRecipe, name="base").heads == ask(StudyRecipe, name="crosslingual").heads == [3, 5]
    assert ask(TunedEncoder, **NEWS).inputs()["base"] == "encoders/bert/crosslingual/eng/3/seedbed.json"
    assert ask(TunedEncoder, **ASKED).inputs()["base"] == "encoders/other/base/mul/0/seedbed.json"
    assert [ask(StudyRecipe, name="base").seed(5), ask(StudyRecipe, name="crosslingual").seed(5)] == [0, 5]


def test_how_it_is_learnt_is_the_tasks_and_in_what_numbers_the_recipes(told: Study, ask: Ask) -> None:
    news, asked = ask(TunedEncoder, **NEWS), ask(TunedEncoder, **ASKED)
    assert (news.settings()["kind"], asked.settings()["kind"]) == ("labelled_texts", "questions")
    assert news.code().modules == ("seedbed/classifiers/tuning.py",)
    assert asked.code().modules == ("seedbed/classifiers/questions.py",)
    assert news.settings()["learning"].epochs == 3 and asked.settings()["learning"].stride == 32
    assert ask(TunedEncoder, **ASKED | {"task": "told"}).learning == told.tasks["asked"].reading
    assert news.settings()["dtype"] == "float32"
    about = asked.settings()["about"]
    assert (about["recipe"], about["seed"], about["task"], about["train_language"]) == ("base", 5, "asked", "eng")


def test_the_scores_of_such_a_task_are_a_job_of_their_own(told: Study, ask: Ask) -> None:
    assert [tunes(told, name) for name in ("news", "told", "knn", "all")] == [True, True, False, False]
    assert scored_with(told, "news", "bert", "base") == "news"
    systems = [f"classifiers/tuned/other/base/mul/asked/eng/{seed}/seedbed.json" for seed in (3, 5)]
    scores = ask(Scores, **SCORED)
    assert scores.inputs()["systems"] == systems
    assert scores.kind == "labelled" and scores.scored == ["told"]
    assert scores.code().modules[-1] == "seedbed/evaluation/systems/labelled.py"
    ((task,),) = (each.values() for each in scores.settings()["tasks"])
    assert task.reading.stride == 128, "a score asks nothing of how was learnt"


def test_endpoints_and_fusions_are_left_out(told: Study, ask: Ask) -> None:
    for name in ("given", "chosen", "api"):
        assert not {"news", "asked", "told"} & {*ask(StudyBackbone, name=name).scored_on}
        assert ask(Scores, backbone=name, recipe="base", lang="mul", test_lang="hau", tasks="news").scored == []
    column = {"label": "News", "protocol": "tuned", "metric": "f1 of sports"}
    table = {"title": "T", "caption": "C", "recipes": {"base": "Base"}, "columns": [column], "baseline": "base"}
    blocks = Available.get(told).blocks(TableSpec.model_validate(table))
    assert {block.backbone for block in blocks} == {"bert", "other", "bare"}
    assert {cell.seed for block in blocks for cell in block.cells()} == {3, 5}
    with pytest.raises(UserError, match=r"task of it.*any of its backbones"):
        Available.get(told).blocks(TableSpec.model_validate(table | {"backbones": ["api"]}))


def test_a_table_of_such_scores_shows_the_encoders_that_were_tuned(monkeypatch: pytest.MonkeyPatch) -> None:
    study = study_of(TOLD, tables=["told"])
    names = (("base", "mul"), ("crosslingual", "eng"))
    cells = {Cell("bert", recipe, folder, 5, "news", "hau") for recipe, folder in names}
    monkeypatch.setattr(TablePlan, "spec", SimpleNamespace(of_classifiers=False))
    monkeypatch.setattr(TablePlan, "cells", cells)
    shown = {(one.backbone, one.recipe, one.lang, one.seed) for one in Report.get(study).encoders}
    assert shown == {("bert", "base", "mul", 0), ("bert", "crosslingual", "eng", 5)}

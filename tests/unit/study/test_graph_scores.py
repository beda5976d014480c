"""Scores: of which systems, on which tasks, in which job; fusions; what labels cost."""

from __future__ import annotations

import pytest

from seedbed.io import UserError
from seedbed.study.backbone import StudyBackbone
from seedbed.study.graph.derived import FusedEncoder
from seedbed.study.graph.measurement import Measurement
from seedbed.study.graph.score import Scores, protocol_code, scored_with, task_for
from seedbed.study.model import Study
from tests.asking import TOLD, asking, study_of

BERT = {"backbone": "bert", "recipe": "xllora", "lang": "hau", "test_lang": "hau", "tasks": "all"}
DEV = {"backbone": "chosen", "recipe": "xllora", "lang": "hau", "seed": "5"}
FUSED = {"backbone": "given", "recipe": "xllora", "lang": "hau", "seed": "5"}
GIVEN = BERT | {"backbone": "given"}
LIKELY = {"backbone": "likely", "recipe": "far", "lang": "mul", "test_lang": "hin", "tasks": "icl"}
MOST = {"backbone": "most", "recipe": "majority", "lang": "mul", "test_lang": "hau", "tasks": "all"}
TUNED = {"backbone": "tuned", "recipe": "fine-tuned", "lang": "mul", "test_lang": "hau", "tasks": "knn-xl"}
XLM = {"backbone": "xlm", "recipe": "base", "lang": "hau", "test_lang": "hau", "tasks": "all"}


def test_what_is_scored_is_one_system_for_each_seed(ask) -> None:
    scores = {job["backbone"]: ask(Scores, **job) for job in (BERT, GIVEN, XLM, LIKELY, MOST, TUNED)}
    assert {name: one.inputs()["systems"] for name, one in scores.items()} == {
        "bert": [f"encoders/bert/xllora/hau/{seed}/seedbed.json" for seed in (3, 5)],
        "given": [f"encoders/given/xllora/hau/{seed}/seedbed.json" for seed in (3, 5)],
        "xlm": ["classifiers/xlm/base/hau/0/seedbed.json"],
        "likely": ["classifiers/likely/far/mul/0/seedbed.json"],
        "most": ["classifiers/most/majority/mul/0/seedbed.json"],
        # knn-xl has the test set of knn, and the training set in Hindi.
        "tuned": [f"classifiers/tuned/fine-tuned/knn/hin/{seed}/seedbed.json" for seed in (3, 5)],
    }
    assert {name: one.kind for name, one in scores.items()} == {
        "bert": "encoder",
        "given": "encoder",
        "xlm": "adapted",
        "likely": "in-context",
        "most": "chance",
        "tuned": "labelled",
    }


def test_a_task_on_request_or_far_shots_or_fine_tuning_has_a_job_of_its_own(told: Study) -> None:
    jobs = {
        (task, name, recipe): scored_with(told, task, name, recipe)
        for task, name, recipe in (
            *(("dev", "bert", "base"), ("knn", "bert", "base"), ("knn", "tuned", "fine-tuned")),
            *(("icl", "likely", "far"), ("icl", "likely", "one-shot"), ("icl", "likely", "zero-shot")),
        )
    }
    assert [*jobs.values()] == ["dev", "all", "knn", "icl", "all", "all"]


def test_a_job_has_the_tasks_that_its_system_can_be_scored_on(ask) -> None:
    can = {name: ask(StudyBackbone, name=name).scored_on for name in ("bert", "given", "chosen")}
    distances = ["bitext", "dev", "knn", "knn-xl"]
    assert can == {"bert": None, "given": distances, "chosen": [name for name in distances if name != "dev"]}
    tasks = [
        ask(Scores, backbone=name, recipe="base", lang="mul", test_lang=lang, tasks=tasks).scored
        for name, lang, tasks in (
            *(("bert", "hau", "all"), ("bert", "hin", "all"), ("bert", "hau", "dev")),
            *(("chosen", "hau", "all"), ("chosen", "hau", "dev"), ("xlm", "hau", "all")),
        )
    ]
    labelled = ["bitext", "knn", "knn-xl", "sts"]
    assert tasks == [labelled, ["bitext", "knn", "sts"], ["dev"], labelled[:-1], [], ["pairs"]]


def test_a_job_reads_the_sets_of_its_tasks(ask) -> None:
    names = ("bitext", "knn", "knn", "sts")
    read = ask(Scores, **BERT).inputs()
    assert read["tests"] == [f"corpora/hau/{name}.tsv" for name in names]
    assert read["records"] == [f"corpora/hau/{name}.json" for name in names]
    trains = {"hau/knn": "corpora/hau/knn_train.tsv", "hau/knn-xl": "corpora/hin/knn_train.tsv"}
    assert read["trains"] == trains
    assert ask(Scores, **XLM).inputs()["trains"] == {}
    with pytest.raises(UserError, match="scored as 'sts'; 'all'"):
        ask(Scores, **BERT | {"tasks": "sts"}).inputs()
    with pytest.raises(UserError, match="bert by zero-shot: nothing in hau"):
        ask(Scores, **BERT | {"recipe": "zero-shot"}).inputs()


def test_a_protocol_is_told_what_scores_need_and_no_source(told: Study, ask) -> None:
    task = task_for(told, "knn", "hau")
    assert (task.source, task.train, task.k, task.batch_size) == (None, None, [1, 5], 6)
    assert [[*each] for each in ask(Scores, **XLM).settings()["tasks"]] == [["pairs"]]
    mteb = {"sts": {"protocol": "sts", "source": {"file": "x"}, "mteb": {"name": "STS", "subset": "{lang}-{script}"}}}
    study = study_of(TOLD, tasks=mteb, generators={}, recipes={"base": {}}, classifiers={}, compute=None)
    assert task_for(study, "sts", "hau").mteb.subset == "hau-Latn"


def test_code_that_is_loaded_by_name_counts(ask) -> None:
    parts = ("PROTOCOL", "score", "texts", "composed", "mteb_rows")
    icl = [f"seedbed/evaluation/protocols/icl.py:{part}" for part in parts]
    assert protocol_code("icl", "icl") == icl
    back_end = ["seedbed/generators/writing/backends/hf.py", "seedbed/generators/writing/backends/encoder_decoder.py"]
    assert ask(Scores, **LIKELY).code().modules == (*icl, "seedbed/evaluation/systems/in_context.py", *back_end)
    assert ask(Scores, **BERT).code().modules[-1] == "seedbed/evaluation/systems/encoder.py"


def test_a_system_in_context_has_prompts_examples_and_a_generator_as_it_is_set_today(ask) -> None:
    likely, bert = ask(Scores, **LIKELY), ask(Scores, **BERT)
    assert [path.stem for path in likely.code().data] == ["icl"]
    assert likely.inputs()["retrievers"] == ["encoders/other/unsupervised/hin/3/seedbed.json"]
    (generator,) = likely.settings()["generators"]
    assert generator.source.file == "own/generator"
    assert bert.code().data == () and bert.inputs()["retrievers"] == bert.settings()["generators"] == []


def test_an_endpoint_may_stand_behind_an_encoder_a_fusion_or_a_retriever(ask) -> None:
    base = {"recipe": "base", "lang": "mul", "test_lang": "hau", "tasks": "all"}
    assert [one.model for one in ask(Scores, **base, backbone="api").endpoints] == ["big"]
    assert not any(ask(Scores, **job).endpoints for job in (BERT, GIVEN, MOST))
    backbones = {
        "one": {"source": {"file": "x"}},
        "api": {"endpoint": {"url": "https://host/v1", "model": "m", "dimensions": 8}},
        "both": {"fusion": {"of": {"one": 1, "api": 1}}},
    }
    shots = {"generator": "tiny", "in_context": {"retriever": {"backbone": "both", "recipe": "base"}}}
    study = study_of(TOLD, backbones=backbones, recipes={"base": {}}, classifiers={"likely": shots}, compute=None)
    for name, recipe in (("both", "base"), ("likely", "one-shot")):
        scores = asking(study)(Scores, **base | {"backbone": name, "recipe": recipe})
        assert [one.model for one in scores.endpoints] == ["m"]
    assert asking(study)(Scores, **base | {"backbone": "likely", "recipe": "zero-shot"}).endpoints == []


def test_a_fusion_is_of_encoders_of_one_recipe_language_and_seed(ask) -> None:
    members = {name: f"encoders/{name}/xllora/hau/5/seedbed.json" for name in ("bert", "other")}
    assert ask(FusedEncoder, **FUSED).inputs()["members"] == members
    assert [ask(FusedEncoder, **job).settings()["weights"] for job in (FUSED, DEV)] == [[[1, 3]], [[1, 1], [2, 1]]]


def test_a_development_task_chooses_weights_in_one_language_or_in_all(ask) -> None:
    dev, fused = ask(FusedEncoder, **DEV), ask(FusedEncoder, **FUSED)
    assert dev.code().modules == tuple(protocol_code("knn"))
    assert dev.inputs()["tests"] == {"hau": "corpora/hau/dev.tsv"}
    both = {code: f"corpora/{code}/dev.tsv" for code in ("hau", "hin")}
    assert ask(FusedEncoder, **DEV | {"lang": "mul"}).inputs()["tests"] == both
    assert dev.inputs()["trains"] == {"hau": "corpora/hau/dev_train.tsv"}
    assert dev.settings()["dev"] == "dev" and dev.settings()["task"].k == [3]
    assert not (fused.code().modules or fused.inputs()["tests"] or fused.inputs()["trains"]), (
        "the study says the weights"
    )
    assert not {"dev", "task"} & fused.settings().keys()


def test_the_cost_of_labels_is_measured_on_the_models_that_the_study_names(ask) -> None:
    measured = ask(Measurement)
    assert measured.inputs() == {
        "train": "corpora/hau/knn_train.tsv",
        "test": "corpora/hau/knn.tsv",
        "encoder": "encoders/bert/unsupervised/hau/3/seedbed.json",
        "weights": "encoders/other/weights/seedbed.json",
        "bases": {"likely": "generators/tiny/weights/seedbed.json"},
    }
    told = measured.settings()
    assert (told["compute"].task, told["task"].instruction, told["prefix"]) == ("icl", "Name the label.", "text: ")
    learners = told["classifiers"]
    assert [*learners] == ["likely"] and learners["likely"]["generator"].dtype == "float32"
    local = ["seedbed/generators/writing/backends/encoder_decoder.py", "seedbed/generators/writing/backends/hf.py"]
    assert measured.code().modules == tuple(sorted([*protocol_code("icl"), *local]))


def test_a_study_may_measure_nothing_or_no_language_model() -> None:
    measured = {"task": "icl", "language": "hau", "encoder": {"backbone": "bert", "recipe": "base"}}
    without = asking(study_of(TOLD, compute=measured))(Measurement)
    assert not without.settings()["classifiers"] and not without.inputs()["bases"]
    assert without.inputs()["weights"] == "encoders/bert/weights/seedbed.json"
    with pytest.raises(UserError, match=r"compute:.*study.*measurement"):
        Measurement.get(study_of(TOLD, compute=None)).settings()

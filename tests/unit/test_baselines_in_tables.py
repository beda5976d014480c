"""What a study may say of classifiers beside encoders, and what follows from it."""

from __future__ import annotations

from typing import Any

import pytest

from seedbed.io import UserError
from seedbed.study.graph import classifier
from seedbed.study.graph.available import Available
from seedbed.study.graph.classifier import FineTuned, StudyClassifier
from seedbed.study.loading import load
from seedbed.study.model import Study
from seedbed.tables.specs import TableSpec

FILE, TRAIN = {"file": "README.md"}, {"file": "CONTRIBUTING.md"}
TASKS = {
    "topics": {"protocol": "knn", "source": FILE, "train": TRAIN},
    "topics-xl": {"protocol": "knn", "set_of": "topics", "train_language": "eng"},
    "moods": {"protocol": "knn", "source": FILE, "train": TRAIN, "languages": ["hau"]},
    "bitext": {"protocol": "bitext", "source": FILE},
}
TUNED = {"backbone": "a", "fine_tuning": {}}
CLASSIFIERS = {"drawn": {"baseline": "random"}, "most": {"baseline": "majority"}, "tuned": TUNED}


def config(**classifiers: Any) -> dict[str, Any]:
    """A study of three languages and the classifiers above, changed."""
    return {
        "languages": {"eng": {}, "hau": {}, "swh": {}},
        "seeds": [2, 1],
        "backbones": {"a": {"source": {"file": "docs"}}},
        "recipes": {"base": {}},
        "classifiers": CLASSIFIERS | classifiers,
        "statistics": {"baseline": "base"},
        "tasks": TASKS,
    }


def labelled(study: Study, task: str, lang: str) -> list[str]:
    """The languages whose test sets a classifier labels that has learnt a task's training set in one."""
    return [name.partition("/")[0] for name in FineTuned.get(study, "tuned", task, lang, 1).tests]


def test_they_answer_what_neighbours_are_asked() -> None:
    study = Study.model_validate(config())
    assert classifier.labellers(study) == {"random": ["drawn"], "majority": ["most"], "fine-tuned": ["tuned"]}
    assert classifier.adapted(study) == [] and not any(classifier.variants(study).values())
    for name in CLASSIFIERS:
        assert StudyClassifier.get(study, name).tasks_in("hau") == ["moods", "topics", "topics-xl"]
        assert StudyClassifier.get(study, name).tasks_in("eng") == [
            "topics"
        ]  # no test of its own training set for others
    assert [classifier.seeds_of(study, form) for form in classifier.labellers(study)] == [[1, 2], [0], [1, 2]]


def test_a_model_labels_all_test_sets_that_share_its_training_set() -> None:
    study = Study.model_validate(config())
    assert labelled(study, "topics", "eng") == ["eng", "hau", "swh"]
    for task in ("topics", "moods"):
        assert labelled(study, task, "hau") == ["hau"]
    assert labelled(study, "moods", "swh") == []


def test_languages_and_tasks_narrow_them() -> None:
    study = Study.model_validate(config(tuned=TUNED | {"languages": ["eng", "hau"], "tasks": ["topics", "topics-xl"]}))
    assert StudyClassifier.get(study, "tuned").tasks_in("hau") == ["topics", "topics-xl"]
    assert StudyClassifier.get(study, "tuned").tasks_in("swh") == []
    assert labelled(study, "topics", "eng") == ["eng", "hau"]


def test_a_language_model_in_context_stands_next_to_encoders_where_it_names_the_task() -> None:
    generators = {"g": {"source": {"file": "docs"}, "prompts": "plain"}}
    spec = {"generator": "g", "in_context": {"retriever": {"backbone": "a", "recipe": "base"}}}
    table = {
        "title": "t",
        "columns": [{"label": "Topics", "protocol": "knn", "metric": "accuracy@1", "tasks": ["topics"]}],
    }
    table |= {"caption": "", "recipes": {"base": "Base"}, "classifiers": ["random", "one-shot"]}
    for tasks, rows in ((None, ["drawn"]), (["topics"], ["asked", "drawn"])):
        study = Study.model_validate(config(asked=spec | {"tasks": tasks}) | {"generators": generators})
        blocks = Available.get(study).blocks(TableSpec.model_validate(table))
        assert sorted(block.backbone for block in blocks if block.backbone != "a") == rows
        assert StudyClassifier.get(study, "asked").tasks_in("hau") == (tasks or [])


def test_a_study_of_them_needs_no_labelled_pairs() -> None:
    assert load(config()).classifiers["tuned"].as_baseline == "fine-tuned"
    with pytest.raises(UserError, match="give `corpora.nli_pairs`"):
        load(config(adapted={"backbone": "a"}))


def test_a_language_may_be_there_for_what_is_learnt_in_it_alone() -> None:
    topics = {"protocol": "knn", "source": FILE, "train": TRAIN, "languages": ["hau"]}
    across = {"protocol": "knn", "set_of": "topics", "train_language": "tam-Latn"}
    languages = {"hau": {}, "tam-Latn": {"codes": {"own": "tamil"}}}
    study = load(config() | {"languages": languages, "tasks": {"topics": topics, "across": across}})
    assert study.tests_by_language == {"hau": ["across", "topics"], "tam-Latn": []}
    assert study.train_of("across", "hau") == "tam-Latn"
    with pytest.raises(UserError, match="languages.tam-Latn: no test set"):
        load(config() | {"languages": languages, "tasks": {"topics": topics}})

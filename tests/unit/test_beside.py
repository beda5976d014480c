"""What a study may say of classifiers beside encoders, and what follows from it."""

from __future__ import annotations

from typing import Any

import pytest

from seedbed.config import Study, load
from seedbed.io import UserError

FILE = {"file": "README.md"}
TASKS = {
    "topics": {"protocol": "knn", "source": FILE, "train": FILE},
    "topics-xl": {"protocol": "knn", "set_of": "topics", "train_language": "eng"},
    "moods": {"protocol": "knn", "source": FILE, "train": FILE, "languages": ["hau"]},
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


def test_they_answer_what_neighbours_are_asked() -> None:
    study = Study.model_validate(config())
    assert study.labellers() == {"random": ["drawn"], "majority": ["most"], "fine-tuned": ["tuned"]}
    assert study.adapted() == [] and not any(study.variants().values())
    for name in CLASSIFIERS:
        assert study.answered_by(name, "hau") == ["moods", "topics", "topics-xl"]
        assert study.answered_by(name, "eng") == ["topics"]  # no test of its own training set for others
    assert [study.seeds_of_classifier(form) for form in study.labellers()] == [[1, 2], [0], [1, 2]]


def test_a_model_labels_all_test_sets_that_share_its_training_set() -> None:
    study = Study.model_validate(config())
    assert study.labelled_by("tuned", "topics", "eng") == ["eng", "hau", "swh"]
    assert study.labelled_by("tuned", "topics", "hau") == study.labelled_by("tuned", "moods", "hau") == ["hau"]
    assert study.labelled_by("tuned", "moods", "swh") == []


def test_languages_and_tasks_narrow_them() -> None:
    study = Study.model_validate(config(tuned=TUNED | {"languages": ["eng", "hau"], "tasks": ["topics", "topics-xl"]}))
    assert study.answered_by("tuned", "hau") == ["topics", "topics-xl"] and study.answered_by("tuned", "swh") == []
    assert study.labelled_by("tuned", "topics", "eng") == ["eng", "hau"]


def test_a_study_of_them_needs_no_labelled_pairs() -> None:
    assert load(config()).classifiers["tuned"].beside == "fine-tuned"
    with pytest.raises(UserError, match="give `corpora.nli_pairs`"):
        load(config(adapted={"backbone": "a"}))

"""Protocols of what is fine-tuned: labels, of classes that training has or lacks, and answers; metrics of each class."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import f1_score

from seedbed.classifiers.answers import Answers
from seedbed.classifiers.manifest import ANSWERS
from seedbed.evaluation import protocols
from seedbed.evaluation.aggregation import F1_OF_CLASS
from seedbed.evaluation.files import Set, read_set
from seedbed.evaluation.scores import Scores, System
from seedbed.evaluation.scoring import check, score
from seedbed.evaluation.settings import Task
from seedbed.evaluation.significance import replicates
from seedbed.evaluation.systems import Opening, open_system
from seedbed.io import UserError, write_json, write_table
from seedbed.tables.specs import Column, metric_of

GOLD = ["news", "sports", "religion", "news", "sports", "religion", "health", "news"]
SAID = ["news", "news", "news", "sports", "sports", "health", "health", "news"]
TEST = pd.DataFrame({"id": [*"abcdefgh"], "text": [*"stuvwxyz"], "label": GOLD})
TRAIN = pd.DataFrame({"id": [*"1234"], "text": [*"klmn"], "label": ["news", "sports", "health", "travel"]})


def found(said: Sequence[str] = SAID, test: pd.DataFrame = TEST, train: pd.DataFrame = TRAIN, **settings) -> Scores:
    task = Task(protocol="tuned", **settings)
    return score(task, test, System(answer=lambda asked, labels: Answers([*said])), train=train)


def test_rows_of_labels_that_training_lacks_are_dropped_and_counted() -> None:
    scores, seen = found(), [label != "religion" for label in GOLD]
    gold, said = (list(np.array(labels)[seen]) for labels in (GOLD, SAID))
    assert list(scores.items["id"]) == [*"abdegh"] and scores.metrics["unseen"] == 2
    assert scores.notes == [
        "2 of 8 test texts are left out: no training text has their label (religion)",
    ]
    assert scores.main == scores.metrics["macro_f1"] == pytest.approx(f1_score(gold, said, average="macro"))
    for label in ("news", "sports", "health"):
        one = f1_score(gold, said, labels=[label], average="macro")
        assert scores.metrics[f"f1_of_{label}"] == pytest.approx(one)
    assert scores.metrics["f1_of_travel"] == 0, "a class of training that is in no test"
    assert "f1_of_religion" not in scores.metrics


def test_they_are_kept_as_errors_or_refused_by_setting() -> None:
    kept = found(unseen="keep")
    assert list(kept.items["id"]) == list(TEST["id"]) and kept.metrics["f1_of_religion"] == 0
    assert kept.metrics["accuracy"] == 4 / 8 and kept.metrics["unseen"] == 2
    assert "2 of 8 test texts stay, as errors" in kept.notes[0]
    with pytest.raises(UserError, match=r"tuned:.*label 'religion'"):
        check(Task(protocol="tuned", unseen="refuse"), TEST, TRAIN)
    whole = found(SAID[:2], TEST[:2])
    assert whole.metrics["unseen"] == 0 and not whole.notes
    with pytest.raises(UserError, match=r"label of the training set.*health, news"):
        check(Task(protocol="tuned"), TEST[TEST["label"] == "religion"], TRAIN)
    with pytest.raises(UserError, match="tuned: no training set"):
        check(Task(protocol="tuned"), TEST)


def test_every_class_has_a_metric_by_its_name_and_an_interval() -> None:
    metric = protocols.metric("tuned", "f1 of sports")
    items = metric.by.read(found().items, [*metric.items])
    assert metric.by.statistic(items) == pytest.approx(found().metrics[metric.key])
    assert metric.heading("f1 of sports") == "F1 of sports"
    column = Column(label="Sports", protocol="tuned", metric="f1 of science/technology")
    assert column.measured.key == "f1_of_science/technology" and column.declared.tunes
    assert metric_of("tuned", "f1 of sports").key == "f1_of_sports" and metric_of("bitext", "f1 of sports") is None
    assert protocols.class_of("tuned", "f1 of sports") == "sports" and not protocols.class_of("tuned", "macro f1")
    for wrong in ("f1 of ", "f1 of {label}", "f1 for sports"):
        assert protocols.metric("tuned", wrong) is None and not protocols.class_of("tuned", wrong)
        with pytest.raises(ValueError, match=f"no metric '{wrong}' in protocol tuned"):
            Column(label="x", protocol="tuned", metric=wrong)


def test_the_f1_of_a_class_is_scikit_learns_on_every_resample() -> None:
    draw = np.random.default_rng(1)
    gold, said = draw.choice([*"abc"], 60), draw.choice([*"abc"], 60)
    table = pd.DataFrame({"gold": gold, "predicted": said})
    items = protocols.metric("tuned", "f1 of b").by.read(table, ["gold", "predicted"])
    places = draw.integers(0, 60, size=(20, 60))
    wanted = [f1_score(gold[place] == "b", said[place] == "b") for place in places]
    np.testing.assert_allclose(F1_OF_CLASS.statistic(items[places]), wanted)
    assert F1_OF_CLASS.statistic(np.zeros((5, 2))) == 0, "neither gold nor predicted"
    spread = replicates(F1_OF_CLASS.statistic, {"": items[None]}, resamples=200, seed=0)[""]
    assert spread.std() > 0.01


QUESTIONS = pd.DataFrame(
    {
        "id": ["a", "b", "c"],
        "question": ["who?", "where?", "what?"],
        "context": ["The big market", "in Nairobi city", "milk and bread"],
        "answers": [json.dumps(one) for one in (["The market"], ["Nairobi", "Nairobi city"], ["bread"])],
        "starts": ["[]", "[3, 3]", "[9]"],
    }
)


@pytest.mark.parametrize(("language", "f1"), [("eng", [1, 1, 0]), ("swh", [0.8, 1, 0])])
def test_answers_are_scored_in_the_words_of_their_language(language: str, f1: list[float]) -> None:
    """An article more than in the right answer costs nothing in English, and elsewhere it is a word."""
    said = Answers(["the a market", "nairobi CITY!", "milk"])
    scores = score(Task(protocol="qa"), QUESTIONS, System(answer=lambda asked, labels: said), language=language)
    assert list(scores.items["f1"]) == pytest.approx(f1) and scores.main == pytest.approx(np.mean(f1))
    assert scores.metrics["exact_match"] == np.mean([one == 1 for one in f1])
    assert list(scores.items["gold"]) == list(QUESTIONS["answers"])
    assert protocols.metric("qa", "exact match").items == ("exact_match",)


def test_a_test_set_without_answers_is_refused(tmp_path: Path) -> None:
    for answers in ("[]", '["  "]'):
        write_table(QUESTIONS.assign(answers=[answers, *QUESTIONS["answers"][1:]]), tmp_path / "x.tsv")
        with pytest.raises(UserError, match="'a' has no answer"):
            read_set(Task(protocol="qa"), tmp_path / "x.tsv")


def test_each_set_gets_its_own_answers_of_those_that_are_there(tmp_path: Path) -> None:
    """Test sets of one training are in one file: by language and name, since their ids may be the same."""
    rows = [("swh/one", "a", "x"), ("swh/two", "a", "y"), ("hau/one", "a", "z")]
    write_table(pd.DataFrame(rows, columns=["test", "id", "label"]), tmp_path / ANSWERS)
    write_json({"about": {"recipe": "base"}, "system": {"kind": "labelled"}}, tmp_path / "seedbed.json")
    test = TEST[:1]

    def said(task: Task, name: str, language: str, test: pd.DataFrame = test) -> list[str]:
        given = Set(name, task, test, TRAIN, {})
        system = open_system(tmp_path, Opening([given], language, "", None))
        assert system.about == {"classifier": {"recipe": "base"}}
        return system.answer(type("Trial", (), {"test": test}), []).labels

    plain, other = Task(protocol="tuned"), Task(protocol="tuned", set_of="two")
    assert [said(plain, "one", "swh"), said(plain, "one", "hau"), said(other, "three", "swh")] == [["x"], ["z"], ["y"]]
    with pytest.raises(UserError, match="swh/one; delete"):
        said(plain, "one", "swh", TEST[:2])

"""Shots by hand: the nearest, of each label, from a percentile on; and what is scored of the answers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest

from seedbed.classifiers.answers import Answers
from seedbed.classifiers.in_context import Query
from seedbed.evaluation.protocols import icl
from seedbed.evaluation.scores import System, Trial
from seedbed.evaluation.scoring import score, trial_of
from seedbed.evaluation.settings import Task
from seedbed.evaluation.shots import Shots, nearest, queries_of
from seedbed.io import UserError

TRAIN = pd.DataFrame(
    {"id": list("abcdefgh"), "text": ["8", "1", "4", "1", "6", "2", "9", "3"], "label": ["x", "y", "x", "x", "y", "x", "y", "y"]}
)  # fmt: skip
TEST = pd.DataFrame({"id": ["p", "q", "r"], "text": ["0", "5.2", "1.9"], "label": ["x", "y", "x"]})
TASK = Task(protocol="icl", distance="euclidean")


def on_a_line(texts: Sequence[str]) -> np.ndarray:
    return np.array([[float(text), 0] for text in texts], np.float32)


def chosen(shots: Shots) -> list[list[str]]:
    """The texts that each test text is shown with."""
    search, labels = trial_of(TASK, TEST, on_a_line, train=TRAIN).search, TRAIN["label"].to_numpy()
    places = nearest(on_a_line(TEST["text"]), on_a_line(TRAIN["text"]), labels, shots, search)
    return [list(TRAIN["id"][row]) for row in places]


def test_the_nearest_come_first_and_of_equally_near_ones_the_first_in_the_file() -> None:
    # Distances from 0: b, d 1; f 2; h 3; c 4; e 6; a 8; g 9
    assert chosen(Shots(3)) == [["b", "d", "f"], ["e", "c", "h"], ["f", "b", "d"]]


@pytest.mark.parametrize(
    ("percentile", "wanted"),
    [
        (10, [["b", "d"], ["e", "c"], ["f", "b"]]),  # 0.8 of 8 texts: from the first on
        (
            25,
            [["f", "h"], ["h", "a"], ["d", "h"]],
        ),  # from the third; from 5.2: e c h a f g b d; from 1.9: f b d h c e a g
        (75, [["a", "g"], ["b", "d"], ["a", "g"]]),
    ],
)
def test_a_percentile_leaves_out_the_nearest(percentile: int, wanted: list[list[str]]) -> None:
    assert chosen(Shots(2, percentile=percentile)) == wanted


def test_balanced_shots_are_the_nearest_of_each_label() -> None:
    assert chosen(Shots(1, balance=True)) == [["b", "d"], ["e", "c"], ["f", "b"]]
    assert chosen(Shots(2, balance=True))[1] == ["e", "c", "h", "a"]


def test_a_cut_drops_the_farthest_balanced_shots_and_keeps_each_label_while_it_can() -> None:
    """Cuts are from the end: first come the nearest of each label, and then the others, each by distance."""
    labels, every = dict(zip(TRAIN["id"], TRAIN["label"], strict=True)), "abcdefgh"
    away = {text: abs(float(train) - 5.2) for text, train in zip(every, TRAIN["text"], strict=True)}
    found = chosen(Shots(4, balance=True))[1]
    assert sorted(found) == [*every] and {labels[text] for text in found[:2]} == {"x", "y"}
    assert found[:2] == sorted(found[:2], key=away.__getitem__)
    assert found[2:] == sorted(found[2:], key=away.__getitem__)
    # From 0 the nearest: b (y) and d (x) at 1, f (x) at 2, h (y) at 3, c (x) at 4, e (y) at 6
    assert chosen(Shots(3, balance=True))[0] == ["b", "d", "f", "h", "c", "e"]


def test_each_text_is_asked_with_its_own_shots_and_scored() -> None:
    seen: list[Query] = []

    def ask(trial: Trial, labels: Sequence[str]) -> Answers:
        assert labels == ["x", "y"]
        seen.extend(queries_of(trial, Shots(2)))
        return Answers(["x", "x", ""], None, cut=1)

    found = score(TASK, TEST, System(on_a_line, answer=ask), train=TRAIN)
    assert seen[1] == Query("q", "5.2", (("6", "y"), ("4", "x")))
    assert found.main == found.metrics["accuracy"] == pytest.approx(1 / 3)
    # x: 1 of 2 claimed, 1 of 2 found; y and no answer: 0
    assert found.metrics == {
        "accuracy": pytest.approx(1 / 3),
        "macro_f1": pytest.approx(0.5 / 2),
        "unanswered": 1,
        "cut": 1,
    }
    printed = {name: found.metrics[metric.key] for name, metric in icl.METRICS.items()}
    assert (printed["unanswered"], printed["cut"]) == (1, 1)
    assert found.items["predicted"].tolist() == ["x", "x", ""] and found.items["correct"].tolist() == [1, 0, 0]
    assert list(found.items) == ["id", "gold", "predicted", "correct"]


def test_a_task_may_offer_labels_that_no_text_has() -> None:
    """MINERS offers neutral for NollySenti; who answers it is wrong, and it is a class of macro F1."""
    seen: list[str] = []

    def ask(trial: Trial, labels: Sequence[str]) -> Answers:
        seen.extend(labels)
        return Answers(["x", "neutral", "x"], None, cut=0)

    task = TASK.updated({"labels": ["neutral", "x"]})
    found = score(task, TEST, System(answer=ask), train=TRAIN)
    assert seen == ["neutral", "x", "y"]
    assert found.main == pytest.approx(2 / 3) and found.metrics["macro_f1"] == pytest.approx(1 / 3)
    assert found.metrics["unanswered"] == 0


def test_a_further_label_is_written_as_those_of_the_texts_are() -> None:
    assert TASK.updated({"labels": ["e\u0301"]}).labels == ["é"]
    for label in ("", " neutral", "neutral\n"):
        with pytest.raises(ValueError, match="blanks"):
            TASK.updated({"labels": [label]})
    with pytest.raises(UserError, match="labels 'X' and 'x' differ in case alone"):
        score(TASK.updated({"labels": ["X"]}), TEST, System(answer=lambda trial, labels: None), train=TRAIN)


def test_likelihoods_come_with_the_probability_of_the_predicted_label() -> None:
    given = np.array([[0.75, 0.25], [0.5, 0.5], [0.125, 0.875]])
    found = score(TASK, TEST, System(answer=lambda trial, labels: Answers(["x", "x", "y"], given, cut=0)), train=TRAIN)
    assert found.items["probability"].tolist() == [0.75, 0.5, 0.875]


def test_without_shots_nothing_is_embedded() -> None:
    def refuse(texts: Sequence[str]) -> np.ndarray:
        raise AssertionError(texts)

    queries = queries_of(trial_of(TASK, TEST, refuse, train=TRAIN), Shots(0))
    assert [(query.text, query.shots) for query in queries] == [("0", ()), ("5.2", ()), ("1.9", ())]


@pytest.mark.parametrize(
    ("train", "shots", "fault"),
    [
        (None, Shots(0), r"icl:.*training.*give.*`train`"),
        (TRAIN[TRAIN["label"] == "x"], Shots(0), r"icl:.*label 'y'.*have x"),
        (TRAIN, Shots(9), r"icl: 9 shots.*8 training"),
        (TRAIN, Shots(2, percentile=99), r"icl: 2 shots.*percentile 99"),
        (TRAIN, Shots(5, balance=True), r"icl: 5 shots.*4 .*label 'x'"),
    ],
)
def test_what_cannot_be_shown_is_told(train: pd.DataFrame | None, shots: Shots, fault: str) -> None:
    with pytest.raises(UserError, match=fault):
        score(TASK, TEST, System(on_a_line, answer=lambda trial, _: Answers(queries_of(trial, shots))), train=train)

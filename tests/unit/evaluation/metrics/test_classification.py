"""Accuracy by hand; the vote of the nearest neighbours against collections.Counter, which MINERS uses."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedbed.classifiers.answers import Answers, likeliest
from seedbed.evaluation.classification import vote
from seedbed.evaluation.protocols import main_metric
from seedbed.evaluation.scores import System
from seedbed.evaluation.scoring import score
from seedbed.evaluation.settings import Task
from seedbed.io import UserError


def test_majority_then_nearest() -> None:
    labels = [
        ["joy", "anger", "anger"],  # a majority beats the nearest
        ["joy", "anger", "fear"],  # all tie: the nearest
        ["fear", "joy", "anger"],
    ]
    assert vote(labels).tolist() == ["anger", "joy", "fear"]


def test_a_tie_goes_to_the_label_met_first_not_to_the_nearer_majority() -> None:
    assert vote([[2, 1, 1, 2]]).tolist() == [2]
    assert vote([[0, 2, 1, 1, 2]]).tolist() == [2]


@given(st.integers(1, 12).flatmap(lambda k: st.lists(st.lists(st.integers(0, 4), min_size=k, max_size=k), min_size=1)))
def test_agrees_with_counter(labels: list[list[int]]) -> None:
    assert vote(labels).tolist() == [Counter(row).most_common(1)[0][0] for row in labels]


NLI = Task(protocol="classification")
TEST = pd.DataFrame({"id": list("abcd"), "label": ["entailment", "neutral", "neutral", "entailment"]})


def test_accuracy_and_its_items() -> None:
    scores = [[2, 1, 0], [0, 3, 2], [1, 1, 0], [5, 4, 0]]
    found = score(NLI, TEST, System(answer=lambda asked, labels: likeliest(scores, labels)))
    assert found.main == found.metrics["accuracy"] == 0.75
    # entailment: precision 2/3, recall 1; neutral: precision 1, recall 1/2
    assert found.metrics["macro_f1"] == pytest.approx((0.8 + 2 / 3) / 2)
    assert found.items["predicted"].tolist() == ["entailment", "neutral", "entailment", "entailment"]
    assert found.items["correct"].tolist() == [1, 1, 0, 1] and found.items["gold"].equals(TEST["label"])


@pytest.mark.parametrize(
    ("scores", "fault"),
    [
        (np.zeros((4, 2)), r"scores \(4, 2\) of 3 labels"),
        (np.full((4, 3), np.nan), "not finite"),
        (np.zeros((3, 3)), "3 labels of 4 items"),
    ],
)
def test_scores_that_cannot_be_used(scores: np.ndarray, fault: str) -> None:
    with pytest.raises(UserError, match=fault):
        score(NLI, TEST, System(answer=lambda asked, labels: likeliest(scores, labels)))


def test_no_encoder_answers_what_asks_for_labels() -> None:
    with pytest.raises(UserError, match=r"classification.*labels.*vectors and distances"):
        score(NLI, TEST, System(on_grid))
    pairs = pd.DataFrame({"id": ["1"], "sentence1": ["a"], "sentence2": ["b"], "score": ["1"]})
    with pytest.raises(UserError, match=r"sts.*vectors.*labels alone"):
        score(Task(protocol="sts"), pairs, System(answer=lambda asked, labels: Answers(["x"])))


LABELS = ["joy", "anger", "fear"]


def labelled(seed: int, n: int) -> pd.DataFrame:
    """Sentences on a grid of few points, so that many are equally near."""
    rng = np.random.default_rng(seed)
    texts = [" ".join(map(str, rng.integers(0, 3, size=3))) for _ in range(n)]
    labels = [*LABELS, *rng.choice(LABELS, size=n - 3)]
    return pd.DataFrame({"id": [str(i) for i in range(n)], "text": texts, "label": labels})


def on_grid(texts: list[str]) -> np.ndarray:
    return np.array([text.split() for text in texts], np.float32)


@pytest.mark.parametrize("seed", range(3))
def test_neighbours_vote_as_in_a_plain_loop(seed: int) -> None:
    train, test = labelled(seed, 60), labelled(seed + 10, 30)
    task = Task(protocol="knn", distance="euclidean", k=[1, 5, 10])
    found = score(task, test, System(on_grid), train=train)
    corpus = on_grid(list(train["text"])).astype(float)
    for k in (1, 5, 10):
        predicted = []
        for query in on_grid(list(test["text"])).astype(float):
            far = [np.linalg.norm(query - other) for other in corpus]
            near = sorted(range(60), key=lambda place, far=far: (far[place], place))[:k]
            predicted.append(Counter(train["label"][near]).most_common(1)[0][0])
        assert found.items[f"predicted_{k}"].tolist() == predicted
        right = [guess == gold for guess, gold in zip(predicted, test["label"], strict=True)]
        assert found.metrics[f"accuracy_at_{k}"] == pytest.approx(np.mean(right))
        of_class = []
        for label in LABELS:
            both = predicted.count(label) + list(test["label"]).count(label)
            hits = sum(guess == gold == label for guess, gold in zip(predicted, test["label"], strict=True))
            of_class.append(2 * hits / both)
        assert found.metrics[f"macro_f1_at_{k}"] == pytest.approx(np.mean(of_class))
    assert found.main == found.metrics["accuracy_at_10"]


@pytest.mark.parametrize(("ks", "main"), [([1, 5, 20], 5), ([1, 10, 20], 10), ([3, 15], 15)])
def test_the_main_score_is_accuracy_at_the_largest_k_of_tables_and_else_at_the_largest(
    ks: list[int], main: int
) -> None:
    train, test = labelled(0, 60), labelled(10, 30)
    found = score(Task(protocol="knn", k=ks), test, System(on_grid), train=train)
    at = {k: found.metrics[f"accuracy_at_{k}"] for k in ks}
    assert [k for k in ks if at[k] == found.main] == [main]


def test_tables_and_cards_name_the_same_main_metric() -> None:
    assert main_metric("knn", [1, 3, 5]) == "accuracy@5" and main_metric("knn", [20, 1]) == "accuracy@1"
    with pytest.raises(ValueError, match="k: 3; tables of knn have 10, 5, 1"):
        main_metric("knn", [3])


def test_a_label_that_no_training_sentence_has() -> None:
    train, test = labelled(0, 30), labelled(1, 20)
    with pytest.raises(UserError, match=r"knn:.*label 'fear'.*anger"):
        score(Task(protocol="knn"), test, System(on_grid), train=train[train["label"] != "fear"])


def test_more_neighbours_than_training_sentences() -> None:
    train = labelled(0, 30)
    with pytest.raises(UserError, match=r"knn: k is 31.*30"):
        score(Task(protocol="knn", k=[1, 31]), train, System(on_grid), train=train)

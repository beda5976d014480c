"""Labels without a model against closed forms, and the scores that stand beside those of neighbours."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from seedbed.classifiers.answers import Answers
from seedbed.evaluation.scores import Scores, System
from seedbed.evaluation.scoring import score
from seedbed.evaluation.settings import Task
from seedbed.evaluation.systems.chance import majority, random_labels
from seedbed.io import UserError

TRAIN = pd.DataFrame({"label": ["sad", "joy", "joy", "fear", "sad"]})
KNN = Task(protocol="knn", k=[1, 5, 10])


def by_classifier(test: pd.DataFrame, predicted: list[str], train: pd.DataFrame | None = TRAIN) -> Scores:
    return score(KNN, test, System(answer=lambda *_: Answers(predicted)), train=train)


def texts(count: int, language: str = "") -> pd.DataFrame:
    labels = [("fear", "joy", "joy", "sad")[n % 4] for n in range(count)]
    return pd.DataFrame(
        {"id": [str(n) for n in range(count)], "text": [f"{language} {n}" for n in range(count)], "label": labels}
    )


def test_the_majority_is_that_of_the_training_set_and_its_accuracy_the_frequency_in_the_test_set() -> None:
    test = texts(8)
    found = by_classifier(test, majority(TRAIN, test))
    assert {*found.items["predicted_10"]} == {"joy"}  # as frequent as sad, and first by name
    assert found.main == found.metrics["accuracy_at_1"] == 4 / 8
    assert majority(pd.DataFrame({"label": ["sad", "sad", "joy"]}), test) == ["sad"] * 8  # half of the test set is joy
    # joy: precision 1/2, recall 1; the others nothing
    assert found.metrics["macro_f1_at_10"] == pytest.approx(2 / 3 / 3)


def test_there_is_one_number_whatever_k_with_the_columns_of_neighbours() -> None:
    found = by_classifier(texts(12), random_labels(["fear", "joy", "sad"], texts(12), 1))
    for metric in ("accuracy", "macro_f1"):
        assert len({found.metrics[f"{metric}_at_{k}"] for k in KNN.k}) == 1
    assert list(found.items) == ["id", "gold", *(f"{part}_{k}" for k in KNN.k for part in ("predicted", "correct"))]
    for k in KNN.k:
        assert (found.items[f"correct_{k}"] == (found.items["gold"] == found.items[f"predicted_{k}"])).all()


def test_each_label_is_drawn_as_often_whatever_the_training_set_has() -> None:
    """Expected accuracy 1 / labels: within 4 standard errors of it, and so is each label's share."""
    labels, test = ["fear", "joy", "sad"], texts(6_000)
    found = np.array(random_labels(labels, test, 1))
    error = np.sqrt(1 / 3 * 2 / 3 / len(test))
    assert abs((found == test["label"]).mean() - 1 / 3) < 4 * error
    assert all(abs((found == label).mean() - 1 / 3) < 4 * error for label in labels)


def test_a_draw_hangs_on_seed_and_text_alone() -> None:
    labels, test = ["fear", "joy", "sad"], texts(200)
    found = random_labels(labels, test, 1)
    assert random_labels(labels, test, 1) == found == random_labels(labels, test[::-1], 1)[::-1]
    assert random_labels(labels, test[50:], 1) == found[50:]
    # Another seed, and the same ids in another language, agree as often as chance has it.
    for other in (random_labels(labels, test, 2), random_labels(labels, texts(200, "hau"), 1)):
        assert abs(np.mean(np.array(other) == np.array(found)) - 1 / 3) < 4 * np.sqrt(2 / 9 / 200)


@pytest.mark.parametrize(
    ("train", "told"),
    [(None, "knn: no training set"), (TRAIN[:3], r"knn:.*label 'fear'.*joy")],
)
def test_a_label_that_cannot_be_given(train: pd.DataFrame | None, told: str) -> None:
    with pytest.raises(UserError, match=told):
        by_classifier(texts(4), ["joy"] * 4, train)

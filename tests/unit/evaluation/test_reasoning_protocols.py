"""Problems and questions with options by hand: which numbers match, which letters count, what chance would have."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest

from seedbed.classifiers.answers import Answers
from seedbed.evaluation.protocols import names
from seedbed.evaluation.scores import Scores, System, Trial
from seedbed.evaluation.scoring import check, score
from seedbed.evaluation.settings import Task
from seedbed.io import UserError

MATH, CHOICE = Task(protocol="math"), Task(protocol="multiple_choice")
PROBLEMS = pd.DataFrame({"id": list("abcd"), "question": ["q"] * 4, "answer": ["18", "70000", "5.50", "3"]})
QUESTIONS = pd.DataFrame(
    {
        "id": list("abc"),
        "passage": ["", "p", ""],
        "question": ["q"] * 3,
        "answers": ['["x", "y"]', '["x", "y", "z", "w"]', '["x", "y"]'],
        "correct": ["2", "3", "1"],
    }
)


def solved(texts: Sequence[str], cut: int = 0) -> Scores:
    def answer(trial: Trial, labels: Sequence[str]) -> Answers:
        assert labels == ()
        return Answers(list(texts), None, cut)

    return score(MATH, PROBLEMS, System(answer=answer))


def chosen(labels: list[str], probabilities: np.ndarray | None = None) -> Scores:
    def answer(trial: Trial, letters: Sequence[str]) -> Answers:
        assert letters == ["A", "B", "C", "D"]
        return Answers(labels, probabilities)

    return score(CHOICE, QUESTIONS, System(answer=answer))


def test_the_last_number_is_the_answer_in_digits_of_any_script() -> None:
    found = solved(["She has 9 * 2 = $18.", "৭০,০০০", "5,5 Euro", "I do not know."], cut=1)
    assert list(found.items["correct"]) == [1, 1, 1, 0]
    assert found.main == 0.75
    assert found.metrics == {"accuracy": 0.75, "unanswered": 1, "cut": 1}
    assert list(found.items["predicted"]) == ["18", "70000", "5.5", ""]


def test_a_gold_answer_is_read_in_the_language_of_the_test() -> None:
    german = PROBLEMS.assign(answer=["70.000", "1.250", "18", "3,5"])
    texts = ["Die Antwort ist 70.000.", "Es sind 1250.", "18", "3,50 Euro"]
    found = score(MATH, german, System(answer=lambda trial, labels: Answers(texts, None, 0)), language="deu")
    assert list(found.items["gold"]) == ["70000", "1250", "18", "3.5"] and found.main == 1


def test_a_gold_answer_that_is_no_number_is_found_before_a_model_is_asked() -> None:
    wrong = PROBLEMS.assign(answer=["18", "many", "5", "3"])
    with pytest.raises(UserError, match=r"math:.*'b'.*'many'"):
        check(MATH, wrong)
    check(MATH, PROBLEMS)


def test_letters_of_other_questions_are_no_answer() -> None:
    likely = np.array([[0.1, 0.2, 0.3, 0.4], [0.1, 0.2, 0.4, 0.3], [0.3, 0.3, 0.4, 0.0]])
    found = chosen(["D", "C", "C"], likely)
    assert list(found.items["predicted"]) == ["B", "C", "A"], "of equally likely letters the first"
    assert found.metrics == {"accuracy": 1.0, "chance": (1 / 2 + 1 / 4 + 1 / 2) / 3, "unanswered": 0}
    written = chosen(["D", "C", ""])
    assert list(written.items["predicted"]) == ["", "C", ""]
    assert written.metrics["unanswered"] == 2


def test_more_options_than_letters() -> None:
    many = QUESTIONS.assign(answers=['["' + '", "'.join(map(str, range(27))) + '"]'] * 3)
    with pytest.raises(UserError, match=r"27 options.*26 letters"):
        check(CHOICE, many)


def test_an_encoder_needs_a_passage() -> None:
    with pytest.raises(UserError, match=r"choice: 'a'.*compares"):
        score(Task(protocol="choice"), QUESTIONS, System(lambda texts: np.ones((len(texts), 2))))
    assert {"math", "multiple_choice"} <= {*names()}
    with pytest.raises(UserError, match="protocol math asks for labels"):
        score(MATH, PROBLEMS, System(lambda texts: np.ones((len(texts), 2))))

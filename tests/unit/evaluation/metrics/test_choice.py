"""Multiple choice: what is nearest, against loops; the protocol, whatever the number of answers; what is refused."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest

from seedbed.evaluation.files import read_set
from seedbed.evaluation.protocols.choice import nearest_candidates
from seedbed.evaluation.scores import System
from seedbed.evaluation.scoring import score, texts
from seedbed.evaluation.settings import Task
from seedbed.io import UserError, write_table
from tests.unit.evaluation.test_protocols import encode

CHOICE = Task(protocol="choice")
RNG = np.random.default_rng(5)


def asked(counts: list[int], correct: list[int]) -> pd.DataFrame:
    """Questions with so many answers."""
    every = [[f"answer {row} {number}" for number in range(count)] for row, count in enumerate(counts)]
    return pd.DataFrame(
        {
            "id": [f"q{row}" for row in range(len(counts))],
            "passage": [f"passage {row // 2}" for row in range(len(counts))],
            "question": [f"question {row}" for row in range(len(counts))],
            "answers": [json.dumps(answers) for answers in every],
            "correct": [str(number) for number in correct],
        }
    )


def by_loops(candidates: list, passage: list) -> int:
    """The first candidate with the greatest cosine, number by number."""
    best, found = -2.0, -1
    for place, candidate in enumerate(candidates):
        dot = math.fsum(a * b for a, b in zip(candidate, passage, strict=True))
        lengths = math.sqrt(math.fsum(a * a for a in candidate)) * math.sqrt(math.fsum(b * b for b in passage))
        if dot / lengths > best + 1e-12:
            best, found = dot / lengths, place
    return found


@pytest.mark.parametrize(("n", "options", "width"), [(1, 2, 1), (7, 4, 3), (40, 5, 16), (3, 1, 2), (0, 4, 8)])
def test_the_chosen_are_those_of_loops(n: int, options: int, width: int) -> None:
    candidates, passages = RNG.normal(size=(n, options, width)), RNG.normal(size=(n, width))
    found = nearest_candidates(candidates, passages)
    assert found.shape == (n,)
    assert found.tolist() == [by_loops(*both) for both in zip(candidates.tolist(), passages.tolist(), strict=True)]


def test_lengths_count_for_nothing_and_the_first_of_equals_is_taken() -> None:
    candidates, passages = RNG.normal(size=(50, 6, 9)), RNG.normal(size=(50, 9))
    found = nearest_candidates(candidates, passages)
    scaled = candidates * RNG.uniform(0.01, 100, size=(50, 6, 1))
    np.testing.assert_array_equal(nearest_candidates(scaled, 7 * passages), found)
    rows = np.arange(50)
    twice = np.concatenate([candidates, candidates[rows, found][:, None] * 3], axis=1)
    np.testing.assert_array_equal(nearest_candidates(twice, passages), found, "the copy is later")
    np.testing.assert_array_equal(
        nearest_candidates(twice[:, ::-1], passages), 0 * found, "the copy, three times as long, is first"
    )
    order = RNG.permutation(6)
    np.testing.assert_array_equal(order[nearest_candidates(candidates[:, order], passages)], found)


def test_what_has_no_nearest_is_refused() -> None:
    for candidates, passages in ((np.ones((1, 2, 2)), np.zeros((1, 2))), (np.zeros((1, 2, 2)), np.ones((1, 2)))):
        with pytest.raises(UserError, match=r"^choice: .*a zero vector"):
            nearest_candidates(candidates, passages)


def test_accuracy_is_of_each_question_with_its_own_number_of_answers() -> None:
    test = asked([4, 2, 5, 4, 3, 2] * 5, [2, 1, 5, 4, 3, 2] * 5)
    calls: list[list[str]] = []
    found = score(CHOICE, test, System(lambda wanted: calls.append(list(wanted)) or encode(wanted)))
    expected = []
    for row in test.to_dict("records"):
        candidates = [encode([f"{row['question']} {answer}"])[0].tolist() for answer in json.loads(row["answers"])]
        expected.append(by_loops(candidates, encode([row["passage"]])[0].tolist()) + 1)
    assert found.items["predicted"].tolist() == expected
    assert found.items["gold"].tolist() == [int(number) for number in test["correct"]]
    assert found.main == found.metrics["accuracy"] == np.mean(found.items["correct"]) == np.mean(
        [one == int(other) for one, other in zip(expected, test["correct"], strict=True)]
    )  # fmt: skip
    (call,) = calls
    assert len(call) == len({*call}) and sorted(call) == sorted(texts(CHOICE, test)), (
        "each text once; no question alone"
    )


def test_of_two_languages_passages_are_the_other_encoders() -> None:
    test = asked([4, 3, 4], [1, 2, 3])
    seen: dict[str, list[str]] = {"one": [], "other": []}

    def by(name: str):
        return lambda wanted: seen[name].extend(wanted) or encode(wanted)

    found = score(CHOICE, test, System(by("one"), second=by("other")))
    assert {*seen["other"]} == {*test["passage"]} and all(text.startswith("question") for text in seen["one"])
    assert found.main == score(CHOICE, test, System(encode)).main, "of one space there is no difference"


def test_equal_answers_are_what_belebele_has_and_the_first_is_taken() -> None:
    """Two of the 900 English questions have a pair of equal answers; one of a pair is the right one."""
    test = asked([3, 3], [1, 2]).assign(answers=['["a", "a", "b"]', '["b", "a", "a"]'], passage="question 0 a")
    found = score(CHOICE, test.assign(question="question 0"), System(encode))
    assert found.items["predicted"].tolist() == [1, 2] and found.main == 1
    assert found.notes == ["2 questions have two equal answers, of which the first is taken"]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"correct": ["5", "1"]}, r"'q0'.*correct '5' of 4.*from 1"),
        ({"correct": ["1", "0"]}, r"'q1'.*correct '0' of 2"),
        ({"correct": ["B", "1"]}, "id 'q0' has correct 'B'"),
        ({"answers": ['["a", "", "b"]', '["a", "b"]']}, "id 'q0' has an empty answer"),
        ({"answers": ['["a"]', '["a", "b"]']}, r"'q0'.*fewer.*answers"),
        ({"answers": ["a, b", '["a", "b"]']}, r"'q0'.*answers.*list"),
    ],
)
def test_bad_answers_are_one_line(tmp_path, changes: dict, told: str) -> None:
    write_table(asked([4, 2], [1, 1]).assign(**changes), tmp_path / "x.tsv")
    with pytest.raises(UserError, match=told):
        read_set(CHOICE, tmp_path / "x.tsv")

"""Multiple choice: the answer that, with its question, is nearest to the passage by cosine.

Corpora: `passage`, `question`, `answers`, a list in JSON of two or more, and `correct`, the number of the right one,
from 1; or a column for each answer, `answer_1`, `answer_2`, and so on. A candidate is "question answer". Items: id,
gold and predicted number of the answer, correct. The main score is `accuracy`. Paper 004, appendix C.2.

    belebele:
      protocol: choice
      source:
        hub: facebook/belebele
        config: "{lang}_{script}"
        split: test
        columns: {id: [link, question_number], passage: flores_passage, question: question, answer_1: mc_answer1,
          answer_2: mc_answer2, answer_3: mc_answer3, answer_4: mc_answer4, correct: correct_answer_num}
"""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from seedbed.corpora.shape.choices import correct_indices, count_repeated, options
from seedbed.evaluation.protocols import Metric, Protocol
from seedbed.evaluation.scores import Scores, Trial
from seedbed.io import UserError
from seedbed.vectors.checked import to_unit_length

PROTOCOL = Protocol(kind="choices", asks=("vectors",), second=("passage",))
METRICS = {"accuracy": Metric("accuracy", ("correct",))}

ROUNDING = 1e-12
"""Cosines that differ by no more than this count as equal."""


def score(trial: Trial) -> Scores:
    """Compute the share of questions whose right answer is nearest to the passage; of equally near answers, the first
    counts.

    Raises:
        UserError: a question without a passage, or a zero vector.
    """
    test = trial.test
    if (test["passage"] == "").any():
        raise UserError(
            f"choice: {test['id'][test['passage'] == ''].iloc[0]!r} has no passage, with which an encoder compares; "
            "questions alone are for protocol multiple_choice"
        )
    gold, counts = np.array(correct_indices(test, "choice")), np.array([len(each) for each in options(test, "choice")])
    candidates, passages = trial.embed(_candidates(test), test["passage"])
    starts, chosen = counts.cumsum() - counts, np.empty(len(test), np.int64)
    for count in np.unique(counts):  # rows with as many answers at once
        rows = np.flatnonzero(counts == count)
        chosen[rows] = nearest_candidates(candidates[starts[rows, None] + np.arange(count)], passages[rows])
    hits = (chosen == gold).astype(float)
    items = pd.DataFrame({"id": test["id"], "gold": gold + 1, "predicted": chosen + 1, "correct": hits})
    accuracy = float(hits.mean())
    equal = count_repeated(test, "choice")
    notes = [f"{equal} questions have two equal answers, of which the first is taken"] if equal else []
    return Scores(accuracy, {"accuracy": accuracy}, items, notes)


def nearest_candidates(candidates: NDArray, passages: NDArray) -> NDArray[np.int64]:
    """Index (n,) of the candidate with the highest cosine to each passage; of equals, the first.

    Args:
        candidates: vectors (n, options, d) of each passage's candidates.
        passages: vectors (n, d).

    Raises:
        UserError: a zero vector.
    """
    zero = "choice: a zero vector, which has no cosine; the encoder's training collapsed"
    candidates, passages = (to_unit_length(x.astype(np.float64), zero) for x in (candidates, passages))
    cosines = (candidates * passages[:, None]).sum(axis=-1)
    return (cosines >= cosines.max(axis=1, keepdims=True) - ROUNDING).argmax(axis=1)


def texts(test: pd.DataFrame) -> list[str]:
    """The texts to encode: the candidates "question answer" of all rows, then their passages."""
    return [*_candidates(test), *test["passage"]]


def composed(test: pd.DataFrame) -> dict[str, tuple[str, str]]:
    """Candidate -> its question and its answer, which are translated separately."""
    return {f"{question} {answer}": (question, answer) for question, answer in _answered(test)}


def _candidates(test: pd.DataFrame) -> pd.Series:
    """Each answer after its question, row by row; called `question`, since that is whose language it is in."""
    return pd.Series([f"{question} {answer}" for question, answer in _answered(test)], name="question")


def _answered(test: pd.DataFrame) -> list[tuple[str, str]]:
    rows = zip(test["question"], options(test, "choice"), strict=True)
    return [(question, answer) for question, answers in rows for answer in answers]

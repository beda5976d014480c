"""Questions with options, answered by a language model: the option whose letter is likeliest (X-CSQA; LiRA, paper 002).

Accuracy (main) and `chance`, the mean of 1 / options; `unanswered` counts the answers that are no letter of the
question's. Corpora as of `choice`; `passage` may be missing. Items: id, gold, predicted, correct.

    xcsqa:
      protocol: multiple_choice
      source:
        hub: INK-USC/xcsr
        config: "X-CSQA-{iso1}"
        split: validation
        columns: {id: id, question: question.stem, answers: question.choices.text, correct: answerKey}
        replace: {correct: {A: "1", B: "2", C: "3", D: "4", E: "5"}}
"""

from string import ascii_uppercase

import numpy as np
import pandas as pd

from seedbed.corpora.shape.choices import correct_indices, options
from seedbed.evaluation.protocols import Metric, Protocol
from seedbed.evaluation.scores import Scores, Trial
from seedbed.io import UserError

PROTOCOL = Protocol(kind="choices", asks=("labels",))
METRICS = {
    "accuracy": Metric("accuracy", ("correct",)),
    "chance": Metric("chance"),
    "unanswered": Metric("unanswered", points=1, lower=True),
}


def score(trial: Trial) -> Scores:
    """Compute the share of questions that are answered with the right option; of equally likely letters, the first
    counts.

    Raises:
        UserError: a question with more options than letters.
    """
    test = trial.test
    gold = correct_indices(test, "multiple_choice")
    counts = np.array([len(each) for each in options(test, "multiple_choice")])
    if (most := int(counts.max())) > len(ascii_uppercase):
        raise UserError(f"multiple_choice: a question has {most} options, and there are {len(ascii_uppercase)} letters")
    letters = list(ascii_uppercase[:most])
    found = trial.answer(trial, letters)
    if found.probabilities is None:
        known = [letters.index(letter) if letter in letters else most for letter in found.labels]
        chosen = [place if place < count else None for place, count in zip(known, counts, strict=True)]
    else:  # a letter that a question does not have is no answer to it
        there = np.arange(most) < counts[:, None]
        chosen = np.where(there, found.probabilities, -1.0).argmax(axis=1).tolist()
    said = ["" if place is None else letters[place] for place in chosen]
    items = pd.DataFrame({"id": test["id"], "gold": [letters[place] for place in gold], "predicted": said})
    items["correct"] = (items["gold"] == items["predicted"]).astype(int)
    accuracy = float(items["correct"].mean())
    chance = float((1 / counts).mean())
    return Scores(accuracy, {"accuracy": accuracy, "chance": chance, "unanswered": float(said.count(""))}, items)

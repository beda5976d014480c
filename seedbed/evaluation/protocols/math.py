"""Problems with a number for an answer, solved by a language model: the share of exact matches (MGSM; LiRA, paper 002).

The last number in the generated text counts (`metrics.answers.number`: digits of any script, the language's
separators). `unanswered` counts answers without a number, `cut` those truncated at the length limit. Corpora:
`question`, `answer`, a number. Items: id, gold, predicted, correct. The main score is `accuracy`.

    mgsm:
      protocol: math
      source: {file: "own/mgsm_{iso1}.tsv", columns: {question: 0, answer: 1}}
"""

import pandas as pd

from seedbed.evaluation.metrics.answers import number
from seedbed.evaluation.protocols import Metric, Protocol
from seedbed.evaluation.scores import Scores, Trial
from seedbed.io import UserError

PROTOCOL = Protocol(kind="problems", asks=("labels",))
METRICS = {
    "accuracy": Metric("accuracy", ("correct",)),
    "unanswered": Metric("unanswered", points=1, lower=True),
    "cut": Metric("cut", points=1, lower=True),
}


def score(trial: Trial) -> Scores:
    """Compute the share of problems whose answer ends with the gold number.

    Raises:
        UserError: a gold answer without a number.
    """
    test = trial.test
    gold = [number(answer, trial.language) for answer in test["answer"]]
    if wrong := [row for row, value in zip(test["id"], gold, strict=True) if not value]:
        said = test["answer"][test["id"] == wrong[0]].iloc[0]
        raise UserError(f"math: id {wrong[0]!r} has the answer {said!r}, which is no number; correct the test set")
    found = trial.answer(trial, ())
    predicted = [number(text, trial.language) for text in found.labels]
    items = pd.DataFrame({"id": test["id"], "gold": gold, "predicted": predicted})
    items["correct"] = (items["gold"] == items["predicted"]).astype(int)
    accuracy = float(items["correct"].mean())
    counts = {"unanswered": float(predicted.count("")), "cut": float(found.cut)}
    return Scores(accuracy, {"accuracy": accuracy} | counts, items)

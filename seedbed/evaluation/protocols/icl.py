"""In-context classification: a language model labels a text after a few labelled ones (MINERS, section 2.2).

Accuracy (main) and macro F1 over the labels, for which an answer that is no label is wrong; `unanswered` counts those,
`cut` the prompts that had to lose examples. Corpora: `text`, `label`; the training set gives the labels and the shots,
which a retriever's embeddings find by `distance`. Items: id, gold, predicted (empty: the answer is no label), correct
and, of likelihoods, the probability of the predicted label.

    sentiment:
      protocol: icl
      source: {file: "own/{lang}.test.tsv"}
      train: {file: "own/{lang}.train.tsv"}
      train_language: eng
      instruction: Generate a sentiment label for a given input.
      labels: [neutral]
      distance: euclidean
"""

from __future__ import annotations

from seedbed.evaluation.aggregation import MACRO_F1
from seedbed.evaluation.protocols import Metric, Protocol
from seedbed.evaluation.scores import Scores, Trial

PROTOCOL = Protocol(
    kind="labelled_texts", asks=("labels",), options=("train", "train_language", "distance", "instruction", "labels")
)
METRICS = {
    "accuracy": Metric("accuracy", ("correct",)),
    "macro f1": Metric("macro_f1", ("gold", "predicted"), MACRO_F1, title="Macro F1"),
    "unanswered": Metric("unanswered", points=1, lower=True),
    "cut": Metric("cut", points=1, lower=True),
}


def score(trial: Trial) -> Scores:
    """Compute accuracy and macro F1 of a language model's labels.

    Raises:
        UserError: no training set, one with too few texts or a single label, or a test label that it lacks.
    """
    from seedbed.evaluation.classification import known_labels, of_labels

    found = trial.answer(trial, known_labels("icl", trial.test, trial.train, also=trial.task.labels))
    scores = of_labels(trial.test, found.labels)
    if found.probabilities is not None:
        scores.items["probability"] = found.probabilities.max(axis=1).round(6)
    scores.metrics.update({"unanswered": float(found.labels.count("")), "cut": float(found.cut)})
    return scores

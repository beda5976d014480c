"""Natural language inference: the share of labelled pairs that a classifier labels rightly, and macro F1.

Corpora: `premise`, `hypothesis`, `label` (entailment, neutral, contradiction). Items: id, gold, predicted, correct.
No encoder is scored. The main score is accuracy.

    xnli:
      protocol: classification
      source: {file: "own/{lang}.nli.tsv"}
"""

from seedbed.corpora.shape.labels import LABELS
from seedbed.evaluation.protocols import Metric, Protocol
from seedbed.evaluation.scores import Scores, Trial

PROTOCOL = Protocol(kind="labelled_pairs", asks=("labels",))
METRICS = {"accuracy": Metric("accuracy", ("correct",))}


def score(trial: Trial) -> Scores:
    """Compute accuracy and macro F1 of a classifier's labels."""
    from seedbed.evaluation.classification import of_labels

    return of_labels(trial.test, trial.answer(trial, LABELS).labels)

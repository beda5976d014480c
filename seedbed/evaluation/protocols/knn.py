"""Labels by the vote of the k nearest training sentences (MINERS, section 2.2), or by a classifier.

Accuracy (main, at the largest k of tables) and macro F1 at each k. A classifier has one answer whatever k, so its
numbers compare with those of neighbours. Corpora: `text`, `label`, of the test and of the training set, which may be in
another language. Items: id, gold, predicted and correct at each k.

A language model in context is prompted with `instruction`.

    topics:
      protocol: knn
      source: {file: "own/{lang}.test.tsv"}
      train: {file: "own/{lang}.train.tsv"}
      train_language: eng
      k: [1, 5, 10]
      distance: euclidean
      instruction: Generate a topic label for a given input.
"""

from collections.abc import Mapping

import pandas as pd
from numpy.typing import NDArray

from seedbed.evaluation.aggregation import MACRO_F1
from seedbed.evaluation.protocols import Metric, Protocol
from seedbed.evaluation.scores import Scores, Trial
from seedbed.io import UserError

PROTOCOL = Protocol(
    kind="labelled_texts",
    asks=("distances", "labels"),
    options=("train", "train_language", "distance", "k", "instruction"),
    chooses=True,
)
LARGEST_FIRST = (10, 5, 1)
"""Each k of tables. The main metric is the first that a task has."""
METRICS = {f"accuracy@{k}": Metric(f"accuracy_at_{k}", (f"correct_{k}",), k=k) for k in LARGEST_FIRST} | {
    f"macro f1@{k}": Metric(f"macro_f1_at_{k}", ("gold", f"predicted_{k}"), MACRO_F1, title=f"Macro F1@{k}", k=k)
    for k in LARGEST_FIRST
}


def score(trial: Trial) -> Scores:
    """Compute accuracy and macro F1 of labels that neighbours vote for, or that a classifier gives.

    Raises:
        UserError: no training set, one smaller than k or with a single label, or a test label that it lacks.
    """
    from seedbed.evaluation.classification import known_labels, vote

    train, test, ks = trial.train, trial.test, trial.task.k
    if trial.answer:
        return _at_each(test, dict.fromkeys(ks, trial.answer(trial, known_labels("knn", test, train)).labels))
    if train is None or max(ks) > len(train):
        count = 0 if train is None else len(train)
        raise UserError(f"knn: k is {max(ks)}, but there are {count} training sentences; set `k:` of the task")
    known_labels("knn", test, train)
    corpus, queries = trial.embed(train["text"], test["text"])
    labels = train["label"].to_numpy()[trial.search(queries, corpus, max(ks))]
    return _at_each(test, {k: vote(labels[:, :k]) for k in ks})


def _at_each(test: pd.DataFrame, predicted: Mapping[int, NDArray | list[str]]) -> Scores:
    """Scores of the labels predicted at each k."""
    from seedbed.evaluation.classification import of_labels

    metrics, items = {}, test[["id"]].assign(gold=test["label"])
    for k, labels in predicted.items():
        found = of_labels(test, labels)
        items = items.assign(**{f"predicted_{k}": found.items["predicted"], f"correct_{k}": found.items["correct"]})
        metrics |= {f"{name}_at_{k}": value for name, value in found.metrics.items()}
    main = next((k for k in LARGEST_FIRST if k in predicted), max(predicted))
    return Scores(metrics[f"accuracy_at_{main}"], metrics, items)

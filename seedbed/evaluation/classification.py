"""Classification: how right labels are, and labels by the nearest training sentences (MINERS, section 2.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import f1_score

from seedbed.evaluation.scores import Asked, Scores
from seedbed.evaluation.settings import Task
from seedbed.io import UserError


def score(test: pd.DataFrame, label_scores: ArrayLike, labels: Sequence[str]) -> Scores:
    """Accuracy of the label with the highest score; among equal ones the first.

    Args:
        test: id and label.
        label_scores: (n, labels), logits or log-likelihoods.
        labels: what the columns stand for.

    Returns:
        accuracy (main) and macro F1; by item the gold and the predicted label, and whether they are the same.

    Raises:
        UserError: shapes that do not fit, or a score that is not finite.
    """
    label_scores = np.asarray(label_scores, dtype=np.float64)
    if label_scores.shape != (len(test), len(labels)):
        raise UserError(f"classification: scores {label_scores.shape} of {len(test)} items and {len(labels)} labels")
    if not np.isfinite(label_scores).all():
        raise UserError("classification: the model gives scores that are not finite; its training diverged")
    return of_labels(test, np.asarray(labels)[label_scores.argmax(axis=1)])


def of_labels(test: pd.DataFrame, predicted: Sequence[str] | NDArray) -> Scores:
    """Accuracy (main) and macro F1 over the labels that are gold or predicted; items as `score`.

    Args:
        test: id and label.
        predicted: (n,).
    """
    items = pd.DataFrame({"id": test["id"], "gold": test["label"], "predicted": np.asarray(predicted, dtype=object)})
    items["correct"] = (items["gold"] == items["predicted"]).astype(int)
    accuracy = float(items["correct"].mean())
    macro_f1 = float(f1_score(items["gold"], items["predicted"], average="macro", zero_division=0))
    return Scores(accuracy, {"accuracy": accuracy, "macro_f1": macro_f1}, items)


def known_labels(protocol: str, test: pd.DataFrame, train: pd.DataFrame | None, also: Iterable[str] = ()) -> list[str]:
    """The labels of the training set and `also` others, sorted.

    Raises:
        UserError: no training set, or a test label that is none of them.
    """
    if train is None:
        raise UserError(f"{protocol}: no training set; give the task `train`, or `set_of` a task with one")
    known = sorted({*train["label"], *also})
    if unseen := sorted({*test["label"]} - {*known}):
        raise UserError(f"{protocol}: no training sentence has the label {unseen[0]!r}; they have {', '.join(known)}")
    return known


def by_neighbours(asked: Asked) -> Scores:
    """Labels by the vote of the k nearest training sentences (MINERS, section 2.2).

    Returns:
        accuracy and macro F1 at each k, of which the accuracy at the last is the main score; by item the gold label,
        the predicted ones, and whether they are the same.

    Raises:
        UserError: no training set, one smaller than k, or a test label that it lacks.
    """
    train, test, ks = asked.train, asked.test, asked.task.k
    if train is None or max(ks) > len(train):
        count = 0 if train is None else len(train)
        raise UserError(f"knn: k is {max(ks)}, but there are {count} training sentences; set `k:` of the task")
    known_labels("knn", test, train)
    corpus, queries = asked.embed(train["text"], test["text"])
    labels = train["label"].to_numpy()[asked.search(queries, corpus, max(ks))]
    return _at_each(test, {k: vote(labels[:, :k]) for k in ks})


def by_classifier(task: Task, test: pd.DataFrame, train: pd.DataFrame | None, predicted: Sequence[str]) -> Scores:
    """The same of a classifier, which has one answer whatever k: its numbers stand beside those of neighbours.

    Args:
        predicted: (n,), in the order of the test set.

    Raises:
        UserError: no training set, or a test label that it lacks.
    """
    known_labels("knn", test, train)
    return _at_each(test, dict.fromkeys(task.k, np.asarray(predicted, dtype=object)))


def _at_each(test: pd.DataFrame, predicted: Mapping[int, NDArray]) -> Scores:
    """Scores of the labels predicted at each k."""
    gold = test["label"].to_numpy()
    metrics, items = {}, {"id": test["id"], "gold": gold}
    for k, labels in predicted.items():
        items |= {f"predicted_{k}": labels, f"correct_{k}": (labels == gold).astype(int)}
        metrics[f"accuracy_at_{k}"] = float((labels == gold).mean())
        metrics[f"macro_f1_at_{k}"] = float(f1_score(gold, labels, average="macro", zero_division=0))
    return Scores(metrics[f"accuracy_at_{max(predicted)}"], metrics, pd.DataFrame(items))


def vote(labels: ArrayLike) -> NDArray:
    """The most frequent label of each row; among equally frequent ones, that of the nearest neighbour.

    Args:
        labels: (n, k) labels of the k nearest neighbours, nearest first; of any type that compares.

    Returns:
        Labels (n,).

    Raises:
        UserError: not two axes, or k = 0.
    """
    labels = np.asarray(labels)
    if labels.ndim != 2 or not labels.shape[1]:
        raise UserError(f"vote: labels of shape {labels.shape}; expected (n, k), k >= 1")
    counts = (labels[:, :, None] == labels[:, None, :]).sum(axis=2)
    winners = counts.argmax(axis=1)  # argmax takes the first of equals, which is the nearest
    return labels[np.arange(len(labels)), winners]

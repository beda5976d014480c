"""Extractive question answering: an encoder is fine-tuned to locate answers in contexts (NeighXLM, section 4.1).

SQuAD's F1 of words (main) and exact match, of the best of a question's right answers; articles are taken out in English
alone. Every recipe's encoder is fine-tuned, once for each seed and training set, however many languages are tested.
Corpora: `question`, `context`, `answers`, `starts` (JSON lists; a test set needs no starts), of the test and of the
training set. Items: id, gold, predicted, f1, exact_match.

    kenswquad:
      protocol: qa
      source: {file: "own/{lang}.questions.jsonl"}
      train: {file: "own/{lang}.squad.json", format: squad, rows: 12000}
      train_language: eng
      reading: {epochs: 3}
"""

from seedbed.evaluation.protocols import Metric, Protocol
from seedbed.evaluation.scores import Scores, Trial

PROTOCOL = Protocol(kind="questions", asks=("labels",), options=("train", "train_language", "reading"), tunes=True)
METRICS = {
    "f1": Metric("f1", ("f1",)),
    "exact match": Metric("exact_match", ("exact_match",)),
}


def score(trial: Trial) -> Scores:
    """Compute mean F1 and exact match of a fine-tuned encoder's answers."""
    import json

    from seedbed.evaluation.metrics.spans import exact_match, f1

    found = trial.answer(trial, []).labels
    golds = [json.loads(answers) for answers in trial.test["answers"]]
    pairs = [*zip(found, golds, strict=True)]
    items = trial.test[["id"]].assign(
        gold=trial.test["answers"],
        predicted=found,
        f1=[f1(answer, right, trial.language) for answer, right in pairs],
        exact_match=[exact_match(answer, right, trial.language) for answer, right in pairs],
    )
    metrics = {name: float(items[name].mean()) for name in ("f1", "exact_match")}
    return Scores(metrics["f1"], metrics, items)

"""Labels of texts by an encoder that was fine-tuned on a training set, which may be in another language.

Macro F1 (main), accuracy, and F1 of each class. Every recipe's encoder is fine-tuned, once for each seed and training
set, however many languages are tested (NeighXLM, section 4.1). Test texts whose label no training text has are left out
and counted, unless `unseen` says otherwise. Corpora: `text`, `label`, of the test and of the training set. Items: id,
gold, predicted, correct.

    masakhanews:
      protocol: tuned
      source: {file: "own/{lang}.news.test.tsv"}
      train: {file: "own/{lang}.news.train.tsv"}
      train_language: eng
      fine_tuning: {max_length: 256}
      unseen: drop
"""

from seedbed.evaluation.aggregation import F1_OF_CLASS, MACRO_F1
from seedbed.evaluation.protocols import Metric, Protocol
from seedbed.evaluation.scores import Scores, Trial
from seedbed.io import UserError

PROTOCOL = Protocol(
    kind="labelled_texts",
    asks=("labels",),
    options=("train", "train_language", "fine_tuning", "unseen"),
    tunes=True,
)
METRICS = {
    "macro f1": Metric("macro_f1", ("gold", "predicted"), MACRO_F1, title="Macro F1"),
    "accuracy": Metric("accuracy", ("correct",)),
    "f1 of {label}": Metric("f1_of_{label}", ("gold", "predicted"), F1_OF_CLASS),
}


def score(trial: Trial) -> Scores:
    """Compute macro F1, accuracy and F1 of each class of a fine-tuned encoder's labels.

    Raises:
        UserError: no training set; with `unseen: refuse` a test label that it lacks; or no test label that it has.
    """
    from seedbed.evaluation.classification import f1_by_class, known_labels, of_labels

    test, how = trial.test, trial.task.unseen
    seen = test["label"].isin([] if trial.train is None else trial.train["label"])
    known = known_labels("tuned", test if how == "refuse" else test[seen], trial.train)
    kept = seen | (how == "keep")
    if not kept.any():
        raise UserError(f"tuned: no test text has a label of the training set, which has {', '.join(known)}")
    labels = trial.answer(trial, known).labels
    found = of_labels(test[kept], [label for label, wanted in zip(labels, kept, strict=True) if wanted])
    by_class = f1_by_class(found.items, sorted({*known, *test["label"][kept]}))
    found.metrics.update({f"f1_of_{label}": value for label, value in by_class.items()})
    found.metrics["unseen"] = float((~seen).sum())
    if unseen := sorted({*test["label"][~seen]}):
        said = "stay, as errors" if how == "keep" else "are left out"
        found.notes.append(
            f"{(~seen).sum()} of {len(test)} test texts {said}: no training text has their label ({', '.join(unseen)})"
        )
    return Scores(found.metrics["macro_f1"], found.metrics, found.items, found.notes)

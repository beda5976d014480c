"""Fine-tuning of a whole encoder with a new head on labelled texts: the baseline of MINERS (A.1 and table 9)."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from safetensors.torch import load_file, save_file
from transformers import (
    AutoModelForSequenceClassification,
    DataCollatorWithPadding,
    EarlyStoppingCallback,
    EvalPrediction,
    PreTrainedModel,
    Trainer,
    TrainerState,
    TrainingArguments,
)

from seedbed import manifests
from seedbed.classifiers.answers import require_finite
from seedbed.classifiers.heads import SCORED_AT_ONCE, limit_of, load, logits, tokenizer_of
from seedbed.corpora.shape.labels import require_labels
from seedbed.encoders.tuning_settings import FineTuning, Reading
from seedbed.io import UserError, fingerprint, sha256
from seedbed.precision import precision
from seedbed.trainers import encoder_arguments, epoch_losses, fit

SETTINGS, require, require_learnable = FineTuning, require_labels, require_labels
BY_EPOCH = {
    "per_device_eval_batch_size": SCORED_AT_ONCE,
    "eval_strategy": "epoch",
    "metric_for_best_model": "accuracy",
    "greater_is_better": True,
    "restore_callback_states_from_checkpoint": True,
}
"""Arguments of the trainer: it scores the held-out texts after each epoch."""
BEST = "best.safetensors"
"""In a checkpoint: the weights of the best epoch so far, if one has ended."""


@dataclass(frozen=True)
class Fitting:
    """Options of fine-tuning that all types of training data share."""

    prefix: str
    """The prompt before every text, or question."""
    seed: int
    """Seed of the head, a held-out share, the order and dropout. On a CPU, one seed and one number of threads give the
    same model.
    """
    dtype: str
    """Precision: "bfloat16" (autocast; weights stay float32), "float32" or "auto"."""
    state: Path
    """A folder for checkpoints; a killed training resumes from the last one."""
    minutes: float
    """Minutes between checkpoints."""


@dataclass(frozen=True)
class Tuned:
    """A fine-tuned encoder that labels texts, and a report of its training."""

    model: PreTrainedModel
    tokenizer: Any
    labels: list[str]
    """The labels of its logits, in order: those of the training set, sorted."""
    prefix: str
    limit: int
    """The maximum number of tokens of a text; longer texts are truncated."""
    report: dict[str, Any]
    """Settings, counts, loss and held-out accuracy of each epoch, the selected epoch, versions."""

    def encoded(self, texts: Iterable[str]) -> list[dict[str, Any]]:
        """The model's input for each text after the prefix: token ids and masks, not padded."""
        put = [self.prefix + text for text in texts]
        return [dict(self.tokenizer(text, truncation=True, max_length=self.limit)) for text in put]

    def answers(self, test: pd.DataFrame) -> list[str]:
        """The likeliest label of each `text` of a table; of equals, the first. UserError: a logit is not finite."""
        found = logits(self.model, self.tokenizer, self.encoded(test["text"]))
        require_finite(found, "fine_tuning")
        return [self.labels[place] for place in found.argmax(axis=1)]


def train(base: Path, rows: pd.DataFrame, tuning: FineTuning, how: Fitting) -> Tuned:
    """Train all weights of an encoder, or of a backbone, on rows of `text` and `label`.

    A share of the rows is held out; the weights of the epoch with the best accuracy on it are returned, of equals the
    first. AdamW, gradients clipped at norm 1: the defaults of Hugging Face's trainer, as the paper's code. Batches are
    padded to their own longest text, which the attention mask makes the same as padding to the limit.

    Raises:
        UserError: weights that cannot be loaded; a training set with one label, or of which no text can be held out; a
            loss that is not finite.
    """
    labels = sorted({*rows["label"]})
    if len(labels) < 2:
        raise UserError(f"fine_tuning: every label is {labels[0]!r}; a classifier needs two labels at least")
    learnt, held = split_stratified(list(rows["label"]), tuning.held_out, how.seed)
    dtype, tokenizer = precision(how.dtype), tokenizer_of(base)
    torch.manual_seed(how.seed)  # for a new head, if the weights have none
    model, _ = load(AutoModelForSequenceClassification, base, num_labels=len(labels))
    tuned = Tuned(model, tokenizer, labels, how.prefix, min(tuning.max_length, limit_of(model, tokenizer)), {})
    targets = [labels.index(label) for label in rows["label"]]
    examples = [row | {"labels": label} for row, label in zip(tuned.encoded(rows["text"]), targets, strict=True)]
    checkpoints = how.state / key_of(base, examples, tuning, dtype, how.seed)
    trainer = _Trainer(
        model=model,
        args=arguments(tuning, dtype, how.seed, checkpoints, **BY_EPOCH),
        data_collator=DataCollatorWithPadding(tokenizer),
        train_dataset=[examples[place] for place in learnt],
        eval_dataset=[examples[place] for place in held],
        compute_metrics=_accuracy,
        callbacks=[_Patience(tuning.patience)],
    )
    fit(trainer, how.minutes)
    model.load_state_dict(trainer.best)
    counts = {"trained": len(learnt), "held_out": len(held)}
    about = {"fine_tuning": tuning.model_dump(), "dtype": dtype, "seed": how.seed, "labels": labels, "examples": counts}
    return replace(tuned, report=about | _summary(trainer.state))


def split_stratified(labels: Sequence[str], share: float, seed: int) -> tuple[list[int], list[int]]:
    """Indices of training and of held-out texts, both ascending; the held-out share is stratified by label.

    Raises:
        UserError: the share is less than one text, or leaves none.
    """
    count = int(len(labels) * Fraction(str(share)))  # as a float, 0.29 of 100 is less than 29
    if not 0 < count < len(labels):
        found = f"held_out {share:g} of {len(labels)} training texts is {count}"
        raise UserError(f"fine_tuning: {found}; at least one must be held out, and one left")
    order = random.Random(seed).sample(range(len(labels)), len(labels))
    order.sort(key=labels.__getitem__)  # stable: random within a label
    held = {order[int((place + 0.5) * len(order) / count)] for place in range(count)}
    return [place for place in range(len(labels)) if place not in held], sorted(held)


def arguments(tuning: FineTuning | Reading, dtype: str, seed: int, checkpoints: Path, **more: Any) -> TrainingArguments:
    """Hugging Face training arguments for training all weights; `dtype` is "bfloat16" or "float32", and `more` are
    further training arguments.
    """
    return encoder_arguments(
        TrainingArguments,
        tuning,
        dtype,
        seed,
        checkpoints,
        num_train_epochs=tuning.epochs,
        lr_scheduler_type="linear",
        **more,
    )


class _Patience(EarlyStoppingCallback):
    """Stops a training that no longer gets better."""

    def on_train_begin(self, *args: Any, **kwargs: Any) -> None:
        """The trainer without the warning that the best weights are not saved."""


class _Trainer(Trainer):
    """Keeps the weights of the best epoch, in memory: to write each would take longer than training on a small set."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.best: dict[str, torch.Tensor] = {}

    def _determine_best_metric(self, *args: Any, **kwargs: Any) -> bool:
        if better := super()._determine_best_metric(*args, **kwargs):
            self.best = {name: tensor.to("cpu", copy=True) for name, tensor in self.model.state_dict().items()}
        return better

    def _save_checkpoint(self, *args: Any) -> None:
        # An evaluation may have ended the training: from its end a trainer would take one step more.
        if not self.control.should_training_stop:
            super()._save_checkpoint(*args)

    def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
        super()._save(output_dir, state_dict)
        if self.best:
            save_file(self.best, Path(output_dir or self.args.output_dir) / BEST)

    def _load_from_checkpoint(self, resume_from_checkpoint: str, *args: Any) -> None:
        super()._load_from_checkpoint(resume_from_checkpoint, *args)
        if (saved := Path(resume_from_checkpoint) / BEST).is_file():
            self.best = load_file(saved)


def key_of(base: Path, examples: Sequence[dict], tuning: FineTuning | Reading, dtype: str, seed: int) -> str:
    """Name of the checkpoints: a hash of all that the trained weights depend on."""
    return fingerprint([examples, tuning.model_dump(mode="json"), dtype, seed, sha256(base), versions()])


def versions() -> dict[str, str]:
    """Versions of the libraries that a training's result depends on."""
    return manifests.versions_of("torch", "transformers")


def _accuracy(found: EvalPrediction) -> dict[str, float]:
    require_finite(found.predictions, "fine_tuning")  # of NaN the first label would be the likeliest
    return {"accuracy": float((found.predictions.argmax(axis=1) == found.label_ids).mean())}


def _summary(state: TrainerState) -> dict[str, Any]:
    """What was measured after each epoch, and which epoch was selected."""
    accuracies = [round(entry["eval_accuracy"], 6) for entry in state.log_history if "eval_accuracy" in entry]
    return {
        "steps": state.global_step,
        "losses": epoch_losses(state),
        "accuracies": accuracies,
        "kept_epoch": accuracies.index(max(accuracies)) + 1,
        "versions": versions(),
    }

"""What trainings with Hugging Face's trainer share, whatever they train."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor
from transformers import (
    ProgressCallback,
    Trainer,
    TrainerCallback,
    TrainerControl,
    TrainerState,
    TrainingArguments,
)

from seedbed import tracking
from seedbed.checkpoints import last_complete
from seedbed.io import UserError

Arguments = TypeVar("Arguments", bound=TrainingArguments)


class LossInBar(ProgressCallback):
    """The loss stands in the progress bar, beside rate and time left: a line for every step would drown the log."""

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, float], **kwargs: Any) -> None:
        if self.training_bar is not None and "loss" in logs:
            self.training_bar.set_postfix(loss=f"{logs['loss']:.4f}", refresh=False)


class Checkpoints(TrainerCallback):
    """A checkpoint when so many minutes have gone by since the last, or since the start; none of a training's end."""

    def __init__(self, minutes: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds, self.clock = 60 * minutes, clock

    def on_train_begin(self, args: Any, state: Any, control: TrainerControl, **kwargs: Any) -> None:
        self.last = self.clock()

    def on_step_end(self, args: Any, state: TrainerState, control: TrainerControl, **kwargs: Any) -> None:
        # After the last step of an epoch it is on_epoch_end's turn: a training that goes on would not evaluate it.
        if state.epoch != int(state.epoch):
            control.should_save = self._due(control)

    def on_epoch_end(self, args: Any, state: Any, control: TrainerControl, **kwargs: Any) -> None:
        control.should_save = self._due(control)

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.last = self.clock()

    def _due(self, control: TrainerControl) -> bool:
        return self.clock() - self.last >= self.seconds and not control.should_training_stop


def fit(trainer: Trainer, minutes: float) -> None:
    """Train with our bar and what else reports, from the newest checkpoint in the trainer's folder if there is one.

    Args:
        minutes: between two checkpoints; 0: one after each step. No result depends on it.
    """
    trainer.remove_callback(ProgressCallback)  # it prints what is logged between two bars
    trainer.add_callback(LossInBar)
    tracking.attach(trainer)
    trainer.add_callback(Checkpoints(minutes))
    trainer.train(resume_from_checkpoint=last_complete(Path(trainer.args.output_dir)))


def resumable() -> dict[str, Any]:
    """Arguments of a training that `fit` runs: on the device that is there, and it states the loss of every step.

    Of an epoch's loss, which the trainer can state as well, it would forget what lies before a checkpoint.
    """
    cuda = torch.cuda.is_available()
    return {
        "logging_steps": 1,
        "logging_nan_inf_filter": False,
        "save_strategy": "no",
        "save_total_limit": 1,
        "dataloader_pin_memory": cuda,
        "use_cpu": not cuda,
        "disable_tqdm": False,
        "report_to": [],
    }


def losses(state: TrainerState) -> list[float]:
    """The loss of every step, those before a resumption too."""
    return [entry["loss"] for entry in state.log_history if "loss" in entry]


def epoch_losses(state: TrainerState) -> list[float]:
    """The mean loss of each epoch's steps."""
    epochs = defaultdict(list)
    for entry in state.log_history:
        if "loss" in entry:
            epochs[math.ceil(entry["epoch"])].append(entry["loss"])
    return [float(np.mean(epochs[epoch])) for epoch in sorted(epochs)]


def mixed(seed: int) -> int:
    """A trainer's seed. It shuffles epoch e by seed + e: as they are, 42 and 43 would share all but one epoch's order,
    and a table takes their runs for independent.
    """
    return int(np.random.SeedSequence(seed).generate_state(1)[0])


def on_one_gpu(arguments: Arguments) -> Arguments:
    """The arguments; with several GPUs in sight the trainer would multiply the batch, and what is contrasted in it."""
    arguments._n_gpu = min(arguments.n_gpu, 1)
    return arguments


def require_finite(loss: Tensor, trainer: Trainer, where: str) -> Tensor:
    """The loss.

    Raises:
        UserError: it is not finite.
    """
    if not loss.isfinite():
        raise UserError(
            f"{where}: the loss is {loss.item()} at step {trainer.state.global_step + 1}; "
            f"lower learning_rate ({trainer.args.learning_rate:g}), or use dtype float32"
        )
    return loss

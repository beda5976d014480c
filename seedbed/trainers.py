"""What trainings with Hugging Face's trainer share, whatever they train."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor
from transformers import ProgressCallback, Trainer, TrainingArguments

from seedbed.io import UserError

Arguments = TypeVar("Arguments", bound=TrainingArguments)
Trains = TypeVar("Trains", bound=Trainer)


class LossInBar(ProgressCallback):
    """The loss stands in the progress bar, beside rate and time left: a line for every step would drown the log."""

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, float], **kwargs: Any) -> None:
        if self.training_bar is not None and "loss" in logs:
            self.training_bar.set_postfix(loss=f"{logs['loss']:.4f}", refresh=False)


def with_bar(trainer: Trains) -> Trains:
    """The trainer, whose bar is ours; its own prints what is logged between two bars."""
    trainer.remove_callback(ProgressCallback)
    trainer.add_callback(LossInBar)
    return trainer


def by_epoch() -> dict[str, Any]:
    """Arguments of a training that states its loss once an epoch, to us alone, on the device that is there."""
    cuda = torch.cuda.is_available()
    return {
        "logging_strategy": "epoch",
        "logging_nan_inf_filter": False,
        "dataloader_pin_memory": cuda,
        "use_cpu": not cuda,
        "disable_tqdm": False,
        "report_to": [],
    }


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

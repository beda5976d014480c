"""Shared parts of all trainings with Hugging Face's trainer."""

import math
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor
from transformers import ProgressCallback, Trainer, TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from seedbed import processes, tracking
from seedbed.checkpoints import last_complete
from seedbed.io import UserError

STATE = "state.safetensors"
"""File of a checkpoint with the tensors of `TrainedWeightsMixin`."""
TARGETS = "targets"
"""Key of a step's entry in the log: the number of targets that its loss is the mean of, where steps have different
numbers.
"""
POINTS = 20
"""The maximum number of points of a saved loss curve."""
Arguments = TypeVar("Arguments", bound=TrainingArguments)


class LossInBar(ProgressCallback):
    """Shows the loss in the progress bar instead of a line for each step."""

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, float], **kwargs: Any) -> None:
        if self.training_bar is not None and "loss" in logs:
            self.training_bar.set_postfix(loss=f"{logs['loss']:.4f}", refresh=False)


class TrainedWeightsMixin:
    """A trainer whose checkpoints contain only the tensors that training changes."""

    def trained_weights(self) -> dict[str, Tensor]:
        """Name -> each tensor that training changes, once: weights with a gradient."""
        return {name: weight for name, weight in self.model.named_parameters() if weight.requires_grad}

    def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
        folder = Path(output_dir or self.args.output_dir)
        folder.mkdir(parents=True, exist_ok=True)
        save_file(self.trained_weights(), folder / STATE)

    def _load_from_checkpoint(self, checkpoint: str, *args: Any) -> None:
        saved = load_file(Path(checkpoint) / STATE)
        with torch.no_grad():
            for name, tensor in self.trained_weights().items():
                tensor.copy_(saved[name])


class WeightsTrainer(TrainedWeightsMixin, Trainer):
    """Such a trainer of any module; a tied weight is once in its checkpoints."""


class Checkpoints(TrainerCallback):
    """Saves a checkpoint after a number of minutes since the last one or the start; none at the end of training."""

    def __init__(self, minutes: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds, self.clock = 60 * minutes, clock

    def on_train_begin(self, args: Any, state: Any, control: TrainerControl, **kwargs: Any) -> None:
        self.last = self.clock()

    def on_step_end(self, args: Any, state: TrainerState, control: TrainerControl, **kwargs: Any) -> None:
        # After the last step of an epoch on_epoch_end saves: a training that resumes here would not evaluate the epoch.
        if state.epoch != int(state.epoch):
            control.should_save = self._due(control)

    def on_epoch_end(self, args: Any, state: Any, control: TrainerControl, **kwargs: Any) -> None:
        control.should_save = self._due(control)

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.last = self.clock()

    def _due(self, control: TrainerControl) -> bool:
        return self.clock() - self.last >= self.seconds and not control.should_training_stop


class Finite(TrainerCallback):
    """Stops training at the first loss that is not finite."""

    def on_log(self, args: Any, state: TrainerState, control: Any, logs: dict[str, float], **kwargs: Any) -> None:
        if not math.isfinite(loss := logs.get("loss", 0.0)):
            raise UserError(
                f"loss is {loss} at step {state.global_step} of {state.max_steps}; lower learning_rate "
                f"({args.learning_rate:g}), compute in float32, or check the weights for values that are not finite"
            )


def fit(trainer: Trainer, minutes: float) -> None:
    """Train, with the progress bar and tracker, from the latest checkpoint in the trainer's folder if there is one.

    Of several processes, the main one shows progress and saves a checkpoint every `minutes` (0: after each step), on
    which no result depends. All processes resume from the same checkpoint.

    Raises:
        UserError: a loss is not finite.
    """
    trainer.remove_callback(ProgressCallback)  # it prints what is logged between two bars
    if processes.is_main():
        trainer.add_callback(LossInBar)
        tracking.attach(trainer)
        trainer.add_callback(Checkpoints(minutes))
    trainer.add_callback(Finite)
    checkpoint = processes.by_main(lambda: last_complete(Path(trainer.args.output_dir)))
    trainer.train(resume_from_checkpoint=checkpoint)


def resumable() -> dict[str, Any]:
    """Training arguments for `fit`: the available device, and a log entry for every step."""
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


def encoder_arguments(
    kind: type[Arguments], settings: Any, dtype: str, seed: int, checkpoints: Path, **more: Any
) -> Arguments:
    """Training arguments of an encoder: AdamW on one device, for `fit`. With several, the trainer would multiply the
    batch and so the in-batch negatives.

    Args:
        settings: has batch_size, learning_rate and weight_decay.
        dtype: bfloat16 or float32.
        seed: the seed, see `mixed`.
    """
    arguments = kind(
        output_dir=str(checkpoints),
        per_device_train_batch_size=settings.batch_size,
        learning_rate=settings.learning_rate,
        weight_decay=settings.weight_decay,
        optim="adamw_torch_fused",
        bf16=dtype == "bfloat16",
        seed=mixed(seed),
        **resumable(),
        **more,
    )
    arguments._n_gpu = min(arguments.n_gpu, 1)
    return arguments


def loss_curve(state: TrainerState) -> dict[str, Any]:
    """Steps and losses of a training, those before a resumption included.

    Returns:
        `steps`, `loss` (at most POINTS means over equal stretches) and `final_loss` (the last of them, None without
        steps).
    """
    losses = [entry["loss"] for entry in state.log_history if "loss" in entry]
    stretches = np.array_split(losses, min(POINTS, len(losses))) if losses else []
    curve = [float(np.mean(stretch)) for stretch in stretches]
    return {"steps": len(losses), "loss": curve, "final_loss": curve[-1] if curve else None}


def epoch_losses(state: TrainerState) -> list[float]:
    """The mean loss of each epoch: over its targets if each of its steps has their number, else over its steps."""
    epochs = defaultdict(list)
    for entry in state.log_history:
        if "loss" in entry:
            epochs[math.ceil(entry["epoch"])].append((entry["loss"], entry.get(TARGETS)))
    found = []
    for _, steps in sorted(epochs.items()):
        of_steps, targets = zip(*steps, strict=True)
        found.append(float(np.average(of_steps, weights=None if None in targets else targets)))
    return found


def mixed(seed: int) -> int:
    """A trainer's seed from a study's seed.

    Trainers shuffle epoch e by seed + e. With plain seeds, 42 and 43 would share the order of all epochs but one,
    although tables treat their runs as independent.
    """
    return int(np.random.SeedSequence(seed).generate_state(1)[0])

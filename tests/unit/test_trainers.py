"""When a training puts a checkpoint by."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from transformers import TrainerControl, TrainerState, TrainingArguments

from seedbed.trainers import TARGETS, Checkpoints, encoder_arguments, epoch_losses


def saved(minutes: float, seconds: float, steps: int = 12, epoch: int = 4) -> list[int]:
    """The steps after which a training with epochs of four steps saves, each step so many seconds long."""
    now, found = 0.0, []
    callback, control = Checkpoints(minutes, clock=lambda: now), TrainerControl()
    callback.on_train_begin(None, None, control)
    for step in range(1, steps + 1):
        now += seconds
        control.should_save, control.should_training_stop = False, step == steps
        state = SimpleNamespace(epoch=step / epoch)
        callback.on_step_end(None, state, control)
        if step % epoch == 0:
            assert not control.should_save, "before the epoch was evaluated"
            callback.on_epoch_end(None, state, control)
        if control.should_save:
            found.append(step)
            callback.on_save(None, state, control)
    return found


@pytest.mark.parametrize(
    ("minutes", "seconds", "steps"),
    [(10, 60, [10]), (5, 60, [5, 10]), (4, 60, [4, 8]), (0, 60, [*range(1, 12)]), (10, 50, []), (1, 25, [3, 6, 9])],
)
def test_a_checkpoint_is_due_by_the_clock_and_never_at_the_end(
    minutes: float, seconds: float, steps: list[int]
) -> None:
    assert saved(minutes, seconds) == steps


def test_an_epochs_loss_is_the_mean_of_its_steps() -> None:
    history = [{"epoch": step / 4, "loss": float(step)} for step in range(1, 11)] + [{"epoch": 2.5, "train_runtime": 1}]
    assert epoch_losses(TrainerState(log_history=history)) == [2.5, 6.5, 9.5]


def test_an_epochs_loss_weighs_steps_by_their_targets() -> None:
    steps = [(0.5, 1.0, 64), (1.0, 5.0, 1), (1.5, 2.0, 3), (2.0, 6.0, 1)]
    history = [{"epoch": epoch, "loss": loss, TARGETS: targets} for epoch, loss, targets in steps]
    assert epoch_losses(TrainerState(log_history=history)) == [pytest.approx(69 / 65), 3.0]


@pytest.mark.parametrize(("seen", "used"), [(0, 0), (1, 1), (4, 1)])
def test_of_several_gpus_one_is_used_and_the_batch_is_what_is_asked_for(tmp_path: Path, seen: int, used: int) -> None:
    class Seeing(TrainingArguments):
        def __post_init__(self) -> None:
            super().__post_init__()
            self._n_gpu = seen

    settings = SimpleNamespace(batch_size=8, learning_rate=1e-3, weight_decay=0.0)
    arguments = encoder_arguments(Seeing, settings, "float32", 1, tmp_path)
    assert (arguments.n_gpu, arguments.train_batch_size) == (used, 8)

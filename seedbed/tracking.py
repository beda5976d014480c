"""Reporting loss and learning rate of each training step to TensorBoard or Trackio. No result depends on it."""

from __future__ import annotations

import importlib.metadata
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from seedbed.checkpoints import RECORD
from seedbed.io import UserError, read_json
from seedbed.manifests import MANIFEST

if TYPE_CHECKING:
    from transformers import Trainer

Tracker = Literal["none", "tensorboard", "trackio"]
ASKED = "SEEDBED_REPORT_TO"
"""Environment variable by which a run passes the tracker to its jobs: as an option of programs it would count as part
of results.
"""


def require(tracker: str) -> None:
    """Check that a tracker's package is installed.

    Raises:
        UserError: it is not.
    """
    try:
        if tracker != "none":
            importlib.metadata.distribution(tracker)
    except importlib.metadata.PackageNotFoundError:
        raise UserError(
            f"report_to: {tracker} is not installed; run `{sys.executable} -m pip install {tracker}`, or set none"
        ) from None


def attach(trainer: Trainer) -> None:
    """Make a trainer report to the tracker of the run, under `<results>/tensorboard` or in `<results>/trackio`.

    Args:
        trainer: its checkpoints are in a folder of `checkpoints.own_state`.

    Raises:
        UserError: the tracker is not installed.
    """
    if (tracker := os.environ.get(ASKED, "none")) == "none":
        return
    require(tracker)
    results, name = _made(Path(trainer.args.output_dir))
    if tracker == "tensorboard":
        from torch.utils.tensorboard import SummaryWriter
        from transformers.integrations import TensorBoardCallback

        trainer.add_callback(TensorBoardCallback(SummaryWriter(str(results / tracker / name))))
    else:
        os.environ.setdefault("TRACKIO_DIR", str((results / tracker).absolute()))  # read when trackio is imported
        from transformers.integrations import TrackioCallback

        trainer.args.project, trainer.args.run_name = results.name, name
        trainer.add_callback(TrackioCallback())


def _made(checkpoints: Path) -> tuple[Path, str]:
    """The folder of results, and the path there of what a training makes."""
    job, results = checkpoints.parent, checkpoints.parents[2]
    output = Path(read_json(job / RECORD)["output"])
    inside = output.relative_to(results) if output.is_relative_to(results) else Path(output.name)
    return results, str(inside.parent if inside.name == MANIFEST else inside.with_suffix(""))

"""Where a killed training goes on."""

from __future__ import annotations

from pathlib import Path


def last_complete(checkpoints: Path) -> str | None:
    """The newest checkpoint of a Trainer that is whole: it writes trainer_state.json last. None if there is none."""
    complete = [file.parent for file in checkpoints.glob("checkpoint-*/trainer_state.json")]
    return str(max(complete, key=lambda folder: int(folder.name.rpartition("-")[2]))) if complete else None

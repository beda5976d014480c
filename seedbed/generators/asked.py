"""What models were asked, by content: a text that stands in two corpora is asked for once, by the job that is first."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from filelock import FileLock

from seedbed.generators.journal import ANSWERS, Journal, Unkept
from seedbed.io import fingerprint


@contextlib.contextmanager
def answers(state: Path | None, made_by: Mapping[str, Any]) -> Iterator[Journal]:
    """The journal of all that was asked in one way, which outlives its jobs; one process has it at a time.

    Others wait, and then find there what it was told. It is released when a process ends, however it ends.

    Args:
        state: the folder that the study's jobs share; None: nothing is kept.
        made_by: all that an answer depends on, but for what it is asked.
    """
    if state is None:
        yield Unkept()
        return
    file = state / ANSWERS / f"{fingerprint(made_by)[:32]}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{file}.lock"):
        yield Journal(file)

"""Completions on disk: a job that was killed, or let down by a server, goes on where it stopped; none is paid twice."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from seedbed.generators.backends import Completion, Prompt
from seedbed.generators.settings import WRITES, Generator
from seedbed.io import fingerprint, sha256
from seedbed.precision import precision

ANSWERS = "answers"
"""The folder of the state in which answers outlive their jobs: a server's were paid for."""
COMMIT_ROWS = 64
"""Completions that are written to disk together: what a kill can lose."""


class Journal:
    """Completions on disk, one JSON object a line; the last line of a killed job may be torn and is cut off."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.done: dict[str, Completion] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+b") as file:
            file.seek(0)
            whole = 0
            for line in file:
                if not (completion := _whole(line)):
                    break
                self.done[completion.id] = completion
                whole += len(line)
            file.truncate(whole)

    def commit(self, completions: Iterable[Completion]) -> None:
        """Add completions; they are on the disk when this returns."""
        completions = list(completions)
        with self.path.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(asdict(completion), ensure_ascii=False) + "\n" for completion in completions)
            file.flush()
            os.fsync(file.fileno())
        self.done |= {completion.id: completion for completion in completions}

    def keep(self, completions: Iterable[Completion], told: Callable[[int], object] = lambda count: None) -> None:
        """Commit completions as they come, `COMMIT_ROWS` at a time, and what came before a fault; tell each number."""
        group: list[Completion] = []
        try:
            for completion in completions:
                group.append(completion)
                if len(group) == COMMIT_ROWS:
                    self.commit(group)
                    told(len(group))
                    group = []
        finally:
            if group:
                self.commit(group)
                told(len(group))


class Unkept(Journal):
    """Completions of one process, which nobody keeps."""

    def __init__(self) -> None:
        self.done = {}

    def commit(self, completions: Iterable[Completion]) -> None:
        """Add completions."""
        self.done |= {completion.id: completion for completion in completions}


def journal_name(
    prompts: Iterable[tuple[Sequence[str], Prompt]],
    generator: Generator,
    weights: str,
    adapters: Mapping[str, Path | None] | None = None,
) -> str:
    """A hash of all that completions of (key, prompt) depend on; `weights` is the base's digest.

    Batch sizes and the like may change on the way.
    """
    made_by: dict[str, Any] = generator.model_dump(mode="json", include={"prompts", "template", *WRITES})
    made_by |= {"origin": generator.origin, "weights": weights}
    if generator.source:  # a server's model has a type of its own, whatever the machine that asks
        made_by["dtype"] = precision(generator.dtype)
    digests = {polarity: adapter and sha256(adapter) for polarity, adapter in (adapters or {}).items()}
    return fingerprint([[[*key, prompt] for key, prompt in prompts], digests, made_by])


def _whole(line: bytes) -> Completion | None:
    try:
        return Completion(**json.loads(line)) if line.endswith(b"\n") else None
    except (ValueError, TypeError):
        return None

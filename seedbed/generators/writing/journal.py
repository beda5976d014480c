"""Completions on disk: a job that was killed, or let down by a server, goes on where it stopped; none is paid twice."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from filelock import FileLock

from seedbed.generators.settings import WRITES, Generator
from seedbed.generators.writing.backends import Completion, Prompt
from seedbed.io import UserError, fingerprint, sha256
from seedbed.precision import precision

ANSWERS = "answers"
"""The folder of the state in which answers outlive their jobs: a server's were paid for."""
COMMIT_ROWS = 8
"""Completions that are written to disk together: a kill loses fewer."""


class Journal:
    """Completions on disk, one JSON object a line.

    A killed job may have left half a line at the end, which is cut off. No other line is ever removed.

    Raises:
        UserError: a line that is no completion.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.done: dict[str, Completion] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+b") as file:
            file.seek(0)
            whole = 0
            for number, line in enumerate(file, start=1):
                if not line.endswith(b"\n"):
                    file.truncate(whole)
                    break
                completion = self._read(line, number)
                self.done[completion.id] = completion
                whole += len(line)

    def _read(self, line: bytes, number: int) -> Completion:
        try:
            return Completion(**json.loads(line))
        except (ValueError, TypeError) as error:
            raise UserError(
                f"{self.path}: line {number} is no completion ({error}); restore the file, or remove this line alone: "
                "what it answered is asked again"
            ) from None

    def commit(self, completions: Iterable[Completion]) -> None:
        """Add completions; they are on the disk when this returns, or, where the disk refuses, not at all.

        One that was refused is kept by this process alone: another asks again, when the server may take it.
        """
        completions = list(completions)
        answers = [{"id": one.id, "text": one.text, "finished": one.finished} for one in completions if not one.refused]
        left = "".join(json.dumps(answer, ensure_ascii=False) + "\n" for answer in answers).encode()
        with self.path.open("ab", buffering=0) as file:
            before = file.tell()
            try:
                while left:  # of a write that does not fit, a part may be written
                    left = left[file.write(left) :]
                os.fsync(file.fileno())
            except OSError:
                file.truncate(before)
                raise
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
    digests = {polarity: adapter and sha256(adapter) for polarity, adapter in (adapters or {}).items()}
    return fingerprint([[[*key, prompt] for key, prompt in prompts], digests, written_by(generator, weights)])


def written_by(generator: Generator, weights: str) -> dict[str, Any]:
    """What a generator's completions depend on, but for prompts and adapters; `weights` is its base's digest."""
    made_by: dict[str, Any] = generator.model_dump(mode="json", include={"prompts", "template", *WRITES})
    # A commit that is pinned later asks nothing again: the digest says which weights they are.
    origin = {name: value for name, value in generator.origin.items() if name != "revision"}
    made_by |= {"origin": origin, "weights": weights}
    if generator.quantisation == "none":  # as the names of journals were before there was a choice
        del made_by["quantisation"]
    if generator.source:  # a server's model has a type of its own, whatever the machine that asks
        made_by["dtype"] = precision(generator.dtype)
    if generator.prompts == "plain" and generator.backend in ("vllm", "openai"):
        made_by["text"] = "with the token that ended it"  # completions that were kept without it are not read
    return made_by


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

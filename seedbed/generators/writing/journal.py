"""Completions on disk: a job that was killed, or whose server failed, resumes; no completion is generated twice."""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from filelock import FileLock

from seedbed.generators.settings import WRITES, Generator
from seedbed.generators.writing.backends import Completion, Prompt
from seedbed.io import UserError, fingerprint, sha256
from seedbed.precision import precision

ANSWERS = "answers"
"""Folder of journals that outlive their jobs, since answers of a server cost money."""
COMMIT_ROWS = 8
"""Number of completions that are written to disk together; a kill loses fewer than this."""


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
                "its prompt is sent again"
            ) from None

    def commit(self, completions: Iterable[Completion]) -> None:
        """Append completions to the file; when this returns they are on disk, and if the disk is full none is.

        A refused completion is only in memory: a later process sends its prompt again.
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

    def keep(self, completions: Iterable[Completion], report: Callable[[int], object] = lambda count: None) -> None:
        """Commit completions as they are generated, `COMMIT_ROWS` at a time; at an error, those before it. `report`
        gets the number of completions after each commit.
        """
        group: list[Completion] = []
        try:
            for completion in completions:
                group.append(completion)
                if len(group) == COMMIT_ROWS:
                    self.commit(group)
                    report(len(group))
                    group = []
        finally:
            if group:
                self.commit(group)
                report(len(group))


class MemoryJournal(Journal):
    """Completions in memory only, for callers without a journal."""

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
    """Name of a journal: a hash of pairs (key, prompt), settings, weights and adapters, without settings that change no
    result.

    Args:
        prompts: pairs (key, prompt).
        weights: digest of the base's weights, see `manifests.digest_of`.
        adapters: polarity -> folder of its adapter; None: the base alone.
    """
    digests = {polarity: adapter and sha256(adapter) for polarity, adapter in (adapters or {}).items()}
    return fingerprint([[[*key, prompt] for key, prompt in prompts], digests, written_by(generator, weights)])


def written_by(generator: Generator, weights: str) -> dict[str, Any]:
    """The settings and weights (a digest) that a generator's completions depend on, apart from prompts and adapters."""
    made_by: dict[str, Any] = generator.model_dump(mode="json", include={"prompts", "template", *WRITES})
    # Without the revision, so that pinning it later repeats nothing: the digest says which weights they are.
    origin = {name: value for name, value in generator.origin.items() if name != "revision"}
    made_by |= {"origin": origin, "weights": weights}
    if generator.quantization == "none":  # as in the names of journals from before this setting
        del made_by["quantization"]
    if generator.source:  # the precision of a server's model does not depend on this machine
        made_by["dtype"] = precision(generator.dtype)
    if generator.prompts == "plain" and generator.backend in ("vllm", "openai"):
        made_by["text"] = "with the token that ended it"  # completions that were stored without it are not reused
    return made_by


def answers(state: Path | None, made_by: Mapping[str, Any]) -> AbstractContextManager[Journal]:
    """Context with the journal of all completions with given settings; only one process can have it at a time.

    Other processes wait, and then read the completions in it. The lock is released when a process ends in any way.
    `state` is the folder that the study's jobs share, None: nothing is stored; `made_by` is everything that a
    completion depends on, apart from its prompt.
    """
    if state is None:
        return nullcontext(MemoryJournal())
    return open_journal(state / ANSWERS / f"{fingerprint(made_by)[:32]}.jsonl")


@contextmanager
def open_journal(file: Path) -> Iterator[Journal]:
    """Context with the journal in a file, which other processes wait for."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{file}.lock"):
        yield Journal(file)


def folder_for(generator: Generator, state: Path, own: Path) -> Path:
    """The folder of a job's journals: for a server `answers` of the `state` that the study's jobs share, which is kept;
    else the job's `own` (`checkpoints.own_state`), removed with it.
    """
    return state / ANSWERS if generator.endpoint else own

"""Where a killed job goes on: its own folder under `<results>/state`, and the newest whole checkpoint in it."""

import contextlib
import json
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from seedbed.io import fingerprint, write_json
from seedbed.locks import exclusive
from seedbed.settings import Settings

RECORD = "job.json"
"""In a job's folder: what it makes, and the words of its command."""
MINUTES = 10.0
"""Minutes between two checkpoints of a training, unless a study says otherwise."""
NO_MATTER = ("about", "state", "checkpoint-minutes")
"""Options that change nothing of what a job keeps."""


def last_complete(checkpoints: Path) -> str | None:
    """The newest checkpoint of a Trainer that is whole: it writes trainer_state.json last. None if there is none."""
    complete = [file.parent for file in checkpoints.glob("checkpoint-*/trainer_state.json") if _is_json(file)]
    return str(max(complete, key=lambda folder: int(folder.name.rpartition("-")[2]))) if complete else None


def _is_json(file: Path) -> bool:
    """Whether a kill left the file whole."""
    try:
        return bool(json.loads(file.read_text(encoding="utf-8")))
    except ValueError:
        return False


@contextlib.contextmanager
def own_state(state: Path, output: Path, argv: Sequence[str] | None, **groups: type[Settings]) -> Iterator[Path]:
    """A job's own folder for what it needs to go on, removed if the block ends well.

    What lies in it has a name of its own, a hash of all that it depends on, inputs included. The folder says whose it
    is: no two jobs share one, and `make clean-state` knows what nobody will use again.

    Args:
        output: the file that the workflow waits for.
        argv: words of the command; None: this program's.
        groups: options whose words are settings, as `place` takes them.

    Raises:
        UserError: the same job is running: on a cluster, one that a killed Snakemake left behind.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    folder = place(state, words, **groups)
    with exclusive(folder / "lock"):
        write_json({"output": str(output), "command": words}, folder / RECORD)
        yield folder
    shutil.rmtree(folder, ignore_errors=True)


def place(state: Path, words: Sequence[str], **groups: type[Settings]) -> Path:
    """The folder of a job with this command.

    Args:
        groups: option -> what its JSON is; a job goes on with other settings of those that change no result, as after
            memory ran out.
    """
    options: dict[str, object] = {name: values for name, values in parsed(words).items() if name not in NO_MATTER}
    for name, group in groups.items():
        if name in options:
            options[name] = group.load(parsed(words)[name][0]).recorded()
    return state / fingerprint(options)[:32]


def parsed(words: Sequence[str]) -> Mapping[str, list[str]]:
    """A program's options with their values."""
    options: dict[str, list[str]] = {}
    name = ""
    for word in words:
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            options[name] = [value] if equals else []
        else:
            options.setdefault(name, []).append(word)
    return options

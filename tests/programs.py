"""Programs as a person runs them, in this process; and what they are told in a plan, without all that is no matter."""

from __future__ import annotations

import importlib
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, get_args, get_origin

from scripts import cli
from seedbed import flags
from seedbed.encoders.translations.settings import Chosen


def call(program: ModuleType, words: list) -> None:
    """Run a program with these flags."""
    program.main(cli.read(program.Job, [*map(str, words)]))


_SIGNALLED = """
import os, pkgutil, runpy, sys

program, after, number = (sys.argv.pop(1) for _ in range(3))
place, _, name = after.rpartition(".")
owner = pkgutil.resolve_name(place)
function = getattr(owner, name)

def signalled(*args, **kwargs):
    found = function(*args, **kwargs)
    os.kill(os.getpid(), int(number))
    return found

setattr(owner, name, signalled)
runpy.run_module(f"scripts.{program}", run_name="__main__", alter_sys=True)
"""


def signalled(number: signal.Signals, program: str, words: list, *, after: str, folder: Path | None = None) -> int:
    """The exit code of a program, in a process of its own, that gets a signal when a function has ended once.

    Args:
        after: the function, as `package.module:Class.method`.
        folder: of the project whose program it is; None: this one.
    """
    command = [sys.executable, "-c", _SIGNALLED, program, after, str(number.value), *map(str, words)]
    return subprocess.run(command, cwd=folder, stderr=subprocess.DEVNULL).returncode


def told(rule: str, words: str) -> dict[str, Any]:
    """What a program of a plan is told by these flags; what else it needs is something."""
    model = importlib.import_module(f"scripts.{rule}").Job
    given = flags.values(model, shlex.split(words))
    if rule == "train_encoder" and not {"weights", "endpoint"} & given.keys():
        given["weights"] = Path("none")
    if rule == "choose_best":
        given.setdefault("dev", ["dev"])
    needed = {name: _any(field.annotation) for name, field in model.model_fields.items() if field.is_required()}
    return needed | given


def _any(kind: Any) -> Any:
    """A value of a type."""
    if get_origin(kind) is Literal:
        return get_args(kind)[0]
    if get_origin(kind) is tuple:
        return ["none", "none"]
    if kind is Chosen:
        return {"choose": "first"}
    if get_origin(kind) in (list, dict):
        return get_origin(kind)()
    known = {Path: Path("none"), str: "none", int: 0, float: 0.0}
    return known.get(kind, {})

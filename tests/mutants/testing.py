"""Pytest in processes of their own, which share what takes longest: the import of libraries."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import shlex
import sys
from pathlib import Path

SECONDS = 300
"""A test that hangs for so long has seen the bug."""
# Without bytecode: that of a file is known by its size and second, which a bug may share with the text before it.
ENVIRONMENT = {"PYTHONDONTWRITEBYTECODE": "1", "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
# Each test process is forked from one that has imported these: they take longer than most tests.
LIBRARIES = ["pytest", "hypothesis", "pandas", "sklearn", "scipy.stats", "datasets", "sentence_transformers", "peft"]
SERVER = multiprocessing.get_context("forkserver")


def prepare() -> None:
    """Start the process that the others are forked from."""
    os.environ.update(ENVIRONMENT)
    SERVER.set_forkserver_preload(LIBRARIES)


def pytest(root: Path, tests: str, seconds: float = SECONDS) -> int:
    """Pytest's exit code; 1 if it hangs."""
    process = SERVER.Process(target=run, args=(root, shlex.split(tests)))
    process.start()
    process.join(seconds)
    if process.is_alive():
        process.kill()
        return 1
    return process.exitcode


def run(root: Path, words: list[str]) -> None:
    """Run pytest in a copy of the project, in a process of its own that has the libraries, but nothing of the project."""
    for name in [name for name in sys.modules if name.partition(".")[0] in ("tests", "seedbed", "scripts")]:
        del sys.modules[name]
    os.chdir(root)
    sys.path[:0] = [str(root)]
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    sys.exit(int(importlib.import_module("pytest").main(["-x", "-q", "-p", "no:cacheprovider", *words])))

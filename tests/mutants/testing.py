"""Pytest in processes of their own, which share what takes longest: the import of libraries."""

from __future__ import annotations

import contextlib
import importlib
import multiprocessing
import os
import resource
import shlex
import sys
from multiprocessing.connection import Connection
from pathlib import Path

import psutil

SECONDS, CPU = 300, 200
"""Tests hang, and so have seen the bug, that use next to nothing for so long, or so many seconds of the processor: however
busy the machine is."""
HANGS = "hangs"
ENVIRONMENT = {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
# Each test process is forked from one that has imported these: they take longer than most tests.
LIBRARIES = ["pytest", "hypothesis", "pandas", "sklearn", "scipy.stats", "datasets", "sentence_transformers", "peft"]
SERVER = multiprocessing.get_context("forkserver")


def prepare() -> None:
    """Start the process that the others are forked from."""
    os.environ.update(ENVIRONMENT)
    SERVER.set_forkserver_preload(LIBRARIES)


def pytest(root: Path, tests: str) -> int:
    """Pytest's exit code; 1 if it hangs."""
    return first_failure(root, [shlex.split(tests)])[0]


def first_failure(root: Path, stages: list[list[str]]) -> tuple[int, str]:
    """Pytest's exit code after the first words for it with which it fails, 1 if it hangs; and the test that failed."""
    there, here = SERVER.Pipe(duplex=False)
    process = SERVER.Process(target=run, args=(root, stages, here))
    process.start()
    here.close()
    used = -1.0
    while process.is_alive():
        process.join(SECONDS)
        before, used = used, _used(process.pid)
        if process.is_alive() and used < before + 1:
            process.kill()
            return 1, HANGS
    try:
        failed = there.recv() if there.poll() else ""
    except EOFError:
        failed = ""
    return (1, HANGS) if process.exitcode < 0 else (process.exitcode, failed)


def _used(process: int) -> float:
    """Seconds of the processor that a process and those that it started have used so far."""
    total = 0.0
    with contextlib.suppress(psutil.NoSuchProcess):
        for each in (found := psutil.Process(process), *found.children(recursive=True)):
            with contextlib.suppress(psutil.NoSuchProcess):
                total += sum(each.cpu_times())
    return total


class First:
    """A plugin of pytest that keeps the name of the first test that fails, or file of tests that cannot be read."""

    failed = ""

    def pytest_collectreport(self, report) -> None:
        self.pytest_runtest_logreport(report)

    def pytest_runtest_logreport(self, report) -> None:
        if report.failed:
            self.failed = self.failed or report.nodeid


def run(root: Path, stages: list[list[str]], result: Connection) -> None:
    """Run pytest in a copy of the project, in a process of its own that has the libraries, but nothing of the project."""
    for name in [name for name in sys.modules if name.partition(".")[0] in ("tests", "seedbed", "scripts")]:
        del sys.modules[name]
    os.chdir(root)
    sys.path[:0] = [str(root)]
    resource.setrlimit(resource.RLIMIT_CPU, (CPU, CPU))
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    for words in stages:
        first = First()
        code = importlib.import_module("pytest").main(["-x", "-q", "-p", "no:cacheprovider", *words], plugins=[first])
        if code:
            result.send(first.failed)
            break
    sys.exit(int(code))

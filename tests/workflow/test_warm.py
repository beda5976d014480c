"""A program in a fork of a warm process does what it does in a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import warm
from tests.workflow.conftest import ENVIRONMENT, copied

PROGRAM = """
import os, signal, sys, time
import scripts.words
if "wait" in sys.argv:
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(7))
    print(os.getpid(), flush=True)
    time.sleep(60)
print(scripts.words.SAID, __name__, sys.argv[1:], os.getcwd(), os.environ.get("OF_THIS_TEST"), sys.stdin.read())
print("torch" in sys.modules, file=sys.stderr)
os.umask(0) == 0o27 or sys.exit("another umask")
{end}
"""


@pytest.fixture
def start(tmp_path) -> Callable[..., subprocess.Popen]:
    """Starts a small program whose code ends so."""

    def started(*words: str, end: str = "", python: Path | str = "", said: str = "this") -> subprocess.Popen:
        (tmp_path / "scripts").mkdir(exist_ok=True)
        (tmp_path / "scripts/words.py").write_text(f"SAID = {said!r}")
        (tmp_path / "scripts/small.py").write_text(PROGRAM.format(end=end))
        environment = ENVIRONMENT | {"OF_THIS_TEST": "set"}
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        command = [str(python or warm.python()), "-m", "scripts.small", *words]
        return subprocess.Popen(command, cwd=tmp_path, env=environment, text=True, umask=0o27, **pipes)

    return started


@pytest.mark.parametrize(
    ("end", "code"),
    [
        ("", 0),
        ("sys.exit(3)", 3),
        ("sys.exit('error: this')", 1),
        ("1 / 0", 1),
        ("os.kill(os.getpid(), signal.SIGKILL)", -9),
    ],
)
def test_words_folder_variables_files_and_exit_code_are_those_of_a_process_of_its_own(start, end, code):
    results = []
    for python in (warm.python(), sys.executable):
        process = start("a b", "", end=end, python=python)
        page, errors = process.communicate("in")
        imported, *errors = errors.splitlines()
        assert process.returncode == code
        results.append((page, errors[-1:], imported))
    (*fork, fork_imported), (*own, own_imported) = results
    assert fork == own and (fork_imported, own_imported) == ("True", "False")


def test_modules_of_the_project_are_imported_anew(start):
    for said in ("this", "another"):  # of another length, which compiled modules are known by within a second
        assert start(said=said).communicate()[0].startswith(said)


@pytest.mark.parametrize("edited", [False, True])
def test_the_librarys_modules_are_those_of_the_copy_in_which_a_program_runs(tmp_path, edited):
    copied(tmp_path)
    if edited:
        with (tmp_path / "seedbed/resources/__init__.py").open("a") as file:
            file.write("OWN = Path('edited')\n")
    code = "import seedbed\nfrom seedbed import resources\nprint(seedbed.__path__, resources.__file__, resources.ROOT, resources.OWN)"
    (tmp_path / "scripts/small.py").write_text(code)
    command = [str(warm.python()), "-m", "scripts.small"]
    done = subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True)
    assert done.stdout.split() == [
        f"['{tmp_path}/seedbed']",
        f"{tmp_path}/seedbed/resources/__init__.py",
        str(tmp_path),
        "edited" if edited else "resources",
    ]


def test_a_signal_reaches_the_program(start):
    process = start("wait")
    process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    assert process.wait() == 7


def test_whoever_is_killed_leaves_nothing_running(start):
    process = start("wait")
    child = int(process.stdout.readline())
    assert child != process.pid
    process.kill()
    for _ in range(200):
        try:
            os.kill(child, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail("it still runs")


def test_all_else_is_plain_python():
    done = subprocess.run([warm.python(), "-c", "import sys; print(sys.executable)"], capture_output=True, text=True)
    assert done.stdout.strip() == sys.executable


def test_abroad_no_module_of_the_project_is_there(tmp_path):
    ours = "print([name for name in sys.modules if name.partition('.')[0] in ('seedbed', 'scripts', 'tests')])"
    assert warm.abroad(ours, folder=tmp_path) == "['seedbed']\n", "which is nothing"
    for module in ("seedbed.io", "scripts.score"):
        with pytest.raises(AssertionError, match="ModuleNotFoundError"):
            warm.abroad(f"import {module}", folder=tmp_path)


PLANNED = """
import json, sys
from pathlib import Path
from seedbed.operations.jobs import planned

jobs = planned([Path("study.yaml")], {}, {}, sys.argv[1:])
print(json.dumps(next(job.value for job in jobs if job.rule == "train_encoder")))
"""
"""Prints what the training of a file was told."""


def test_a_training_writes_the_same_bytes_as_plain_python(finished):
    """What a fork wrote in the whole run, beside the same job in a process of its own."""
    names = ["model.safetensors", "seedbed.json"]
    folder = "results/own/encoders/tiny-bert/unsupervised/hau/1"
    told = json.loads(finished.snippet(PLANNED, f"{folder}/seedbed.json"))
    assert told["output"] == folder
    told |= {"output": "results/plain", "state": "results/plain-state"}
    done = subprocess.run(
        [sys.executable, "-m", "scripts.train_encoder", "-"],
        cwd=finished.root,
        env=finished.environment,  # one thread, as by the profile
        input=json.dumps(told),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    plain, forked = ([(finished.root / one / name).read_bytes() for name in names] for one in ("results/plain", folder))
    assert plain == forked

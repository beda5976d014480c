"""Each job has GPUs of its own, without any GPU here: jobs are processes that claim names."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from seedbed import devices
from seedbed.io import UserError

JOB = """
import os, sys
from pathlib import Path
from seedbed import devices
devices.claim(os.environ, Path(sys.argv[1]))
print(os.environ.get("CUDA_VISIBLE_DEVICES"), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def job(tmp_path: Path):
    """A function: a process that asks for so many of the GPUs, works until its input ends, and says what it sees."""
    started = []

    def start(asked: int, among: str = "0,1") -> subprocess.Popen:
        environment = {**os.environ, devices.SHARED: among, devices.REQUESTED: str(asked)}
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        command = [sys.executable, "-c", JOB, str(tmp_path / "gpus")]
        started.append(subprocess.Popen(command, env=environment, text=True, **pipes))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_two_jobs_have_two_gpus_and_a_third_waits_for_one_to_end(job):
    first, second = job(1), job(1)
    seen = [first.stdout.readline().strip(), second.stdout.readline().strip()]
    assert sorted(seen) == ["0", "1"]
    third = job(1)
    assert third.stderr.readline() == "waiting for 1 of the GPUs 0,1, which other jobs have\n"
    second.kill()
    assert third.stdout.readline().strip() == seen[1], "of a killed job nothing is left"


def test_who_needs_two_holds_none_while_it_waits(job):
    first = job(1)
    held = first.stdout.readline().strip()
    both = job(2)
    assert both.stderr.readline().startswith("waiting for 2")
    time.sleep(0.1)
    other = job(1)
    assert other.stdout.readline().strip() == {"0": "1", "1": "0"}[held]
    for process in (first, other):
        process.kill()
    assert both.stdout.readline().strip() == "0,1"


def test_a_job_without_gpus_sees_none(job):
    assert job(0).stdout.readline() == "\n"


@pytest.mark.parametrize(
    "environment", [{"GPUS": "1"}, {"GPUS": "1", "SEEDBED_GPUS": ""}, {"SEEDBED_GPUS": "0"}], ids=str
)
def test_where_nobody_shares_out_gpus_nothing_happens(environment: dict[str, str], tmp_path: Path):
    before = dict(environment)
    devices.claim(environment, tmp_path / "gpus")
    assert environment == before and not (tmp_path / "gpus").exists()


def test_a_run_shares_out_what_it_sees_itself():
    assert devices.visible_gpus(2, {}) == {"SEEDBED_GPUS": "0,1"}
    assert devices.visible_gpus(2, {"CUDA_VISIBLE_DEVICES": "3,MIG-x/1/0,5"}) == {"SEEDBED_GPUS": "3,MIG-x/1/0"}
    for seen in ("3", ""):
        with pytest.raises(UserError, match=f"resources: gpu=2, but CUDA_VISIBLE_DEVICES is '{seen}'; give gpu="):
            devices.visible_gpus(2, {"CUDA_VISIBLE_DEVICES": seen})


def test_a_program_claims_before_it_imports_a_library(tmp_path: Path):
    """PyTorch looks for GPUs once."""
    probe = (
        "import sys\n"
        "from seedbed import devices\n"
        "devices.claim = lambda *_: sys.exit(print('torch' in sys.modules))  # what is imported later takes seconds\n"
        "from scripts import cli, train_encoder as program\n"
        "sys.argv = ['train_encoder', '--seed', '1', '--output', 'x', '--state', 'y', '--weights', 'z']\n"
        "cli.run(program.Job, program.main)"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_a_folder_of_somebody_else_keeps_nobody_waiting(job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """On a shared machine anybody may make it first, or a link, and hold all locks for ever."""
    (tmp_path / "theirs").mkdir()
    (tmp_path / "gpus").symlink_to(tmp_path / "theirs")
    linked = job(1)
    assert linked.wait(60) and "gpus: somebody else made it" in linked.stderr.read()
    (tmp_path / "gpus").unlink()
    (tmp_path / "gpus").mkdir()
    monkeypatch.setattr(os, "getuid", lambda: (tmp_path / "gpus").stat().st_uid + 1)
    with pytest.raises(UserError, match=r"gpus:.*all GPUs"):
        devices.claim({devices.SHARED: "0", devices.REQUESTED: "1"}, tmp_path / "gpus")

"""Limits of time and memory, a drained node, a job left behind: what becomes of a job that is under way. Opt-in.

An encoder, its scores and a shard are made on this machine, once; each test has some of it made again on the cluster, lets a
job put something by, and then stops its process where it is, as one that hangs. Whatever happens to it, the bytes must be
those of the run without a fault.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml

from tests.slurm.cluster import Cluster, wait_until
from tests.slurm.conftest import SITE, SLURM, content, gres_only, on_cluster, payload
from tests.workflow.conftest import STUDY, Project, copy_project

pytestmark = pytest.mark.slurm

ONE = STUDY | {
    "results": "results/one",
    "generators": {
        "tiny": STUDY["generators"]["tiny"]
        | {"shard_rows": 32, "batch_size": 2, "sampling": {"max_new_tokens": 100, "max_prompt_tokens": 2000}}
    },
    "recipes": {"unsupervised": {"training": {"epochs": 50}}, "prompting": {}},
    "checkpoint_minutes": 0,
    "tasks": {"own-sts": STUDY["tasks"]["own-sts"]},
    "statistics": {"resamples": 100, "baseline": "unsupervised"},
}
"""One job of each kind that keeps what it has: a training with a checkpoint for each step, a shard with two commits."""

ENCODER, SCORES = "results/one/encoders/tiny-bert/unsupervised/hau/1", "results/one/scores/tiny-bert"
SHARDS = "results/one/triplets/tiny/prompting/hau.shards"
TRAINED, SCORED, WRITTEN = f"{ENCODER}/seedbed.json", f"{SCORES}/unsupervised/hau/hau.all.json", f"{SHARDS}/0.tsv"
FOLDERS = {TRAINED: (ENCODER,), SCORED: (ENCODER, SCORES), WRITTEN: (SHARDS,)}
TRAINING = "train_encoder/tiny-bert/unsupervised/hau/1"
WRITING = "synthesise/tiny/prompting/hau/0"

LIMITS = {
    "none": {},
    "time": {"train_encoder": {"runtime": "10 ** (attempt - 1)"}},
    "memory": {"synthesise": {"mem_mb": "2000 * attempt"}},
}
"""Minutes and megabytes that a site gives a job; the least time that Slurm knows is a minute."""

SECONDS = 600
"""How long a run may take; two minutes where nobody else computes."""

MEMORY = """\
# Every Python reads this first. A program has two gigabytes more taken once the test says so, and waits for what comes.
import os, pathlib, signal, subprocess, sys, threading, time

# It uses them all the time: pages that nobody looks at may be swapped out before Slurm counts them.
TAKE = "taken = bytearray(b'x') * 2**31\\nwhile True: taken[::4096] = b'y' * 2**19"

def take(word=pathlib.Path("take-memory")):
    while not word.exists():
        time.sleep(0.05)
    word.unlink()
    subprocess.Popen([sys.executable, "-c", TAKE])
    os.kill(os.getpid(), signal.SIGSTOP)

if sys.orig_argv[2:3] == ["scripts.synthesise"]:
    threading.Thread(target=take, daemon=True).start()
"""


@pytest.fixture(scope="module")
def made(cluster, tmp_path_factory) -> tuple[Project, dict[str, bytes]]:
    """All of it, made on this machine, and a site for each limit."""
    project = on_cluster(copy_project(tmp_path_factory.mktemp("project"), ONE), cluster)
    for name, limits in LIMITS.items():
        site = SITE | gres_only()
        for rule, resources in limits.items():
            site["set-resources"][rule] |= resources
        (project.root / f"{name}.yaml").write_text(yaml.safe_dump(site))
    (project.root / "memory").mkdir()
    (project.root / "memory/sitecustomize.py").write_text(MEMORY)
    done = project.snakemake(SCORED, WRITTEN)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return project, content(project.root, ENCODER, SCORES, SHARDS)


@dataclass
class Again:
    """Some of it once more, on the cluster."""

    project: Project
    cluster: Cluster
    known: int
    """Job steps of others."""
    runs: list[subprocess.Popen] = field(default_factory=list)
    target: str = ""

    @property
    def log(self) -> Path:
        return self.project.root / "again.log"

    def start(self, site: str, target: str, *arguments: str, **environment: str) -> subprocess.Popen:
        """Snakemake, in the background."""
        self.target = target
        command = self.project.command(*SLURM, f"{site}.yaml", target, *arguments)
        with self.log.open("a") as log:
            options = {"cwd": self.project.root, "env": self.project.environment | environment}
            self.runs.append(subprocess.Popen(command, **options, stdout=log, stderr=log))
        return self.runs[-1]

    def jobs(self, job: str) -> list[str]:
        """Its numbers at Slurm, in the order of the starts."""
        rule, _, wildcards = job.partition("/")
        comment = f"rule_{rule}_wildcards_{wildcards.replace('/', '_')}"
        return [step[0] for step in self.cluster.record()[self.known :] if step[3] == comment]

    def queue(self, number: str, form: str) -> str:
        """What Slurm says of a job, ended ones too."""
        return self.cluster.ask("squeue", "--noheader", "--states=all", "--jobs", number, "--format", form).strip()

    def checkpoint(self) -> int:
        """The step of the training's newest whole checkpoint; 0 without one."""
        found = self.project.root.glob("results/one/state/*/*/checkpoint-*/trainer_state.json")
        return max((int(file.parent.name.rpartition("-")[2]) for file in found), default=0)

    def journal(self) -> int:
        """Completions that the shard's journal has."""
        return sum(file.read_bytes().count(b"\n") for file in self.project.root.glob("results/one/state/*/*.jsonl"))

    def hold(self) -> tuple[int, int]:
        """Stop the training where it is, twenty checkpoints in: its process, and the step that it would go on from."""
        wait_until(lambda: self.checkpoint() >= 20, "no checkpoints", self.log.read_text, seconds=SECONDS)
        [process] = payload(self.project.root, "train_encoder")
        os.kill(process, signal.SIGSTOP)
        wait_until(lambda: ") T " in Path(f"/proc/{process}/stat").read_text(), "not stopped")
        return process, self.checkpoint()

    def shown(self, job: str) -> list[int]:
        """How far the job's last attempt was, each time that its bar shows it: the bar with the most steps."""
        bars = [(int(steps), int(step)) for step, steps in re.findall(r"(\d+)/(\d+) \[", self.said(job))]
        return [step for steps, step in bars if steps == max(bars)[0]]

    def said(self, job: str) -> str:
        return (self.project.root / f"results/one/logs/{job}.log").read_text()


@pytest.fixture
def again(made, cluster) -> Iterator[Again]:
    """Takes all of it away; what a test asks for must be there in the end, every byte."""
    project, before = made
    for folder in (ENCODER, SCORES, SHARDS):
        shutil.rmtree(project.root / folder, ignore_errors=True)
    once_more = Again(project, cluster, len(cluster.record()))
    once_more.log.write_text("")
    yield once_more
    for run in once_more.runs:
        run.kill()
        run.wait()
    cluster.ask("scancel", "--quiet", "--user=root")
    no_jobs(cluster)
    folders = FOLDERS[once_more.target]
    expected = {name: data for name, data in before.items() if name.startswith(folders)}
    assert content(project.root, *folders) == expected, "the same bytes as without a fault"


def no_jobs(cluster: Cluster) -> None:
    wait_until(lambda: not cluster.ask("squeue", "-h"), "jobs do not end", seconds=SECONDS)


def test_a_job_out_of_time_goes_on_with_more(again):
    run = again.start("time", TRAINED)
    _, step = again.hold()
    assert run.wait(SECONDS) == 0, again.log.read_text()[-3000:]
    first, second = again.jobs(TRAINING)
    assert again.queue(first, "%T %l") == "TIMEOUT 1:00" and again.queue(second, "%T %l") == "COMPLETED 10:00"
    assert next(shown for shown in again.shown(TRAINING) if shown) > step


def test_a_job_out_of_memory_goes_on_with_more(again):
    run = again.start("memory", WRITTEN, PYTHONPATH=str(again.project.root / "memory"))
    wait_until(again.journal, "no journal", again.log.read_text, seconds=SECONDS)
    (again.project.root / "take-memory").touch()
    assert run.wait(SECONDS) == 0, again.log.read_text()[-3000:]
    first, second = again.jobs(WRITING)
    # Where cgroups bound memory, the first is OUT_OF_MEMORY; Snakemake takes both for a failure.
    assert again.queue(first, "%T %m") == "FAILED 2000M" and again.queue(second, "%T %m") == "COMPLETED 4000M"
    [slurm_log] = again.project.root.glob(f"logs/slurm/rule_synthesise/*/{first}.log")
    assert "exceeded memory limit" in slurm_log.read_text()
    assert again.shown(WRITING)[0] > 0, "what the journal had"


def test_a_drained_node_ends_its_job_and_begins_none_until_it_is_back(again, cluster):
    run = again.start("none", SCORED)
    training, _ = again.hold()
    cluster.run("scontrol", "update", f"nodename={cluster.host}", "state=drain", "reason=maintenance")
    try:
        os.kill(training, signal.SIGCONT)
        wait_until(lambda: "DRAINED" in cluster.ask("squeue", "-h", "-o", "%R"), "no job waits", seconds=SECONDS)
        [waiting] = cluster.ask("squeue", "-h", "-o", "%T %k").splitlines()
        assert waiting.startswith("PENDING rule_score_")
        assert run.poll() is None and (again.project.root / TRAINED).exists()
    finally:
        cluster.run("scontrol", "update", f"nodename={cluster.host}", "state=resume")
    assert run.wait(SECONDS) == 0, again.log.read_text()[-3000:]
    [only] = again.jobs(TRAINING)
    assert again.queue(only, "%T") == "COMPLETED"


def test_a_job_that_a_killed_snakemake_left_behind_is_not_disturbed_by_its_double(again, cluster):
    run = again.start("none", TRAINED)
    training, _ = again.hold()
    run.send_signal(signal.SIGKILL)
    run.wait()
    double = again.start("none", TRAINED, "--retries", "0")
    assert double.wait(SECONDS) == 1, again.log.read_text()[-3000:]
    [line] = [line for line in again.said(TRAINING).splitlines() if "error:" in line]
    assert re.search(r"error: results/one/state/\w+: another process is at work there; wait for it", line)
    first, second = again.jobs(TRAINING)
    assert [again.queue(job, "%T") for job in (first, second)] == ["RUNNING", "FAILED"]
    os.kill(training, signal.SIGCONT)
    no_jobs(cluster)
    assert again.queue(first, "%T") == "COMPLETED" and (again.project.root / TRAINED).exists()
    assert again.start("none", TRAINED).wait(SECONDS) == 0, again.log.read_text()[-3000:]

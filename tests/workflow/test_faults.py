"""What machines do to a run: after each fault the same command goes on and ends with the same bytes.

Opt-in (`make test-faults`): a dozen runs of a small study, thirty of them cut short.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import time

import pytest

from tests.refusals import tells
from tests.workflow.conftest import ENVIRONMENT

pytestmark = pytest.mark.faults
TARGETS = ("tables/table1.csv", "triplets/tiny/prompting/hau.tsv", "triplets/tiny/composition/hau.tsv")
RECIPES = {"base": {}, "prompting": {}, "composition": {}}


def study(project, name: str) -> str:
    """A study of three recipes with results of its own."""
    changes = {"results": f"results/{name}", "recipes": RECIPES, "statistics/baseline": "base"}
    return project.edit(changes, target=f"{name}.yaml")


def start(project, config: str) -> subprocess.Popen:
    """A run in the background, in a process group of its own."""
    command = [sys.executable, "-m", "snakemake", "--profile", "profiles/demo", "--configfile", config]
    options = {"cwd": project.root, "env": ENVIRONMENT, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    return subprocess.Popen(command, **options, text=True, start_new_session=True)


def outputs(project, name: str) -> dict[str, bytes]:
    return {target: (project.root / "results" / name / target).read_bytes() for target in TARGETS}


@pytest.fixture(scope="module")
def unbroken(project):
    """The bytes of a run without faults."""
    done = project.snakemake(config=study(project, "unbroken"))
    assert done.returncode == 0, done.stderr[-4000:]
    return outputs(project, "unbroken")


def kill_at_random(project, name: str, kills: int, seed: int) -> None:
    """Kill Snakemake and all its jobs at random moments, then let it end."""
    config, draw = study(project, name), random.Random(seed)
    for _ in range(kills):
        run = start(project, config)
        try:
            run.wait(draw.uniform(2, 14))
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, signal.SIGKILL)
            run.wait()
        if (project.root / f"results/{name}/report.zip").exists():
            # It ended before its kill: half of it is to be made again.
            for folder in ("triplets", "scores", "report.zip"):
                path = project.root / f"results/{name}" / folder
                shutil.rmtree(path) if path.is_dir() else path.unlink()
    done = project.snakemake(config=config)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]


def test_a_run_that_is_killed_with_its_jobs_goes_on(project, unbroken):
    kill_at_random(project, "killed", kills=3, seed=1)
    assert outputs(project, "killed") == unbroken


@pytest.mark.parametrize("seed", [2, 3, 4])
def test_ten_kills_at_random_moments_change_no_byte(project, unbroken, seed):
    kill_at_random(project, f"killed{seed}", kills=10, seed=seed)
    assert outputs(project, f"killed{seed}") == unbroken


def test_a_shard_that_changed_on_disk_is_found_and_made_anew(project, unbroken):
    config = study(project, "corrupted")
    shard = "results/corrupted/triplets/tiny/prompting/hau.shards/0.tsv"
    assert project.snakemake(shard, config=config).returncode == 0
    path = project.root / shard
    content = path.read_bytes()
    path.write_bytes(content.replace(b"a", b"e", 1))
    done = project.snakemake(config=config)
    assert done.returncode != 0
    assert tells(done.stderr + done.stdout, f"error: {shard}: ... sha256 ... remove it")
    path.unlink()
    assert project.snakemake(config=config).returncode == 0
    assert path.read_bytes() == content and outputs(project, "corrupted") == unbroken


def test_two_runs_of_one_study_do_not_meet(project, unbroken):
    config = study(project, "twice")
    first = start(project, config)
    lock = project.root / "results/twice/.lock"
    while not lock.exists():
        assert first.poll() is None, first.stdout.read()
        time.sleep(0.1)
    second = project.snakemake(config=config)
    output, _ = first.communicate()
    assert second.returncode != 0
    assert tells(second.stderr + second.stdout, "error: results/twice: another process")
    assert first.returncode == 0, output[-4000:]
    assert outputs(project, "twice") == unbroken


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small disk needs root")
def test_a_full_disk_while_triplets_are_written(project, unbroken):
    config = study(project, "full")
    disk = project.root / "results/full/triplets"
    disk.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", str(disk)], check=True)
    try:
        done = project.snakemake(config=config)
        assert done.returncode != 0 and "nothing was written" in done.stdout + done.stderr
        assert not [path for path in disk.rglob("*.tsv") if path.stat().st_size == 0]
        subprocess.run(["mount", "-o", "remount,size=8m", str(disk)], check=True)
        assert project.snakemake(config=config).returncode == 0
        assert outputs(project, "full") == unbroken
    finally:
        subprocess.run(["umount", str(disk)], check=True)

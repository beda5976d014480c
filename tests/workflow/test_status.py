"""`make status` on real runs: none yet, broken, going on, killed; it never writes. (Finished: test_graph.py has such a run.)"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from tests import warm
from tests.workflow.conftest import ENVIRONMENT


@pytest.fixture
def case(project, request):
    """Results of a test's own, and the cheapest target that has jobs behind it: four corpora, a sample and anchors."""
    results = f"results/{request.node.name}"
    config = project.edit({"results": results}, target=f"{request.node.name}.yaml")
    return project, config, f"{results}/corpora/hau/anchors.tsv"


def status(project, config, *targets, attempts=1):
    """The page; asking writes nothing. A run that is going on, or was just killed, may: then it is asked again."""
    for _ in range(attempts):
        before = everything(project)
        done = project.program("status", "--configfiles", config, *(["--targets", *targets] if targets else []))
        assert done.returncode == 0, done.stderr[-3000:]
        if not (written := {path for path, _ in everything(project) ^ before}):
            return done.stdout
    raise AssertionError(f"it writes {written}")


def everything(project):
    """Each file and folder of the runs, with its size and time of change."""
    paths = (path for folder in (".snakemake", "results") for path in (project.root / folder).rglob("*"))
    stats = ((path, path.lstat()) for path in paths)
    return {(path, (stat.st_size, stat.st_mtime_ns)) for path, stat in stats}


def test_nothing_has_run(case):
    project, config, target = case
    page = status(project, config, target)
    assert "6 jobs: 0 done, 0 running, 0 failed, 6 to do" in page and "No run is going on" in page
    assert "| hau      |     0/4 |" in page and "| eng      |     0/2 |" in page


def test_a_broken_job(case):
    project, config, target = case
    (project.root / "own/broken.tsv").write_text("id\tsentence\n1\ta b c d\n")
    broken = project.edit(
        {"languages": {"hau": {"corpus": {"file": "own/broken.tsv"}}}}, source=config, target="broken.yaml"
    )
    log = target.replace("corpora/hau/anchors.tsv", "logs/fetch_corpus/hau/text.log")
    for quiet in ([], ["--quiet", "all"]):  # which silences Snakemake's own log too
        assert project.snakemake(target, "--keep-going", *quiet, config=broken).returncode != 0
        page = status(project, broken, target)
        assert "6 jobs: 4 done, 0 running, 1 failed, 1 to do" in page
        assert f"failed:\n  fetch_corpus lang=hau corpus=text\n    {log}" in page.replace(
            "corpus=text lang=hau", "lang=hau corpus=text"
        )
    assert project.snakemake(target, config=config).returncode == 0
    assert "6 jobs: 6 done, 0 running, 0 failed, 0 to do" in status(project, config, target)


def begun(project, config, target, python):
    """A run whose last job waits for the file `go`; it is handed over when that job has begun."""
    command = [str(python), "-m", "snakemake", "--profile", "profiles/demo", "--configfile", config, "--", target]
    going = subprocess.Popen(
        command, cwd=project.root, env=ENVIRONMENT, start_new_session=True, stderr=subprocess.DEVNULL
    )
    log = project.root / target.replace("corpora/hau/anchors.tsv", "logs/select_anchors/hau/anchors.log")
    for _ in range(1200):
        if log.exists():
            return going
        assert going.poll() is None
        time.sleep(0.1)
    raise AssertionError("the job never began")


@pytest.fixture
def waiting(project):
    """`select_anchors` waits for the file `go`, when it runs; a plan imports it, too."""
    script = project.root / "scripts/select_anchors.py"
    before, runs = script.read_bytes(), b'if __name__ == "__main__":\n'
    wait = b"    import pathlib, time\n    while not pathlib.Path('go').exists():\n        time.sleep(0.1)\n"
    script.write_bytes(before.replace(runs, runs + wait))
    assert script.read_bytes() != before
    yield project.root / "go"
    script.write_bytes(before)
    (project.root / "go").unlink(missing_ok=True)


def test_a_run_that_is_going_on(case, waiting):
    project, config, target = case
    going = begun(project, config, target, sys.executable)
    try:
        page = status(project, config, target, attempts=10)
        assert "6 jobs: 5 done, 1 running, 0 failed, 0 to do" in page and "A run is going on since" in page
        assert "running:\n  select_anchors lang=hau anchors=anchors since" in page
    finally:
        os.killpg(going.pid, signal.SIGKILL)
        going.wait()
    page = status(project, config, target, attempts=10)
    assert "6 jobs: 5 done, 0 running, 1 failed, 0 to do" in page and "No run is going on" in page


def test_a_run_is_not_disturbed(case, waiting):
    project, config, target = case
    going = begun(project, config, target, warm.python())
    assert "1 running" in status(project, config, target, attempts=10)
    waiting.touch()
    assert going.wait(timeout=120) == 0
    assert "6 jobs: 6 done, 0 running, 0 failed, 0 to do" in status(project, config, target)

"""A small study, run once on this machine and once as jobs of a real Slurm cluster of one node."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.slurm.cluster import Cluster, ClusterError
from tests.workflow.conftest import ENVIRONMENT, STUDY, Project, copy_project

SMALL = STUDY | {
    "results": "results/slurm",
    "recipes": dict.fromkeys(["base", "composition", "xllora"], {}),
    "anchors": {"count": 16},
    "statistics": {"resamples": 100, "baseline": "xllora"},
}
"""Every rule at least once, in few jobs."""

PARTITIONS = {"main": {"max_runtime": "1d"}, "accelerated": {"max_runtime": "1d", "max_gpu": 2}}
SITE = {
    "slurm-status-command": "squeue",
    "slurm-init-seconds-before-status-checks": 1,
    "max-jobs-per-timespan": "100/1s",
    "latency-wait": 5,
    # One thread for each job, as in the local run: the bytes of a training hang on it.
    "max-threads": 1,
}
"""A site without accounting, asked often."""


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """The cluster, for all tests; an error in one line where there can be none."""
    try:
        with Cluster() as started:
            yield started
    except ClusterError as error:
        pytest.fail(f"error: {error}", pytrace=False)


@pytest.fixture(scope="session")
def slurm(cluster, tmp_path_factory) -> Project:
    """The project with the study, and two sites: one with partitions to choose from, and one that knows gres alone."""
    project = on_cluster(copy_project(tmp_path_factory.mktemp("project"), SMALL), cluster)
    files = {
        "partitions": {"partitions": PARTITIONS},
        "site": SITE | {"slurm-partition-config": "partitions.yaml"},
        "gres": SITE | gres_only(),
    }
    for name, content in files.items():
        (project.root / f"{name}.yaml").write_text(yaml.safe_dump(content))
    return project


def on_cluster(project: Project, cluster: Cluster) -> Project:
    """The project, with variables that lead to the cluster."""
    project.environment = ENVIRONMENT | cluster.environment
    project.environment["PATH"] = f"{cluster.root}/bin:{ENVIRONMENT['PATH']}"
    project.warm = False  # its jobs are processes of the cluster
    return project


def gres_only() -> dict:
    """What the profile's comment gives for such a site, taken out of it."""
    lines = Path("profiles/slurm/profile.yaml").read_text().splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("# set-resources:"))
    block = yaml.safe_load("\n".join(line.removeprefix("# ") for line in lines[start:]))
    return block | {"default-resources": {"slurm_partition": "main", "slurm_account": "someone"}}


@pytest.fixture(scope="session")
def finished(slurm) -> subprocess.CompletedProcess[str]:
    """The study, run whole by the first site."""
    done = slurm.snakemake(*SLURM, "site.yaml")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
    return done


SLURM = ("--profile", "profiles/slurm", "--profile")
"""The project's profile, and a site's to follow."""


def content(root: Path, *folders: str) -> dict[str, bytes]:
    """Every file in folders under a root."""
    files = [path for folder in folders for path in (root / folder).rglob("*") if path.is_file()]
    return {str(path.relative_to(root)): path.read_bytes() for path in files}


def payload(root: Path, script: str) -> list[int]:
    """Processes of a program of the project."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().split(b"\0")
            if command[1:3] == [b"-m", f"scripts.{script}".encode()] and (process / "cwd").readlink() == root:
                found.append(int(process.name))
        except OSError:
            continue
    return found

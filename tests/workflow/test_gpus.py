"""What jobs ask of a cluster's GPUs and environments, as Snakemake plans them, and what ends a run before it begins."""

from __future__ import annotations

import json

import pytest

from tests.refusals import tells
from tests.workflow.conftest import STUDY, Project, copy_project

TINY = {"memory": {"small": 4_000, "large": 80_000}}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return copy_project(tmp_path_factory.mktemp("gpus"), STUDY | {"gpus": TINY})


PLAN = """
import json, pathlib, sys
from seedbed.operations.jobs import planned
jobs = planned([pathlib.Path(sys.argv[1])], {}, {}, [])
print("PLAN", json.dumps({job.rule: job.resources for job in jobs}, default=str))
"""


def planned(project: Project, config: str = "study.yaml") -> dict[str, dict]:
    """Rule -> the resources of one of its jobs."""
    return json.loads(project.snippet(PLAN, config).rpartition("PLAN ")[2])


def told(project: Project, *arguments: str, config: str) -> str:
    """The one line that ends a run."""
    done = project.snakemake(*arguments, config=config)
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert done.returncode == 1 and not [*project.root.glob("results/*/corpora")], done.stderr
    return line


def test_a_job_with_a_gpu_says_how_much_of_it_and_which_have_that_much(project: Project) -> None:
    for rule, asked in planned(project).items():
        if asked.get("gpu"):
            assert 1_500 < asked["gpu_mb"] < 4_000 and asked["constraint"] == "small|large", rule
        else:
            assert not asked.get("gpu_mb") and "constraint" not in asked, rule
    typed = project.edit({"gpus": {**TINY, "told_by": "gpu_model"}}, target="typed.yaml")
    asked = planned(project, typed)["train_encoder"]
    assert asked["gpu_model"] == "small" and "constraint" not in asked


def test_a_model_that_fits_none_of_the_gpus_ends_the_run_before_its_first_job(project: Project) -> None:
    few = project.edit({"gpus": {"memory": {"old": 1_000}}}, target="few.yaml")
    line = told(project, config=few)
    assert "needs 1,5" in line and tells(line, "gpus.memory, old, has 1,000; ... smaller model")


def test_vllm_that_is_nowhere_ends_the_run_before_its_first_job(project: Project) -> None:
    vllm = project.edit({"generators/tiny/backend": "vllm", "results": "elsewhere"}, target="vllm.yaml")
    line = told(project, config=vllm)
    assert tells(line, "generators.tiny.backend: vllm ... `make env-vllm` ... `software-deployment-method")
    assert not (project.root / "elsewhere").exists()


def test_whoever_knows_better_says_so(project: Project) -> None:
    few = project.edit({"gpus": {"memory": {"old": 1_000}}}, target="few.yaml")
    rules = [rule for rule, asked in planned(project, few).items() if asked.get("gpu")]
    own = ["--set-resources", *(f"{rule}:gpu_mb=900" for rule in rules)]
    done = project.snakemake("results/own/corpora/hau/text.tsv", *own, config=few)
    assert done.returncode == 0, done.stderr[-2000:]

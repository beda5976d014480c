"""No job of a shipped study has less time or memory than its own forecast; of papers 002 and 004 see test_*_scale.py."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.rehearsal import cutting
from tests.workflow import plans
from tests.workflow.conftest import STUDY, Project, copy_files


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return copy_files(tmp_path_factory.mktemp("limits"), STUDY)


STUDIES = [
    ("config/demo.yaml",), ("config/neighxlm.yaml", "all_neighxlm"),
    pytest.param(("config/miners.yaml", "all_miners"), marks=pytest.mark.rehearsal),
]  # fmt: skip


@pytest.mark.parametrize("study", STUDIES)
def test_no_job_asks_for_less_than_it_is_forecast_to_take(project: Project, study: tuple[str, ...]) -> None:
    found = plans.made(project, *study)
    assert found.short == [] and sum(found.counts.values()) > 80


def test_no_job_of_miners_does_in_the_languages_that_stand_for_all(project: Project) -> None:
    cut = cutting.cut(cutting.PAPERS["003"])
    for table, spec in cut.specs.items():
        (project.root / f"resources/tables/{table}.yaml").write_text(yaml.safe_dump(spec))
    Path(project.root, "few.yaml").write_text(yaml.safe_dump(cut.config))
    found = plans.made(project, "few.yaml", "all_miners")
    assert found.short == [] and found.counts["score"] > 100


def test_no_job_of_paper_000_does_and_what_takes_longer_gets_longer(project: Project) -> None:
    found = plans.made(project, "config.yaml", "all_bootstrapping")
    assert found.short == []
    assert found.longest["synthesise"] == 400, (
        "262 minutes for 50,000 anchors with five examples, and half as long again"
    )
    assert found.longest["fetch_corpus"] == 120 and found.longest["join_triplets"] == 30, "what the rule says"

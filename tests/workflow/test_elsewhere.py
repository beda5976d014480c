"""A study in a folder of its own: run by the path of the Snakefile, or as a module of the user's."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from seedbed import yamls
from seedbed.locks import exclusive
from tests import warm
from tests.refusals import tells
from tests.unit.test_tracking import installed
from tests.workflow.conftest import ENVIRONMENT, STUDY, copied, own_study
from tests.workflow.test_graph import nothing_to_do, planned

SNAKEFILE = Path("Snakefile").resolve()
KEPT = ("results", "seeds", "languages", "backbones", "statistics")
SMALL = {name: STUDY[name] for name in KEPT} | {
    "recipes": {"base": {}},
    "tasks": {"own-sts": STUDY["tasks"]["own-sts"]},
}
(EXAMPLE,) = re.findall(r"```python\n(.*?)```", Path("docs/your-language.md").read_text(), flags=re.S)
MODULE = EXAMPLE.replace("/path/to/seedbed", str(SNAKEFILE.parent))
"""A Snakefile of the user's, as the page has it."""
TABLE, FIGURE = "results/own/tables/table1.csv", "results/own/figures/table1.svg"


def run(folder: Path, *arguments: str, path: str = "", python: str = "") -> subprocess.CompletedProcess[str]:
    """Snakemake in a folder where neither the library nor a program is found by itself."""
    environment = ENVIRONMENT | {"PYTHONPATH": path}
    command = [python or str(warm.python()), "-m", "snakemake", "--cores", "2", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment)


def by_path(folder: Path, *arguments: str, python: str = "") -> subprocess.CompletedProcess[str]:
    """The same by the path of the Snakefile."""
    return run(folder, "--snakefile", str(SNAKEFILE), *arguments, python=python)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A folder with a study and its files alone, in which one table was made."""
    root = tmp_path_factory.mktemp("elsewhere")
    own_study(root)
    (root / "study.yaml").write_text(yaml.safe_dump(SMALL))
    done = by_path(root, "--configfile", "study.yaml", "--", TABLE)
    assert done.returncode == 0, done.stderr[-6000:]
    return root


def test_a_table_is_made_where_the_study_is(folder):
    assert "tiny-bert,STS,base,Base Encoder,avg,own-sts,sts,spearman," in (folder / TABLE).read_text()
    assert {path.name for path in folder.iterdir()} == {"own", "study.yaml", "results", ".snakemake"}


def test_a_study_that_was_moved_makes_its_tables_again_and_nothing_that_takes_long(folder):
    """Snakemake names a spec by its way from here."""
    moved = folder.parent / "deep" / "moved"
    moved.parent.mkdir()
    folder.rename(moved)
    try:
        done = by_path(moved, "--dry-run", "--configfile", "study.yaml", "--", TABLE)
    finally:
        moved.rename(folder)
    assert planned(done) == {"tabulate": 1}


def test_a_module_of_another_snakefile_makes_the_same(folder):
    (folder / "Snakefile").write_text(MODULE)
    try:
        assert nothing_to_do(run(folder, "--dry-run", TABLE))
        with exclusive(folder / "results/own/.lock"):
            refused = run(folder, FIGURE)
        assert refused.returncode == 1 and "error: " in refused.stderr and not (folder / FIGURE).exists()
        done = run(folder, FIGURE, "forecast")
        assert done.returncode == 0, done.stderr[-6000:]
        assert "1 of 2 steps" in done.stdout + done.stderr and (folder / FIGURE).stat().st_size > 1000
        assert "| report |" in " ".join((folder / "results/own/forecast.md").read_text().split())
    finally:
        (folder / "Snakefile").unlink()


def test_where_trainings_report_reaches_jobs_and_runs_nothing_again(folder, tmp_path):
    (tmp_path / "tensorboard-2.20.dist-info").mkdir()
    (tmp_path / "tensorboard-2.20.dist-info/METADATA").write_text("Name: tensorboard\nVersion: 2.20\n")
    seen = 'rule seen:\n    output: "seen"\n    shell: "echo $SEEDBED_REPORT_TO > {output}"\n'
    (folder / "Snakefile").write_text(f"{MODULE}\n{seen}")
    try:
        asked = ("--config", "report_to=tensorboard")
        assert nothing_to_do(run(folder, "--dry-run", *asked, "--", TABLE, path=str(tmp_path)))
        assert run(folder, *asked, "--", "seen", path=str(tmp_path)).returncode == 0
        assert (folder / "seen").read_text() == "tensorboard\n"
    finally:
        (folder / "Snakefile").unlink()
    done = by_path(folder, "--dry-run", "--configfile", "study.yaml", *asked, "--", TABLE)
    assert tells(done.stderr, "error: report_to: tensorboard ... installed") != installed("tensorboard")


def test_config_yaml_of_the_folder_is_the_study_and_without_one_there_is_none(folder, tmp_path):
    (folder / "study.yaml").rename(folder / "config.yaml")
    try:
        assert nothing_to_do(by_path(folder, "--dry-run", TABLE))
    finally:
        (folder / "config.yaml").rename(folder / "study.yaml")
    done = by_path(tmp_path, "--dry-run")
    assert done.returncode == 1
    assert tells(done.stderr, f"error: ... no config.yaml in {tmp_path}; ... --configfile")


def test_a_table_of_ones_own_lies_beside_the_study(folder):
    own = yamls.read("seedbed/resources/tables/table1.yaml") | {"title": "Ours"}
    (folder / "resources/tables").mkdir(parents=True)
    (folder / "resources/tables/ours.yaml").write_text(yaml.safe_dump(own, sort_keys=False))
    done = by_path(folder, "--configfile", "study.yaml", "--", "results/own/tables/ours.csv")
    assert done.returncode == 0 and "2 of 2 steps" in done.stdout + done.stderr, done.stderr[-6000:]
    assert (folder / "results/own/tables/ours.md").read_text().startswith("# Ours\n")


@pytest.mark.parametrize("package", ["scripts", "seedbed"])
def test_a_package_that_would_hide_ours_is_refused(folder, package):
    (folder / package).mkdir()
    (folder / package / "__init__.py").touch()
    try:
        done = by_path(folder, "--dry-run", "--configfile", "study.yaml")
    finally:
        shutil.rmtree(folder / package)
    assert tells(done.stderr, f"error: {folder / package}: ... this package")


def test_the_study_in_dot_test_is_planned_by_the_command_in_its_head(tmp_path):
    """As GitHub runs it, in a copy of the clone."""
    copied(tmp_path)
    (command,) = re.findall(r"^# +snakemake (.+)$", Path(".test/config/config.yaml").read_text(), flags=re.M)
    arguments = [sys.executable, "-m", "snakemake", *command.split(), "--dry-run"]
    done = subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True, env=ENVIRONMENT)
    assert planned(done) == {
        "fetch_corpus": 3,
        "fetch_model": 1,
        "plan_table": 1,
        "train_encoder": 2,
        "score": 2,
    } | dict.fromkeys(("choose_best", "tabulate", "plot", "report", "all"), 1)
    assert command in Path(".github/workflows/test.yml").read_text()


def test_the_demo_can_be_planned_anywhere(tmp_path):
    """By plain Python."""
    demo = SNAKEFILE.parent / "config/demo.yaml"
    done = by_path(tmp_path, "--dry-run", "--quiet", "--configfile", str(demo), python=sys.executable)
    assert done.returncode == 0, done.stderr[-3000:]

"""Where others find and run the workflow: Snakemake's catalogue, snakedeploy, Snakemake's own report."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from seedbed import yamls
from tests.workflow.conftest import ENVIRONMENT, copied

SNAKEFILE = """
configfile: "config/config.yaml"

module seedbed:
    snakefile:
        github("owner/seedbed", path="workflow/Snakefile", tag="v9.9.9")
    config:
        config

use rule * from seedbed
"""
"""What `snakedeploy deploy-workflow` 0.17 writes for a repository on GitHub."""


def git(folder: Path, *words: str) -> None:
    """Git, whoever runs it."""
    who = ("-c", "user.name=test", "-c", "user.email=test@localhost")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def repository(tmp_path_factory) -> Path:
    """The project as a repository with a tag."""
    root = tmp_path_factory.mktemp("repository")
    copied(root)
    for words in (("init", "--quiet"), ("add", "--all"), ("commit", "--quiet", "-m", "all"), ("tag", "v9.9.9")):
        git(root, *words)
    return root


def test_a_workflow_that_snakedeploy_deployed_can_be_planned(repository, tmp_path):
    """Snakemake asks GitHub for the module; git is told that it lies here."""
    (tmp_path / "config").mkdir()
    for file in (repository / "config").iterdir():
        (tmp_path / "config" / file.name).write_text(file.read_text())  # a link as the file that it leads to
    (tmp_path / "workflow").mkdir()
    (tmp_path / "workflow/Snakefile").write_text(SNAKEFILE)
    here = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_VALUE_0": "https://github.com/owner/seedbed"}
    here |= {"GIT_CONFIG_KEY_0": f"url.file://{repository}.insteadOf", "XDG_CACHE_HOME": str(tmp_path / "cache")}
    command = [sys.executable, "-m", "snakemake", "--dry-run"]
    environment = ENVIRONMENT | here | {"PYTHONPATH": str(Path.cwd())}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    counts = dict(re.findall(r"^(\w+) +(\d+)$", done.stdout, flags=re.M))
    assert {"everything": "1", "report": "1", "train_encoder": "12"}.items() <= counts.items()


def test_the_catalogue_finds_what_it_asks_for():
    usage = yamls.read(".snakemake-workflow-catalog.yml")["usage"]
    assert usage["report"] is True and usage["software-stack-deployment"]["conda"] is True
    assert not usage["mandatory-flags"]["flags"]
    assert Path("config/README.md").is_file() and Path("workflow/Snakefile").is_file()
    assert {"snakemake", "workflow"} <= {*re.findall(r"\w+", Path("README.md").read_text().lower())}
    assert Path("config/config.yaml").readlink() == Path("demo.yaml")


def test_the_best_encoder_is_chosen_and_two_lines_use_it(finished, tmp_path):
    """What `make demo` and the report end in: the lines of the answer are run."""
    root, chosen = finished.root, "results/own/best/hau/seedbed.json"
    config = finished.edit({"best": {"dev": "own-bitext"}}, target="best.yaml")
    done = finished.snakemake(chosen, config=config)
    assert done.returncode == 0 and "1 of 1 steps" in done.stdout + done.stderr, (
        done.stdout[-3000:] + done.stderr[-3000:]
    )
    best = json.loads((root / chosen).read_text())["best"]
    own = f"results/own/encoders/tiny-bert/{best['recipe']}"
    (weights,) = (root / own).glob(f"*/{best['seed']}/model.safetensors")
    assert (root / "results/own/best/hau/model.safetensors").samefile(weights)
    with (root / "results/own/tables/table1.csv").open() as file:
        rows = {row["recipe"]: row["rows"] for row in csv.DictReader(file) if row["language"] == "hau"}
    assert rows["base"] == "0" and rows[best["recipe"]] == str(best["rows"])
    assert best["dev"]["among"] == 6 and best["test"]["task"] == "own-sts" and "word overlap" in best["test"]["others"]
    told = (
        "--best",
        str(Path(chosen).parent),
        "--answer",
        str(tmp_path / "answer.md"),
        "--benchmarks",
        "results/own/benchmarks",
    )
    done = finished.program("report", "--title", "x", "--output", str(tmp_path / "report.zip"), *told)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "answer.md").read_text()
    assert f"**Hausa: {best['recipe']}** of tiny-bert" in text
    code = "\n".join(line.strip() for line in text.splitlines() if line.startswith("    "))
    assert len(code.splitlines()) == 2
    printed = finished.snippet(code.replace("SentenceTransformer(", "print(SentenceTransformer(") + ".shape)")
    assert re.match(r"\(2, \d+\)", printed), printed
    with zipfile.ZipFile(tmp_path / "report.zip") as archive:
        page = " ".join(archive.read("index.html").decode().split())
    assert "The best encoder of each language" in page and "CPU hours" in page and "Commit: " in page
    assert "Where each language stands" in page and "Afro-Asiatic" in page


def test_snakemakes_own_report_shows_tables_and_figures(finished):
    done = finished.snakemake("--report", "own-report.zip")
    assert done.returncode == 0, done.stderr[-3000:]
    with zipfile.ZipFile(finished.root / "own-report.zip") as archive:
        names = archive.namelist()
        page = archive.read(next(name for name in names if name.endswith("report.html"))).decode()
    assert [name for name in names if name.endswith("table1.svg")]
    assert [name for name in names if name.endswith("table1.csv")]
    for said in ("Tables", "Figures", "made in 6 ways", "95 % bootstrap interval", "Drawn from"):
        assert said in page, said


def test_the_readme_that_goes_with_a_deployed_study_links_to_files_beside_it_alone() -> None:
    links = re.findall(r"\]\(((?!https?:)[^)]+)\)", Path("config/README.md").read_text())
    assert links and all(Path("config", link).is_file() and "/" not in link for link in links)

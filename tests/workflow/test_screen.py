"""What a person sees: bars, the one line that a failed job ends with, and again at the end of the run."""

from __future__ import annotations

import pytest

AT_ONCE = ("--max-jobs-per-timespan", "1000/1s")  # a profile's own time is what it waits at its end
PROFILES = {"demo": (), "gpu": (), "slurm": ("--executor", "local", "--retries", "0", "--cores", "2")}
TARGET = "corpora/hau/text.tsv"


@pytest.mark.parametrize("profile", PROFILES)
def test_a_failed_job_ends_with_its_line_on_the_screen(project, profile):
    (project.root / "own/broken.tsv").write_text("id\tsentence\n1\ta b c d\n")
    changes = {"results": f"results/{profile}", "languages": {"hau": {"corpus": {"file": "own/broken.tsv"}}}}
    config = project.edit(changes, target=f"{profile}.yaml")
    asked = ("--profile", f"profiles/{profile}", *AT_ONCE, *PROFILES[profile], f"results/{profile}/{TARGET}")
    done = project.snakemake(*asked, config=config)
    assert done.returncode == 1
    screen = " ".join((done.stdout + done.stderr).split())
    log = f"results/{profile}/logs/fetch_corpus/hau/text.log"
    said = (project.root / log).read_text().strip()
    assert said.startswith("error: ") and "\n" not in said
    assert screen.count(said) == 2, "of the log when it failed, and of all that failed at the end"
    assert f"1 failed: {log}: {said}" in screen
    assert ("Workflow Finished" in screen) == (profile != "slurm"), "which is drawn by rich"


def test_a_run_that_ends_well_mourns_nothing(project):
    config = project.edit({"results": "results/well"}, target="well.yaml")
    done = project.snakemake("--profile", "profiles/demo", *AT_ONCE, f"results/well/{TARGET}", config=config)
    assert done.returncode == 0 and "failed" not in done.stdout + done.stderr

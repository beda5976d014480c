"""What a killed job leaves: whose it is, when it is stale; and that no secret of the environment is left anywhere."""

from __future__ import annotations

import pytest

from seedbed.locks import exclusive
from tests.refusals import tells
from tests.workflow import conftest

SECRET = "hf_plantedSecretOfThisTest"
DEADLY = b"""
import os, signal
SimCSELoss.__init__ = lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL)
"""


def clean_state(project, config, *options):
    return project.program("clean_state", "--configfiles", config, *options)


def test_state_is_kept_while_a_job_needs_it_and_then_no_longer(project):
    config = project.edit({"results": "results/killed"}, target="killed.yaml")
    changed = project.edit({"training/learning_rate": 1.0e-4}, source=config, target="killed-changed.yaml")
    gone = project.edit({"recipes/crosslingual": None, "statistics": {"resamples": 100, "baseline": "xllora"}},
                        source=config, target="killed-gone.yaml")  # fmt: skip
    target, state = (
        "results/killed/encoders/tiny-bert/crosslingual/eng/1/seedbed.json",
        project.root / "results/killed/state",
    )
    loss = project.root / "seedbed/encoders/losses/contrastive.py"
    before = loss.read_bytes()
    try:
        loss.write_bytes(before + DEADLY)
        assert project.snakemake(target, config=config).returncode != 0
    finally:
        loss.write_bytes(before)
    (left,) = state.iterdir()
    (state / "embeddings/of-nobody").mkdir(parents=True)

    page = clean_state(project, config).stdout
    assert (
        left.name not in page
        and "embeddings/of-nobody  of no encoder with this code and these libraries" in page
        and "DELETE=1" in page
    )
    assert f"{left.name}  its settings have changed: {target}" in clean_state(project, changed).stdout
    assert f"{left.name}  not in this study: {target}" in clean_state(project, gone).stdout
    assert len(list(state.iterdir())) == 2, "a listing removes nothing"

    with exclusive(state.parent / ".lock"):
        refused = clean_state(project, changed, "--delete")
    assert refused.returncode == 1 and tells(refused.stderr, "error: results/killed: another process is at work there")
    assert left.is_dir()

    assert "removed" in clean_state(project, config, "--delete").stdout
    assert left.is_dir() and not list((state / "embeddings").iterdir())
    assert project.snakemake(target, config=config).returncode == 0
    assert not left.exists(), "a job that ends well takes its state along"


def test_tokens_reach_no_file_and_no_screen(project, monkeypatch: pytest.MonkeyPatch):
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "SEEDBED_API_KEY"):
        monkeypatch.setitem(conftest.ENVIRONMENT, name, SECRET)
    config = project.edit({"results": "results/secret"}, target="secret.yaml")
    (project.root / "own/broken.tsv").write_text("id\tsentence\n1\ta b c d\n")
    broken = project.edit(
        {"languages/hau": {"corpus": {"file": "own/broken.tsv"}}}, source=config, target="secret-broken.yaml"
    )
    well = project.snakemake(
        "results/secret/encoders/tiny-bert/crosslingual/eng/1/seedbed.json", "-p", "--verbose", config=config
    )
    failed = project.snakemake("results/secret/corpora/hau/text.tsv", "-p", "--verbose", config=broken)
    assert (well.returncode, failed.returncode) == (0, 1)
    assert SECRET not in well.stdout + well.stderr + failed.stdout + failed.stderr
    # Not this very file, which names it.
    files = [path for path in project.root.rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc")]
    assert any(".snakemake" in path.parts for path in files) and any("secret" in path.parts for path in files)
    assert not [path for path in files if SECRET.encode() in path.read_bytes()]

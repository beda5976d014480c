"""What a run is told by its profile, against Snakemake's own reading of it."""

import contextlib
import os
from types import SimpleNamespace

import pytest
from snakemake.cli import parse_set_resources

from seedbed.io import UserError
from seedbed.operations import runs
from tests.refusals import pattern


def test_several_gpus_of_a_profile_are_known_by_rule() -> None:
    given = ["train_encoder:gpu=4", "score:gpu=1", "judge:gpu=0", "judge:gres='gpu:4'", "translate:gpu=attempt * 2"]
    limits = SimpleNamespace(overwrite_resources=parse_set_resources(given))
    assert runs.gpus_given(SimpleNamespace(resource_settings=limits)) == {"train_encoder": 4}


@pytest.mark.parametrize(
    ("asked", "says", "refused"),
    [
        ("sacct", "Slurm accounting storage is disabled", True),
        ("sacct", "", False),
        ("squeue", "Slurm accounting storage is disabled", False),
    ],
)
def test_slurm_without_accounting_is_not_asked_by_sacct(tmp_path, monkeypatch, asked, says, refused) -> None:
    program = tmp_path / "sacct"
    program.write_text(f"#!/bin/sh\necho '{says}' >&2\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    expected = pytest.raises(UserError, match=pattern("slurm-status-command: ... `slurm-status-command: squeue`"))
    with expected if refused else contextlib.nullcontext():
        runs.require_accounting(SimpleNamespace(status_command=asked))


def test_executors_without_a_status_command_need_no_accounting(monkeypatch) -> None:
    monkeypatch.setattr(runs.shutil, "which", lambda name: pytest.fail("sacct is looked for"))
    for executor in (None, SimpleNamespace(), SimpleNamespace(status_command=None)):
        runs.require_accounting(executor)

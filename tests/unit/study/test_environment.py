"""What jobs find around them: this project's programs and libraries, and no code of the folder in which they run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from seedbed.study.environment import prepare
from seedbed.study.model import Study


@pytest.mark.parametrize("name", ["numpy", "datasets", "regex", "scripts", "seedbed", "sitecustomize", "json"])
def test_a_file_beside_a_study_is_no_library(told: Study, tmp_path: Path, name: str) -> None:
    """Nor is one that somebody else put there run."""
    (tmp_path / f"{name}.py").write_text("open('RAN', 'w')\nraise SystemExit('it ran')\n")
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    prepare(told, environment)
    command = [sys.executable, "-m", "scripts.sample_text", "--help"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and "usage: " in done.stdout, done.stderr
    assert not (tmp_path / "RAN").exists()

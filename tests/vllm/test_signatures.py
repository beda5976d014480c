"""The tests are of one version of vLLM, and studies run another: the classes that we call are called alike in both."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.vllm import MARKS
from tests.vllm.signatures import FILE, differing, installed, shipped

pytestmark = MARKS
RECORD = json.loads(FILE.read_text())


def test_what_is_written_down_is_what_is_tested() -> None:
    assert installed() == (RECORD["tested"], RECORD["signatures"])


def test_the_version_for_gpus_is_called_alike() -> None:
    """Its wheel, of 340 MB, comes from the index."""
    try:
        pin, found = shipped()
    except subprocess.CalledProcessError:
        pytest.skip("the index did not give the wheel of envs/vllm.lock")
    assert pin == RECORD["shipped"] and not differing(RECORD["signatures"], found)

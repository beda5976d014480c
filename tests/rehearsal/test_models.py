"""Every model of both papers' studies, as they are shipped, is fetched from the replica and opened; in part opt-in."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from seedbed.config import load
from tests.rehearsal import replica
from tests.rehearsal.hub import Replica
from tests.rehearsal.opening import models

STUDIES = ("config.yaml", "config/miners.yaml")


def named(config):
    return {model.source.hub for model in models(load(yaml.safe_load(Path(config).read_text())))}


def test_the_table_has_the_models_that_the_studies_name_and_no_others():
    assert {*replica.models()} == named(STUDIES[0]) | named(STUDIES[1])


def test_the_table_says_where_from_and_how_large():
    for name, entry in replica.models().items():
        assert entry["documented"] and "confirmed" in entry and entry["size"]["bytes"] > 10**8, name


@pytest.fixture(scope="module", params=STUDIES)
def opened(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    with Replica() as server:
        environment = os.environ | {"HF_ENDPOINT": server.url, "HF_HUB_OFFLINE": "0", "HF_HOME": str(folder / "hub")}
        command = [sys.executable, "-m", "tests.rehearsal.opening", "--config", request.param, "--folder", str(folder)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    found = [json.loads(line) for line in (folder / "opened.jsonl").open()]
    assert {one["hub"] for one in found} == named(request.param)
    return found


@pytest.mark.rehearsal
def test_every_model_can_be_fetched_and_used(opened):
    assert {one["hub"]: one["error"] for one in opened if "error" in one} == {}
    for one in opened:
        if "numbers" in one:
            assert any(one["numbers"]) and all(map(math.isfinite, one["numbers"])), one["hub"]
        else:
            assert isinstance(one["text"], str), one["hub"]

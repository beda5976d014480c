"""docs/walkthrough.sh: the pipeline by hand, program by program, ends with a table, a figure and a report."""

from __future__ import annotations

import os
import subprocess
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from tests import warm
from tests.workflow.conftest import ENVIRONMENT

SCRIPT = Path("docs/walkthrough.sh")


@pytest.fixture(scope="module")
def walked(tmp_path_factory) -> Path:
    """The folder after the whole script."""
    folder = tmp_path_factory.mktemp("walkthrough") / "by-hand"
    path = os.pathsep.join([str(Path(warm.python()).parent), ENVIRONMENT["PATH"]])
    done = subprocess.run(["bash", SCRIPT, folder], capture_output=True, text=True, env=ENVIRONMENT | {"PATH": path})
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return folder


def test_it_ends_with_a_table_of_all_encoders_a_figure_and_a_report(walked: Path) -> None:
    table = pd.read_csv(walked / "tables/table1.csv").query("language == 'hau'").set_index("recipe")
    assert [*table.index] == ["base", "composition", "xllora"]
    assert (table["low"] < table["high"]).all()
    weights = {(walked / f"encoders/tiny-bert/{recipe}/hau/1/model.safetensors").read_bytes() for recipe in table.index}
    assert len(weights) == 3, "each encoder learnt something else"
    assert (walked / "figures/table1.svg").read_text().startswith("<?xml")
    names = {Path(name).name for name in zipfile.ZipFile(walked / "report.zip").namelist()}
    assert {"table1.csv", "table1.svg"} <= names

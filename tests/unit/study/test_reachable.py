"""What files of code say, kept between plans: as if it was read again, whatever became of what was kept."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import pytest

from seedbed.study import reachable
from tests.unit.study.test_code import copied, read_from

PROGRAM = ("scripts/tabulate.py", "seedbed/evaluation/protocols/sts.py:METRICS")
EDITED = "seedbed/tables/tabulate.py"


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, reachable.Reached, int]:
    """What a first plan keeps and finds, and how many files it parses."""
    root = copied(tmp_path_factory.mktemp("kept"))
    with mock.patch.dict(os.environ, XDG_CACHE_HOME=str(root / "cache")):
        return root / "cache", *planned(root)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: tuple[Path, reachable.Reached, int]) -> Path:
    """A copy of the project's code, and of what a plan has kept of it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    shutil.copytree(kept[0], tmp_path / "cache")
    return copied(tmp_path)


def planned(root: Path) -> tuple[reachable.Reached, int]:
    """What a new process finds, and how many files it parses."""
    reachable._parsed.cache_clear()
    with (
        read_from(root),
        mock.patch.object(reachable, "strip_messages", wraps=reachable.strip_messages) as parsed,
    ):
        found = reachable.reached(PROGRAM)
    reachable._parsed.cache_clear()
    return found, parsed.call_count


def test_what_is_kept_is_what_is_read_and_is_not_read_again(
    root: Path, kept: tuple[Path, reachable.Reached, int]
) -> None:
    _, first, read = kept
    assert (first, read > 20) == (reachable.reached(PROGRAM), True)
    assert planned(root) == (first, 0)


def test_an_edit_of_the_same_size_and_time_is_noticed_and_alone_read_again(
    root: Path, kept: tuple[Path, reachable.Reached, int]
) -> None:
    before = kept[1]
    file = root / EDITED
    times, text = file.stat(), file.read_text()
    file.write_text(text.replace("statistics.level", "statistics.leven"))
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert file.stat().st_size == times.st_size and file.stat().st_mtime_ns == times.st_mtime_ns
    after, read = planned(root)
    assert {name for name, digest in after.digests.items() if digest != before.digests[name]} == {EDITED}
    assert read == 1
    file.write_text(text)
    assert planned(root) == (before, 0)


def test_a_module_that_comes_later_is_found(root: Path) -> None:
    (root / EDITED).write_text((root / EDITED).read_text() + "\n\nfrom seedbed.tables import later\n\nX = later.NAME\n")
    before, _ = planned(root)
    (root / "seedbed/tables/later.py").write_text("NAME = 1\n")
    after, read = planned(root)
    assert after.definitions.keys() - before.definitions.keys() == {"seedbed/tables/later.py"} and read == 1


def cut(note: Path) -> None:
    note.write_bytes(note.read_bytes()[:-20])


@pytest.mark.parametrize(
    "spoil",
    [
        cut,
        lambda note: note.write_bytes(b""),
        lambda note: note.write_bytes(b"\x80\x04K\x01."),
        lambda note: note.write_text("[[], [], []]"),
        lambda note: note.write_text('{"bound": {"main": ["x"]}, "defined": [], "run": [], "imports": []}'),
        lambda note: (note.unlink(), note.mkdir()),
    ],
    ids=["torn", "empty", "pickle", "short", "foreign", "folder"],
)
def test_what_is_no_note_is_read_again(
    root: Path, kept: tuple[Path, reachable.Reached, int], spoil: Callable[[Path], object]
) -> None:
    for note in (root / "cache").rglob("*"):
        if note.is_file():
            spoil(note)
    assert planned(root) == kept[1:]


@pytest.mark.parametrize("kind", ["read-only", "file", "homeless"])
def test_without_a_folder_to_write_to_all_is_read(
    root: Path, kept: tuple[Path, reachable.Reached, int], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = root / "other"
    if kind == "read-only":
        other.mkdir(mode=0o555)
    elif kind == "file":
        other.write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", "" if kind == "homeless" else str(other))
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # as where the user has no home
    monkeypatch.chdir(root)
    assert planned(root) == kept[1:]
    assert not Path("~").exists()

"""The directory of a fusion: what it says, and that it is of the encoders that it was made of."""

from __future__ import annotations

from pathlib import Path

import pytest

from seedbed.encoders.models.ensemble import Member, members_of, save, write_card
from seedbed.io import UserError, read_json, sha256, write_json

ABOUT = {"backbone": "both", "recipe": "base", "language": "mul"}


@pytest.fixture
def members(tmp_path: Path) -> dict[str, Path]:
    """Directories with a manifest each."""
    found = {name: tmp_path / name / "base/mul/0" for name in ("b", "a")}
    for name, folder in found.items():
        write_json({"about": {"backbone": name}, "files": {}}, folder / "seedbed.json")
    return found


def test_it_names_its_encoders_in_order(tmp_path: Path, members: dict[str, Path]) -> None:
    output = tmp_path / "both/base/mul/0"
    save(output, members, [3, 1], ABOUT, {"dev": "dev"}, write_card)
    manifest = read_json(output / "seedbed.json")
    assert members_of(output, manifest) == [Member(members["b"], 3), Member(members["a"], 1)]
    assert [entry["directory"] for entry in manifest["members"]] == [f"../../../../{name}/base/mul/0" for name in "ba"]
    assert [entry["sha256"] for entry in manifest["members"]] == [
        sha256(folder / "seedbed.json") for folder in members.values()
    ]
    assert manifest["about"] == ABOUT | {"weights": {"b": 3, "a": 1}} and manifest["chosen"] == {"dev": "dev"}
    card = (output / "README.md").read_text()
    assert "| b | 3 |\n| a | 1 |" in card and "chosen on dev" in card
    assert manifest["files"] == {"README.md": sha256(output / "README.md")}


def test_the_same_arguments_give_the_same_bytes(tmp_path: Path, members: dict[str, Path]) -> None:
    for run in ("one", "two"):
        save(tmp_path / run, members, [1, 3], ABOUT)
    assert sha256(tmp_path / "one") == sha256(tmp_path / "two")


def test_an_encoder_that_is_none_has_no_members(members: dict[str, Path]) -> None:
    assert members_of(members["a"], read_json(members["a"] / "seedbed.json")) == []


@pytest.mark.parametrize("changed", ["made anew", "gone"])
def test_another_encoder_in_the_place_of_one_is_refused(tmp_path: Path, members: dict, changed: str) -> None:
    output = tmp_path / "both/base/mul/0"
    save(output, members, [1, 3], ABOUT)
    manifest = members["a"] / "seedbed.json"
    manifest.unlink() if changed == "gone" else write_json({"files": {"x": "y"}}, manifest)
    with pytest.raises(UserError, match=r"base/mul/0.*since it was fused; run fuse_encoders"):
        members_of(output, read_json(output / "seedbed.json"))

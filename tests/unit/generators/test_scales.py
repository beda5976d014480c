"""The choice of a scale: the best mean over languages and seeds, from lists of scores."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts import choose_scale as program
from seedbed import manifests
from seedbed.choices import chosen
from seedbed.generators.scales import choose
from seedbed.io import UserError, read_json, write_json
from tests.programs import call


def scores(folder: Path, mains: dict[int, float], *, task: str = "dev", code: str = "hau") -> Path:
    """A list as `score` writes it: a score of each seed, of the task and of another."""
    files = []
    for seed, main_score in mains.items():
        for name, value in ((task, main_score), (f"other-{task}", 1.0)):
            path = folder / code / str(seed) / name / f"{code}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            write_json({"main_score": value}, path)
            files.append(path)
    manifests.write_list(files, folder / code / f"{code}.{task}.json")
    return folder / code / f"{code}.{task}.json"


def test_the_greatest_mean_of_seeds_and_languages_wins(tmp_path: Path) -> None:
    lists = {
        0.25: {"hau": scores(tmp_path / "a", {1: 0.5, 2: 0.7}), "swh": scores(tmp_path / "a", {1: 0.1}, code="swh")},
        0.5: {"hau": scores(tmp_path / "b", {1: 0.4, 2: 0.4}), "swh": scores(tmp_path / "b", {1: 0.4}, code="swh")},
    }
    found = choose("dev", lists)
    assert found["dev"] == "dev" and found["scale"] == 0.5
    assert found["candidates"] == [
        {"scale": 0.25, "score": 0.35, "by_language": {"hau": 0.6, "swh": 0.1}},
        {"scale": 0.5, "score": 0.4, "by_language": {"hau": 0.4, "swh": 0.4}},
    ]


def test_of_equally_good_scales_the_first_is_taken(tmp_path: Path) -> None:
    lists = {scale: {"hau": scores(tmp_path / str(scale), {1: 0.5})} for scale in (1.0, 0.25, 0.5)}
    assert choose("dev", lists)["scale"] == 1.0


def test_the_program_writes_what_was_chosen(tmp_path: Path) -> None:
    given = [
        f"{scale}/hau={scores(tmp_path / scale, {1: main_score})}" for scale, main_score in (("1", 0.2), ("0.5", 0.3))
    ]
    call(program, ["--dev", "dev", "--scores", *given, "--output", str(tmp_path / "scale.json")])
    assert chosen(tmp_path / "scale.json", "scale", float) == 0.5
    assert [record["scale"] for record in read_json(tmp_path / "scale.json")["candidates"]] == [1.0, 0.5]


def test_what_does_not_fit_is_one_line(tmp_path: Path) -> None:
    hau, swh = scores(tmp_path / "a", {1: 0.5}), scores(tmp_path / "b", {1: 0.5}, code="swh")
    with pytest.raises(UserError, match=r"dev: .*1.0: hau; 2.0: swh"):
        choose("dev", {1.0: {"hau": hau}, 2.0: {"swh": swh}})
    with pytest.raises(UserError, match=r"hau.dev.json: no score.*hau"):
        choose("test", {1.0: {"hau": hau}, 2.0: {"hau": hau}})
    for content in ({"scales": 1}, [1], {"scale": "1"}):
        write_json(content, tmp_path / "scale.json")
        with pytest.raises(UserError, match=r"scale.json:.*`scale`.*delete it"):
            chosen(tmp_path / "scale.json", "scale", float)

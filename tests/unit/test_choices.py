"""What a development task chooses: the best mean over languages and seeds, from lists of scores."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from scripts import choose as program
from scripts import train_encoder
from seedbed import manifests
from seedbed.choices import choose_candidate, read_choice
from seedbed.encoders.models import loading
from seedbed.io import UserError, read_json, write_json, write_table
from tests import tiny
from tests.programs import call
from tests.refusals import pattern


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
        "low": {"hau": scores(tmp_path / "a", {1: 0.5, 2: 0.7}), "swh": scores(tmp_path / "a", {1: 0.1}, code="swh")},
        "mid": {"hau": scores(tmp_path / "b", {1: 0.4, 2: 0.4}), "swh": scores(tmp_path / "b", {1: 0.4}, code="swh")},
    }
    assert choose_candidate("scale", "dev", {"low": 0.25, "mid": 0.5}, lists) == {
        "dev": "dev",
        "scale": 0.5,
        "candidate": "mid",
        "candidates": [
            {"candidate": "low", "scale": 0.25, "score": 0.35, "by_language": {"hau": 0.6, "swh": 0.1}},
            {"candidate": "mid", "scale": 0.5, "score": 0.4, "by_language": {"hau": 0.4, "swh": 0.4}},
        ],
    }


def test_of_equally_good_candidates_the_first_is_taken(tmp_path: Path) -> None:
    values = {f"{scale:g}": scale for scale in (1.0, 0.25, 0.5)}
    lists = {name: {"hau": scores(tmp_path / name, {1: 0.5})} for name in values}
    assert choose_candidate("scale", "dev", values, lists)["scale"] == 1.0


def test_means_that_differ_by_rounding_alone_are_equal(tmp_path: Path) -> None:
    """(0.7 + 0.1) / 2 is 0.39999999999999997 of a computer."""
    values, mains = {"first": 1.0, "other": 0.5}, {"first": {1: 0.7, 2: 0.1}, "other": {1: 0.5, 2: 0.3}}
    seeds = {name: {"hau": scores(tmp_path / f"seeds/{name}", mains[name])} for name in values}
    assert choose_candidate("scale", "dev", values, seeds)["candidate"] == "first"
    lists = {
        name: {
            code: scores(tmp_path / name, {1: main}, code=code)
            for code, main in zip(("hau", "swh"), mains[name].values(), strict=True)
        }
        for name in values
    }
    assert choose_candidate("scale", "dev", values, lists)["candidate"] == "first"


def written(folder: Path, what: str, values: dict[str, Any], mains: list[float]) -> Path:
    """The file of the program, called by flags: each candidate has a score in Hausa."""
    given = [f"{name}/hau={scores(folder / name, {1: main})}" for name, main in zip(values, mains, strict=True)]
    pairs = [f"{name}={value}" for name, value in values.items()]
    file = folder / f"{what}.json"
    call(program, ["--what", what, "--dev", "dev", "--values", *pairs, "--scores", *given, "--output", str(file)])
    return file


def test_the_program_writes_a_scale_as_a_number(tmp_path: Path) -> None:
    file = written(tmp_path, "scale", {"1": 1, "0.5": 0.5}, [0.2, 0.3])
    assert read_choice(file, "scale", float) == 0.5
    assert [record["scale"] for record in read_json(file)["candidates"]] == [1.0, 0.5]


@pytest.mark.parametrize("scale", ["nan", "inf", "1e999"])
def test_a_scale_that_is_not_finite_is_refused(tmp_path: Path, scale: str) -> None:
    with pytest.raises(UserError, match=pattern(f"--values: a: {scale} ... finite")):
        written(tmp_path, "scale", {"1": 1, "a": scale}, [0.2, 0.3])


def test_the_prefix_of_the_better_recipe_is_chosen_and_put_before_every_text(tmp_path: Path) -> None:
    file = written(tmp_path, "prefix", {"query": "query: ", "bare": ""}, [0.26, 0.33])
    assert read_choice(file, "prefix", str) == "" and read_json(file)["candidate"] == "bare"
    assert [record["prefix"] for record in read_json(file)["candidates"]] == ["query: ", ""]
    weights = tiny.backbone(tmp_path / "weights")
    write_table(pd.DataFrame({"id": ["0"], "text": ["Yara suna gida."]}), tmp_path / "texts.tsv")
    for given, expected in ((["--chosen-prefix", str(file)], ""), ([], "query: ")):
        call(train_encoder, [
            "--weights", str(weights), "--training", json.dumps({"pooling": "mean"}), "--prefix=query: ", *given,
            "--seed", "1", "--state", str(tmp_path / "state"), "--output", str(tmp_path / "encoder"),
        ])  # fmt: skip
        assert loading.open_encoder(tmp_path / "encoder").prompts["query"] == expected


def test_what_does_not_fit_is_one_line(tmp_path: Path) -> None:
    hau, swh = scores(tmp_path / "a", {1: 0.5}), scores(tmp_path / "b", {1: 0.5}, code="swh")
    values = {"a": 1.0, "b": 2.0}
    with pytest.raises(UserError, match=r"dev: .*a: hau; b: swh"):
        choose_candidate("scale", "dev", values, {"a": {"hau": hau}, "b": {"swh": swh}})
    with pytest.raises(UserError, match=r"hau.dev.json: no score.*hau"):
        choose_candidate("scale", "test", values, {"a": {"hau": hau}, "b": {"hau": hau}})
    for content in ({"main_score": "0.5"}, {"metrics": {}}, [1]):
        write_json(content, tmp_path / "b/swh/1/dev/swh.json")
        manifests.write_list([tmp_path / "b/swh/1/dev/swh.json"], swh)
        with pytest.raises(UserError, match=r"b/swh/1/dev/swh.json: no main score; delete it"):
            choose_candidate("scale", "dev", values, {"a": {"swh": swh}, "b": {"swh": swh}})
    for number in ("NaN", "Infinity", "1e999"):  # numpy takes the first for the greatest
        (tmp_path / "b/swh/1/dev/swh.json").write_text(f'{{"main_score": {number}}}')
        manifests.write_list([tmp_path / "b/swh/1/dev/swh.json"], swh)
        with pytest.raises(
            UserError, match=r"b/swh/1/dev/swh.json: the main score is (nan|inf), and nothing is chosen"
        ):
            choose_candidate("scale", "dev", values, {"a": {"swh": swh}, "b": {"swh": swh}})
    with pytest.raises(UserError, match=r"dev: prefix of a.*scores of b"):
        choose_candidate("prefix", "dev", {"a": ""}, {"b": {}})
    for content in ({"scales": 1}, [1], {"scale": "1"}):
        write_json(content, tmp_path / "scale.json")
        with pytest.raises(UserError, match=r"scale.json:.*`scale`.*delete it"):
            read_choice(tmp_path / "scale.json", "scale", float)

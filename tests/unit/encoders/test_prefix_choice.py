"""The choice of a prefix: by the untrained encoders' scores, before anything is trained."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from scripts import choose_prefix, train_encoder
from seedbed import manifests
from seedbed.choices import chosen
from seedbed.encoders import backbone
from seedbed.encoders.prefix_choice import choose
from seedbed.io import UserError, read_json, write_json, write_table
from tests import tiny
from tests.programs import call


def listed(folder: Path, main_score: float) -> Path:
    """A list of `score` with one score in it."""
    (folder / "0/dev").mkdir(parents=True)
    write_json({"main_score": main_score}, folder / "0/dev/hau.json")
    manifests.write_list([folder / "0/dev/hau.json"], folder / "hau.all.json")
    return folder / "hau.all.json"


def test_the_prefix_of_the_better_recipe_is_chosen_and_put_before_every_text(tmp_path: Path) -> None:
    scores = [f"{name}/hau={listed(tmp_path / name, score)}" for name, score in (("query", 0.26), ("bare", 0.33))]
    file = tmp_path / "prefix.json"
    call(
        choose_prefix,
        ["--dev", "dev", "--prefixes", "query=query: ", "bare=", "--scores", *scores, "--output", str(file)],
    )
    assert chosen(file, "prefix", str) == ""
    assert read_json(file) == {
        "dev": "dev",
        "prefix": "",
        "recipe": "bare",
        "candidates": [
            {"recipe": "query", "prefix": "query: ", "score": 0.26, "by_language": {"hau": 0.26}},
            {"recipe": "bare", "prefix": "", "score": 0.33, "by_language": {"hau": 0.33}},
        ],
    }
    weights = tiny.backbone(tmp_path / "weights")
    write_table(pd.DataFrame({"id": ["0"], "text": ["Yara suna gida."]}), tmp_path / "texts.tsv")
    for given, expected in ((["--chosen-prefix", str(file)], ""), ([], "query: ")):
        call(train_encoder, [
            "--weights", str(weights), "--training", json.dumps({"pooling": "mean"}), "--prefix=query: ", *given,
            "--seed", "1", "--state", str(tmp_path / "state"), "--output", str(tmp_path / "encoder"),
        ])  # fmt: skip
        assert backbone.open_encoder(tmp_path / "encoder").prompts["query"] == expected


def test_what_does_not_fit_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"dev: prefixes of a.*scores of b"):
        choose("dev", {"a": ""}, {"b": {}})
    for content in ({"prefix": None}, ["q: "]):
        write_json(content, tmp_path / "prefix.json")
        with pytest.raises(UserError, match=r"prefix.json:.*`prefix`.*delete it"):
            chosen(tmp_path / "prefix.json", "prefix", str)

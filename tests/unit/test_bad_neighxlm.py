"""What NeighXLM's programs refuse: one line that says what is wrong, where, and what would be right; nothing is written."""

from __future__ import annotations

import gzip
import importlib
import json
import tarfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch
from safetensors.torch import load_file

from seedbed.encoders.mining import audit_of
from seedbed.io import UserError, sha256, write_json, write_table
from tests import tiny
from tests.programs import call
from tests.refusals import tells

OBJECTIVE = {"neighbours": 2, "queue_size": 8, "projection": [8, 4]}
TRAINING = {"batch_size": 4, "precision": "float32", "pooling": "last_weighted_train", "layers": 2}
LICENSED = {"licence": "CC0-1.0"}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backbone of two blocks, one with pickled weights, pairs with and without neighbours, questions, files of lines."""
    root = tmp_path_factory.mktemp("inputs")
    tiny.backbone(root / "backbone")
    pickled = tiny.backbone(root / "pickled")
    torch.save(load_file(pickled / "model.safetensors"), pickled / "pytorch_model.bin")
    (pickled / "model.safetensors").unlink()

    pairs = pd.DataFrame({"id": list("abcdef"), "text": tiny.sentences("hau", 6), "pivot": tiny.sentences("eng", 6)})
    write_table(pairs, root / "pairs.tsv")
    write_json({"counts": {"kept": 6}, "origin": [{"kind": "file", "name": "x"}]}, root / "pairs.json")
    near = {f"neighbour_{rank}": tiny.sentences("hau", 6, seed=rank) for rank in (1, 2, 3)}
    write_table(pairs.assign(**near), root / "mined.tsv")
    made = {
        "mining": {"layer": 2, "count": 3, "near": "text", "seed": 0},
        "prefix": "",
        "weights": sha256(root / "backbone"),
    }
    write_json(made, audit_of(root / "mined.tsv"))
    write_table(pairs.assign(**near), root / "others.tsv")
    write_json(made | {"weights": "0" * 64}, audit_of(root / "others.tsv"))
    write_table(pairs.assign(**near, pivot=pairs["pivot"].mask(pairs["id"] == "c", pairs["text"])), root / "equal.tsv")
    write_table(pd.DataFrame({"id": list("12"), "text": tiny.sentences("hau", 2, seed=9)}), root / "pool.tsv")

    asked = {
        "id": ["q"],
        "question": ["who"],
        "context": ["the women read"],
        "answers": ['["women"]'],
        "starts": ["[4]"],
    }
    for name, starts in (("asked", "[4]"), ("nowhere", "[]"), ("elsewhere", "[3]")):
        write_table(pd.DataFrame(asked | {"starts": [starts]}), root / f"{name}.tsv")
    news = {"id": list("12"), "text": tiny.sentences("hau", 2), "label": ["news", "religion"]}
    write_table(pd.DataFrame(news), root / "news.tsv")
    write_table(pd.DataFrame(news | {"label": ["news", "sports"]}), root / "learnt.tsv")
    with tarfile.open(root / "release.tar", "w") as archive:
        for side, lines in (("src", 3), ("trg", 2)):
            with gzip.open(root / side, "wt") as file:
                file.writelines(f"line {line} of {side}\n" for line in range(lines))
            archive.add(root / side, f"data/eng-hau/train.{side}.gz")
    return root


def mine(**mining: Any) -> list[Any]:
    return [
        *(
            "mine_neighbours",
            "--weights",
            "{root}/backbone",
            "--pairs",
            "{root}/pairs.tsv",
            "--pool",
            "{root}/pool.tsv",
        ),
        *("--mining", mining, "--output", "{out}/x", "--audit", "{out}/y", "--state", "{out}/state"),
    ]


def train(
    weights: str = "backbone", texts: str = "mined.tsv", prefix: str = "", mining: Any = "{}", **objective: Any
) -> list[Any]:
    return [
        *("train_encoder", "--weights", f"{{root}}/{weights}", "--texts", f"{{root}}/{texts}", "--prefix", prefix),
        *("--mining", mining if mining != "{}" else {"layer": 2}, "--objective", {"neighbours": OBJECTIVE | objective}),
        *("--training", TRAINING, "--seed", "1", "--output", "{out}/x", "--state", "{out}/state"),
    ]


def fetch(text: str, pivot: str) -> list[Any]:
    source = {
        "file": "{root}/release.tar",
        "member": text,
        "format": "text",
        "join": {"pivot": {"member": pivot}},
    } | LICENSED
    return [
        *("fetch_corpus", "--kind", "parallel", "--source", source, "--downloads", "{root}/d", "--lock", "{root}/l"),
        *("--output", "{out}/x", "--record", "{out}/y"),
    ]


def tune(train: str) -> list[Any]:
    return [
        *("tune_encoder", "--base", "{root}/backbone", "--kind", "questions", "--train", f"{{root}}/{train}.tsv"),
        *("--tests", "hau/qa={root}/asked.tsv", "--learning", {"max_length": 60, "stride": 8, "max_question": 20}),
        *("--dtype", "float32", "--seed", "1", "--output", "{out}/x", "--state", "{out}/state"),
    ]


def score(*trains: str) -> list[Any]:
    task = {"news": {"protocol": "tuned", "source": {"file": "x"}, "train": {"file": "x"}, "unseen": "refuse"}}
    return [
        *("score", "--systems", "{root}/none", "--tasks", task, "--tests", "{root}/news.tsv", "--language", "hau"),
        *("--records", "{root}/pairs.json", "--scores", "{out}", "--output", "{out}/x", *trains),
    ]


SELECT = [
    *("select_pairs", "--corpus", "{root}/pairs.tsv", "--record", "{root}/pairs.json", "--scripts", "Latn", "Latn"),
    *("--seed-pairs", {"count": 7, "language_id": False}, "--output", "{out}/x", "--audit", "{out}/y"),
]
FAULTS = {
    "a layer that the backbone lacks": (mine(layer=3), "layer 3: ... blocks 1 to 2"),
    "a pool too small": (mine(layer=2, count=3), "mining: 2 sentences ... count is 3; give more"),
    "no neighbours at all": (mine(layer=2, count=0), "mining.count: ... greater than 0"),
    "too few pairs": (SELECT, "seed_pairs: 6 of 6 pairs ... count is 7 (dropped: {}); give more"),
    "more neighbours than mined": (train(neighbours=4), "neighbours: ... pivot, text, neighbour_1, neighbour_2, neighbour_3, neighbour_4"),
    "a queue too small": (train(queue_size=7), "training.batch_size: ... queue of 7; give 3 or fewer, or `queue_size: 8`"),
    "a queue of nothing": (train(queue_size=0), "objective.neighbours.queue_size: ... greater than 0"),
    "equal sides": (train(texts="equal.tsv", mining=None), "neighbours: both sides of row c"),
    "momentum": (train(momentum=1), "objective.neighbours.momentum: ... less than 1"),
    "margin": (train(margin=2), "objective.neighbours.margin: ... less than 2"),
    "a head without width": (train(projection=[0, 4]), "objective.neighbours.projection.0: ... greater than 0"),
    "mined by another backbone": (train(texts="others.tsv"), "others.tsv: neighbours by other weights than"),
    "mined by another layer": (train(mining={"layer": 1}), "mined.tsv: ... mining.layer 2, not 1"),
    "mined with another prefix": (train(prefix="q: "), "mined.tsv: ... prefix '', not 'q: '"),
    "pickled weights": (train(weights="pickled", texts="equal.tsv", mining=None), "pickled: no *.safetensors"),
    "sides of unequal length": (fetch("*.trg.gz", "*.src.gz"), "matched by their places ... ids"),
    "a member that is missing": (fetch("*.trg.gz", "*.scr.gz"), "release.tar: ... '*.scr.gz'; ... data/eng-hau/train.src.gz"),
    "answers without places": (tune("nowhere"), "nowhere.tsv: id 'q' has no `starts`"),
    "answers elsewhere": (tune("elsewhere"), "elsewhere.tsv: id 'q' ... not at its place"),
    "a label unseen": (score("--trains", "hau/news={root}/learnt.tsv"), "tuned: ... label 'religion'; ... news, sports"),
    "no training set": (score(), "tuned: no training set"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_program_stops_with_one_line_and_writes_nothing(root: Path, tmp_path: Path, fault: str) -> None:
    (program, *given), told = FAULTS[fault]
    words = [json.dumps(word) if isinstance(word, dict) else word for word in given]
    if None in words:
        place = words.index(None)
        del words[place - 1 : place + 1]
    places = {"{root}": str(root), "{out}": str(tmp_path / "out")}
    for name, path in places.items():
        words = [word.replace(name, path) for word in words]
    with pytest.raises(UserError) as error:
        call(importlib.import_module(f"scripts.{program}"), words)
    said = str(error.value)
    assert tells(said, told) and "\n" not in said, said
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and "state" not in path.parts]

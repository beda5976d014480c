"""LazRetrieval (LiRA, table 2): three JSON files, which nobody has; planned without them, and scored with some made here."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seedbed import yamls
from seedbed.encoders.models.loading import open_encoder
from seedbed.io import read_json, read_table
from seedbed.study.graph.corpus import lacking
from seedbed.study.graph.report import Paper
from seedbed.study.loading import load
from tests.refusals import tells
from tests.workflow.conftest import STUDY, Project, copy_project

SHIPPED = yamls.read("config/lira.yaml")
LAZ = {name: task for name, task in SHIPPED["tasks"].items() if name.startswith("laz")}
LANGUAGES = LAZ["laz"]["languages"]
QUERIES, ITEMS = 6, 15


def write(place: Path, lang: str) -> None:
    """Both splits of a language: some items are nobody's, some queries have two."""
    draw = random.Random(lang)
    words = [f"{lang}{number}" for number in range(40)]
    for split in ("train", "test"):
        folder = place / lang / split
        folder.mkdir(parents=True)
        queries = [{"id": f"q{n}", "text": " ".join(draw.sample(words, 3))} for n in range(QUERIES)]
        items = [{"id": f"i{n}", "text": " ".join(draw.sample(words, 9))} for n in range(ITEMS)]
        pairs = [{"query_id": f"q{n}", "item_id": f"i{item}"} for n in range(QUERIES) for item in {n, 2 * n}]
        for name, rows in (("query", queries), ("item", items), ("pairs_info", pairs)):
            (folder / f"{name}.json").write_text(json.dumps(rows, ensure_ascii=False))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of all languages."""
    root = tmp_path_factory.mktemp("laz")
    for lang in LANGUAGES:
        write(root, lang)
    return root


def targets(study: Any) -> set[str]:
    return {Path(file).stem for file in Paper.get(study, "lira").files()}


def test_the_shipped_study_waits_for_a_place(place: Path) -> None:
    without, given = load(SHIPPED), load(SHIPPED | {"paths": {"laz": str(place)}})
    assert without.tested_by("laz") == [] and given.tested_by("laz") == sorted(LANGUAGES)
    laz = {"lira_table2", "lira_table11", "lira_figure9"}
    assert laz <= targets(given) and not laz & targets(without)
    assert targets(given) - targets(without) - laz <= {"lira_figure10"}, "which has columns of other sets too"


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("results/lira/tables/lira_table2.csv", "error: table 'LiRA, table 2: LazRetrieval': paths.laz is none ... --config 'paths={laz: /its/place}'"),
        ("results/lira/corpora/ben/laz.tsv", "error: no laz corpus of ben: paths.laz is none ... --config 'paths={laz: /its/place}'"),
    ],
)  # fmt: skip
def test_whoever_asks_for_it_is_told_what_is_missing(project: Project, target: str, told: str) -> None:
    done = project.snakemake("--dry-run", target, config="config/lira.yaml")
    assert done.returncode == 1 and tells(done.stdout + done.stderr, told)


def test_a_place_that_is_wrong_is_told(place: Path, tmp_path: Path) -> None:
    from seedbed.io import UserError

    with pytest.raises(UserError, match=r"paths.laz:.*nowhere.*--config"):
        load(SHIPPED | {"paths": {"laz": "nowhere"}})
    with pytest.raises(UserError, match=r"laz test set of ben:.*ben/test/pairs_info.json"):
        load(SHIPPED | {"paths": {"laz": str(tmp_path)}})


SMALL = STUDY | {
    "results": "results/laz",
    "languages": dict.fromkeys(("ben", "tha"), {}),
    "paths": {"laz": "own/laz"},
    "corpora": {},
    "generators": {},
    "recipes": {"base": {}},
    "tasks": {
        name: task | {"languages": ["ben", "tha"]} for name, task in LAZ.items() if name != "laz-shares"
    },
    "tables": [],
    "figures": [],
}  # fmt: skip


def test_the_three_files_become_a_test_set_and_a_score(tmp_path: Path, place: Path) -> None:
    project = copy_project(tmp_path, SMALL)
    (project.root / "own/laz").symlink_to(place)
    scores = project.root / "results/laz/scores/tiny-bert/base/mul"
    done = project.snakemake(
        *(f"results/laz/scores/tiny-bert/base/mul/ben.{name}.json" for name in ("all", "laz-item"))
    )
    assert done.returncode == 0, done.stderr[-3000:]
    rows = read_table(project.root / "results/laz/corpora/ben/laz.tsv", ["id", "query", "document"])
    assert {"query_id", "document_id"} <= {*rows.columns} and rows["document_id"].nunique() == ITEMS
    read = {name: json.loads((place / f"ben/test/{name}.json").read_text()) for name in ("query", "item", "pairs_info")}
    queries, items = ({row["id"]: row["text"] for row in read[name]} for name in ("query", "item"))
    asked = rows[rows["query"] != ""]
    assert {*zip(asked["query"], asked["document"], strict=True)} == {
        (queries[pair["query_id"]], items[pair["item_id"]]) for pair in read["pairs_info"]
    }
    encode = open_encoder(project.root / "results/laz/encoders/tiny-bert/base/mul/0").encode
    vectors = [encode([*side.values()], normalize_embeddings=True) for side in (queries, items)]
    ranks = np.argsort(-(vectors[0] @ vectors[1].T), axis=1)[:, :10]
    gains = []
    for name, ranked in zip(queries, ranks, strict=True):
        right = {[*items].index(pair["item_id"]) for pair in read["pairs_info"] if pair["query_id"] == name}
        gain = sum(1 / np.log2(2 + place) for place, item in enumerate(ranked) if item in right)
        gains.append(gain / sum(1 / np.log2(2 + place) for place in range(len(right))))
    found = read_json(scores / "0/laz/ben.json")
    assert found["main_score"] == pytest.approx(np.mean(gains), abs=1e-5) and found["n"] == QUERIES
    both = [
        row["text"] for split in ("train", "test") for row in json.loads((place / f"ben/{split}/item.json").read_text())
    ]
    lengths = read_json(scores / "0/laz-item/ben.json")["metrics"]
    assert lengths["max"] == max(map(len, both)) and lengths["texts"] == len({*both})


def test_what_is_nowhere_is_read_by_nobody() -> None:
    study = load(SHIPPED)
    assert lacking(study, "laz") and lacking(study, "laz-query") and not lacking(study, "mlqa")
    assert not lacking(study, "ntrex"), "no task"

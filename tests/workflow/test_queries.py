"""An encoder for search: a generator writes questions to passages, and the encoder that learns from them is scored by retrieval."""

from __future__ import annotations

import pandas as pd
import pytest

from seedbed.encoders.models.loading import open_encoder
from seedbed.io import read_json
from tests import tiny
from tests.workflow.conftest import STUDY, Project, copy_project

QUERIES = STUDY | {
    "results": "results/queries",
    "recipes": {"base": {}, "query-generation": {}},
    "tasks": {
        "own-search": {
            "protocol": "retrieval",
            "source": {"file": "own/{lang}.sts.tsv", "columns": {"query": "sentence1", "document": "sentence2"}},
        }
    },
}
FOLDER = "results/queries/scores/tiny-bert"
ENCODERS = ("base/mul", "query-generation/hau")


@pytest.fixture(scope="module")
def searched(tmp_path_factory) -> Project:
    """The study after both encoders are scored."""
    project = copy_project(tmp_path_factory.mktemp("queries"), QUERIES)
    done = project.snakemake(*(f"{FOLDER}/{encoder}/hau.all.json" for encoder in ENCODERS))
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
    return project


def test_questions_are_written_to_passages_and_teach_an_encoder(searched) -> None:
    folder = searched.root / "results/queries"
    triplets = pd.read_table(folder / "triplets/tiny/query-generation/hau.tsv", dtype=str)
    passages = {*pd.read_table(searched.root / "own/hau.tsv")["text"]}
    assert {*triplets["anchor"]} <= passages and not {*triplets["positive"]} & passages
    encoder = folder / "encoders/tiny-bert/query-generation/hau/1"
    trained, texts = read_json(encoder / "seedbed.json"), tiny.sentences("hau", 4)
    assert trained["about"]["method"] == "query-generation" and trained["training"]["examples"] == len(triplets)
    base = open_encoder(folder / "encoders/tiny-bert/base/mul/0").encode(texts)
    assert abs(open_encoder(encoder).encode(texts) - base).max() > 1e-4
    for name in ("base/mul/0", "query-generation/hau/1"):
        score = read_json(searched.root / f"{FOLDER}/{name}/own-search/hau.json")
        assert score["n"] == 24 and 0 < score["metrics"]["ndcg_at_10"] <= 1

"""Fused backbones in the graph: weights given or chosen on a development task, scores by brute force, no text encoded twice."""

import json
import re

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.spatial.distance import cdist
from transformers import BertForMaskedLM

from seedbed.encoders.models.loading import open_encoder
from tests import tiny
from tests.workflow.test_graph import nothing_to_do, planned

CANDIDATES = [[1, 1], [1, 3], [0, 1]]
SCORES = "results/fusion/scores/{}/base/mul/hau.all.json"


@pytest.fixture(scope="module")
def fused(project):
    """A study of two tiny backbones and two fusions of them, run to its scores and table."""
    own = project.root / "own"
    tiny.backbone(own / "other")
    torch.manual_seed(1)
    BertForMaskedLM(BertForMaskedLM.from_pretrained(own / "other").config).save_pretrained(own / "other")
    for name, seed in (("test", 6), ("train", 7)):
        texts = {"id": range(30), "text": tiny.sentences("hau", 30, seed), "label": ["joy", "fear", "anger"] * 10}
        pd.DataFrame(texts).to_csv(own / f"hau.labels.{name}.tsv", sep="\t", index=False)
    dev = {"id": range(20), "text": tiny.sentences("hau", 20, 8), "pivot": tiny.sentences("eng", 20, 8)}
    pd.DataFrame(dev).to_csv(own / "hau-eng.dev.tsv", sep="\t", index=False)
    both = {"tiny-bert": None, "other": None}
    changes = {
        "results": "results/fusion",
        "backbones": {
            "tiny-bert": {"source": {"file": "own/backbone"}},
            "other": {"source": {"file": "own/other"}, "prefix": "query: "},
            "given": {"fusion": {"of": {"tiny-bert": 1, "other": 3}}},
            "chosen": {"fusion": {"of": both, "dev": "dev", "candidates": CANDIDATES}},
        },
        "recipes": {"base": {}},
        "statistics/baseline": "base",
        "tasks/dev": {"protocol": "bitext", "source": {"file": "own/{lang}-eng.dev.tsv"}, "on_request": True},
        "tasks/labels": {
            "protocol": "knn",
            "source": {"file": "own/{lang}.labels.test.tsv"},
            "train": {"file": "own/{lang}.labels.train.tsv"},
            "distance": "euclidean",
            "k": [1, 5],
        },
    }
    study = project.edit(changes, target="fusion.yaml")
    targets = [SCORES.format(name) for name in ("tiny-bert", "other", "given", "chosen")]
    targets.append("results/fusion/tables/table1.csv")
    jobs = planned(project.snakemake("-n", *targets, config=study))
    assert jobs == {
        "fetch_corpus": 5,  # four test sets, one training set
        "fetch_model": 2,
        "train_encoder": 2,
        "fuse_encoders": 2,
        "score": 4,
        "plan_table": 1,
        "tabulate": 1,
    }
    done = project.snakemake("--cores", "1", *targets, config=study)
    assert planned(done) == jobs, done.stderr[-4000:]
    assert nothing_to_do(project.snakemake(*targets, config=study))
    return project.root, study, targets


def distances(root, queries, corpus):
    """Of each backbone, in float64."""
    found = []
    for name in ("tiny-bert", "other"):
        encoder = open_encoder(root / f"results/fusion/encoders/{name}/base/mul/0")
        q, c = (encoder.encode(list(texts)).astype(np.float64) for texts in (queries, corpus))
        found.append(cdist(q, c))
    return found


def accuracy(root, weights, table):
    """Of bitext, both directions."""
    a, b = distances(root, table["text"], table["pivot"])
    matrix, gold = weights[0] * a + weights[1] * b, np.arange(len(table))
    return ((matrix.argmin(1) == gold).mean() + (matrix.argmin(0) == gold).mean()) / 2


def manifest(root, backbone):
    return json.loads((root / f"results/fusion/encoders/{backbone}/base/mul/0/seedbed.json").read_text())


def test_the_weights_are_the_best_on_the_development_set(fused):
    root = fused[0]
    dev = pd.read_csv(root / "own/hau-eng.dev.tsv", sep="\t")
    expected = [accuracy(root, weights, dev) for weights in CANDIDATES]
    chosen = manifest(root, "chosen")["chosen"]
    assert [record["score"] for record in chosen["candidates"]] == pytest.approx(expected, abs=1e-6)
    best = CANDIDATES[int(np.argmax(expected))]
    members = manifest(root, "chosen")["members"]
    assert [(entry["backbone"], entry["weight"]) for entry in members] == [("tiny-bert", best[0]), ("other", best[1])]
    assert chosen["dev"] == "dev" and chosen["sets"]["hau"]["n"] == 20
    assert manifest(root, "given")["chosen"] == {}


def test_scores_are_those_of_fused_distances(fused):
    root = fused[0]
    scores = root / "results/fusion/scores/given/base/mul/0"
    found = json.loads((scores / "own-bitext/hau.json").read_text())
    test = pd.read_csv(root / "own/hau-eng.tsv", sep="\t")
    assert found["main_score"] == pytest.approx(accuracy(root, (1, 3), test), abs=1e-6)
    assert found["encoder"]["weights"] == {"tiny-bert": 1, "other": 3}
    test, train = (pd.read_csv(root / f"own/hau.labels.{name}.tsv", sep="\t") for name in ("test", "train"))
    a, b = distances(root, test["text"], train["text"])
    nearest = train["label"].to_numpy()[(a + 3 * b).argmin(1)]
    found = json.loads((scores / "labels/hau.json").read_text())
    assert found["metrics"]["accuracy_at_1"] == pytest.approx((nearest == test["label"]).mean(), abs=1e-6)


def test_a_fusion_is_not_asked_for_what_needs_an_embedding_nor_for_what_chose_it(fused):
    root = fused[0]
    scored = {path.name for path in (root / "results/fusion/scores/chosen/base/mul/0").iterdir()}
    assert scored == {"own-bitext", "labels"}
    table = pd.read_csv(root / "results/fusion/tables/table1.csv")
    shown = {tuple(row) for row in table[["backbone", "column"]].to_numpy()}
    assert {backbone for backbone, column in shown if column == "STS"} == {"tiny-bert", "other"}
    assert {backbone for backbone, column in shown if column != "STS"} == {"tiny-bert", "other", "given", "chosen"}


def test_no_text_is_encoded_twice_by_one_encoder(fused):
    stores = list((fused[0] / "results/fusion/state/embeddings").iterdir())
    assert len(stores) == 2
    for store in stores:
        keys = np.concatenate([np.load(path)["keys"] for path in store.glob("*.npz")])
        assert len(np.unique(keys, axis=0)) == len(keys)


def test_other_weights_run_the_fusion_and_its_scores_alone(fused, project):
    _, study, targets = fused
    changed = project.edit(
        {"backbones/given/fusion/of": {"tiny-bert": 2, "other": 3}}, source=study, target="more.yaml"
    )
    assert planned(project.snakemake("-n", *targets, config=changed)) == {
        "fuse_encoders": 1, "score": 1, "tabulate": 1,
    }  # fmt: skip


def test_its_cost_is_forecast_and_its_card_written(fused, project):
    root, study, _ = fused
    done = project.snakemake("forecast", config=study)
    assert done.returncode == 0, done.stderr[-3000:]
    card = (root / "results/fusion/encoders/given/base/mul/0/README.md").read_text()
    assert re.search(r"\| tiny-bert \| 1 \|\n\| other \| 3 \|", card)

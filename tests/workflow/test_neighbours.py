"""Encoders as retrievers through the graph: labels of the nearest training sentences, in one language and across two."""

from __future__ import annotations

import re

import pandas as pd
import pytest
import yaml

from tests import tiny
from tests.workflow.conftest import STUDY, Project, copy_project

NEAREST = {"distance": "euclidean", "k": [1, 5]}
RETRIEVAL = {
    "results": "results/nearest",
    "languages": {"hau": {}, "swh": {}},
    "backbones": STUDY["backbones"],
    "recipes": {"published": {}},
    "tasks": {
        "own-bitext": {"protocol": "bitext", "source": {"file": "own/{lang}-eng.tsv"}, **NEAREST},
        "own-knn": {
            "protocol": "knn",
            "source": {"file": "own/{lang}.labelled.test.tsv"},
            "train": {"file": "own/{lang}.labelled.train.tsv"},
            **NEAREST,
        },
        "own-knn-xl": {"protocol": "knn", "set_of": "own-knn", "train_language": "swh", **NEAREST},
    },
    "statistics": {"resamples": 100, "baseline": "published"},
    "tables": ["nearest"],
    "figures": [],
}
COLUMNS = {
    "bitext": {"protocol": "bitext", "metric": "f1@5 backward", "tasks": ["own-bitext"]},
    "mono": {"protocol": "knn", "metric": "macro f1@5", "tasks": ["own-knn"]},
    "XL": {"protocol": "knn", "metric": "accuracy@1", "tasks": ["own-knn-xl"]},
}
SPEC = {
    "title": "Nearest",
    "caption": "Own data.",
    "columns": [{"label": label, **column} for label, column in COLUMNS.items()],
    "recipes": {"published": "as published"},
    "baseline": "published",
    "over_columns": [{"label": "mean"}],
    "across": "columns",
}
TABLE = "results/nearest/tables/nearest.csv"


@pytest.fixture(scope="module")
def study(tmp_path_factory) -> Project:
    """The study, made once; a test that changes it puts things back."""
    project = copy_project(tmp_path_factory.mktemp("project"), RETRIEVAL)
    for lang in RETRIEVAL["languages"]:
        for part, seed in (("train", 0), ("test", 1)):
            rows = pd.DataFrame(tiny.pairs(lang, 48, seed))
            labelled = pd.DataFrame({"id": rows["id"], "text": rows["hypothesis"], "label": rows["label"]})
            labelled.to_csv(project.root / f"own/{lang}.labelled.{part}.tsv", sep="\t", index=False)
    (project.root / "resources/tables/nearest.yaml").write_text(yaml.safe_dump(SPEC, sort_keys=False))
    done = project.snakemake(TABLE)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return project


def jobs(done) -> dict[str, int]:
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    rows = re.findall(r"^(\w+) +(\d+)$", done.stdout + done.stderr, flags=re.M)
    return {rule: int(count) for rule, count in rows if rule not in ("total", "job")}


def test_each_setting_is_scored_where_it_is_one(study):
    table = pd.read_csv(study.root / TABLE).set_index(["column", "language"])
    assert set(table.index) == {
        *((column, language) for column in ("bitext", "mono") for language in ("hau", "swh", "avg")),
        ("XL", "hau"), ("XL", "avg"), ("mean", "avg"),
    }  # fmt: skip
    assert table["value"].between(0, 100).all() and table["low"].notna().all()
    # A label is told by its own word, so that even random weights find the sentences that share it.
    assert table.loc[("mono", "avg"), "value"] == 100
    page = (study.root / TABLE).with_suffix(".md").read_text()
    assert "| System | bitext | mono | XL | mean |" in page and "\n| tiny-bert |" in page


def test_a_training_sentence_re_runs_the_scores_that_ask_for_it(study):
    train = study.root / "own/swh.labelled.train.tsv"
    before = train.read_text()
    train.write_text(before.replace("\n0\t", "\n00\t"))
    planned = jobs(study.snakemake("-n", TABLE))
    train.write_text(before)
    assert planned == {"fetch_corpus": 1, "score_encoder": 2, "tabulate": 1}


def test_a_task_more_encodes_nothing_that_was_encoded(study):
    store = study.root / "results/nearest/state/embeddings"
    files = sorted(store.rglob("*.npz"))
    assert files
    cosine = {**RETRIEVAL["tasks"]["own-knn-xl"], "distance": "cosine", "train_language": "hau"}
    config = study.edit({"tasks/own-knn-cosine": cosine}, target="more.yaml")
    scores = "results/nearest/scores/tiny-bert/published/mul/swh.all.json"
    assert study.snakemake(scores, config=config).returncode == 0
    assert (study.root / "results/nearest/scores/tiny-bert/published/mul/0/own-knn-cosine/swh.json").is_file()
    assert sorted(store.rglob("*.npz")) == files


FAULTS = {
    "own-knn/train": (None, "tasks.own-knn: no training set; protocol knn needs `train`, or `set_of` a task with one"),
    "own-knn-xl/train_language": ("swa", "not in resources/languages.tsv"),
    "own-bitext/train_language": ("swh", "protocol bitext learns from nothing"),
    "own-bitext/k": ([5, 1], "numbers of neighbours, from 1, each once and ascending; found"),
    "own-knn/distance": ("manhattan", "euclidean"),
}


@pytest.mark.parametrize("key", FAULTS)
def test_a_fault_is_told_at_once(study, key):
    value, told = FAULTS[key]
    done = study.snakemake("-n", TABLE, config=study.edit({f"tasks/{key}": value}, target="bad.yaml"))
    assert done.returncode == 1
    [line] = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith("error:")]
    assert told in line


@pytest.mark.parametrize(
    ("file", "old", "new", "told"),
    [
        ("own/hau.labelled.test.tsv", "neutral", "unheard", "no training sentence has the label 'unheard'"),
        ("own/hau.labelled.test.tsv", "label\n", "class\n", "no column 'label'"),
    ],
)
def test_labels_that_cannot_be_voted_for(study, file, old, new, told):
    path = study.root / file
    before = path.read_text()
    path.write_text(before.replace(old, new))
    done = study.snakemake(TABLE)
    path.write_text(before)
    assert done.returncode == 1 and told in done.stdout + done.stderr

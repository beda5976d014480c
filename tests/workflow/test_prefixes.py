"""A prefix that a development task chooses before anything is trained, and the mean of what was trained with it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load_file

from seedbed.io import read_json
from tests.workflow.conftest import STUDY, Project, copy_project
from tests.workflow.test_graph import nothing_to_do, planned

RECIPES = {
    "base": {},
    "query": {"like": "base", "prefix": "yara "},
    "unsupervised": {"prefix": {"choose": ["base", "query"]}},
    "mean": {"from": "unsupervised", "data": {"corpus": "text"}, "copies": "averaged"},
}
RESULTS, TABLE = "results/prefixes", "results/prefixes/tables/table1.csv"


@pytest.fixture(scope="module")
def study(tmp_path_factory) -> Project:
    """The study after its table is made."""
    changes = {"results": RESULTS, "seeds": [1, 2], "generators": {}, "recipes": RECIPES}
    changes |= {"best": {"dev": "own-sts", "test": "own-bitext"}}
    project = copy_project(tmp_path_factory.mktemp("prefixes"), STUDY | changes)
    done = project.snakemake(TABLE)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
    return project


def test_the_better_untrained_encoder_s_prefix_stands_before_what_is_trained(study) -> None:
    folder = study.root / RESULTS
    chosen = read_json(folder / "chosen/prefix/tiny-bert+unsupervised/hau.json")
    scores = {
        name: read_json(folder / f"scores/tiny-bert/{name}/mul/0/own-sts/hau.json")["main_score"]
        for name in ("base", "query")
    }
    assert scores["base"] != scores["query"], "the choice would be no test"
    assert chosen["candidate"] == max(scores, key=lambda name: scores[name])
    for encoder in ("unsupervised/hau/1", "unsupervised/hau/2", "mean/hau/1"):
        said = read_json(folder / f"encoders/tiny-bert/{encoder}/config_sentence_transformers.json")
        assert {*said["prompts"].values()} == {{"base": "", "query": "yara "}[chosen["candidate"]]}, encoder


def test_the_mean_of_the_seeds_is_one_row(study) -> None:
    made = {
        name: load_file(study.root / RESULTS / f"encoders/tiny-bert/{name}/model.safetensors")
        for name in ("unsupervised/hau/1", "unsupervised/hau/2", "mean/hau/1")
    }
    one, other, mean = made.values()
    assert any(not np.array_equal(one[name], other[name]) for name in one)
    for name, weight in mean.items():
        np.testing.assert_allclose(weight, (one[name] + other[name]) / 2, atol=1e-6)
    table = pd.read_csv(study.root / TABLE)
    assert {*table["recipe"].dropna()} >= {*RECIPES}


def test_another_prefix_among_them_makes_the_choice_and_what_follows_again(study) -> None:
    assert nothing_to_do(study.snakemake("-n", TABLE))
    jobs = planned(
        study.snakemake("-n", TABLE, config=study.edit({"recipes/query/prefix": "gida "}, target="new.yaml"))
    )
    assert jobs["choose"] == 1
    assert jobs["train_encoder"] == 1 + 2 and jobs["copy_encoder"] == 1  # that prefix's, the two seeds; their mean

"""The scale of a composition, chosen on a development task: planned, run, and planned again with another candidate."""

import json

import numpy as np
import pandas as pd
import pytest

from tests import tiny
from tests.workflow.test_graph import nothing_to_do, planned

ENCODER = "results/scales/encoders/tiny-bert/{}/{}/1/seedbed.json"
ADAPTERS = "results/scales/generators/chooses/composition/hau"


@pytest.fixture(scope="module")
def chosen(project):
    """A study whose generator chooses among two scales, one of them another generator's own, run to its encoder."""
    graded = {"id": range(24), "sentence1": tiny.sentences("hau", 24, 8), "sentence2": tiny.sentences("hau", 24, 9)}
    graded["score"] = [n / 23 for n in range(24)]
    pd.DataFrame(graded).to_csv(project.root / "own/hau.sts.dev.tsv", sep="\t", index=False)
    changes = {
        "results": "results/scales",
        "seeds": [1, 2],
        "languages": {"hau": {}, "swh": {}},
        "generators/tiny/shard_rows": 32,
        "training/learning_rate": 0.01,  # encoders of a few steps that differ
        "generators/chooses": {"like": "tiny", "composition": {"scale": {"dev": "dev", "candidates": [1, 30]}}},
        "recipes": {"base": {}, "composition": {}, "picked": {"on_request": True, "like": "composition", "data": {"by": "chooses"}}},
        "tasks/dev": {"protocol": "sts", "source": {"file": "own/{lang}.sts.dev.tsv"}, "on_request": True, "languages": ["hau"]},
    }  # fmt: skip
    study = project.edit(changes, target="scales.yaml")
    jobs = planned(project.snakemake("-n", ENCODER.format("picked", "hau"), config=study))
    done = project.snakemake("--cores", "2", ENCODER.format("picked", "hau"), config=study)
    assert planned(done) == jobs, done.stderr[-4000:]
    assert nothing_to_do(project.snakemake("-n", ENCODER.format("picked", "hau"), config=study))
    return project, study, jobs


def test_each_candidate_has_its_triplets_and_one_encoder_whose_score_counts(chosen):
    _, _, jobs = chosen
    assert jobs["compose_adapters"] == 2 * 3 and jobs["synthesise"] == 3  # two scales and the chosen one
    assert jobs["train_encoder"] == 2 + 1 and jobs["score"] == 2  # of one seed
    assert (jobs["train_task_adapter"], jobs["train_language_adapter"], jobs["choose"]) == (2, 2, 1)
    assert "tabulate" not in jobs


def test_the_best_scale_is_taken_and_said_beside_the_adapters(chosen):
    root = chosen[0].root
    found = json.loads((root / "results/scales/chosen/scale/chooses/hau.json").read_text())
    scores = {
        scale: json.loads((root / f"results/scales/scores/tiny-bert/chooses+{scale}/hau/1/dev/hau.json").read_text())
        for scale in ("1", "30")
    }
    mains = [scores[scale]["main_score"] for scale in ("1", "30")]
    assert [record["score"] for record in found["candidates"]] == mains and mains[0] != mains[1]
    assert found["dev"] == "dev" and found["scale"] == [1, 30][int(np.argmax(mains))]
    # It is the winner's adapter to the byte, and another's is another.
    made = {name: json.loads((root / f"results/scales/generators/{name}/composition/hau/positive/seedbed.json").read_text())
            for name in ("chooses", "tiny", "chooses+30")}  # fmt: skip
    weights = {name: manifest["files"]["adapter_model.safetensors"] for name, manifest in made.items()}
    winner, loser = ("tiny", "chooses+30") if found["scale"] == 1 else ("chooses+30", "tiny")
    assert weights["chooses"] == weights[winner] != weights[loser]
    assert made["chooses"]["composition"]["scale"] == found["scale"]


def test_another_candidate_runs_its_own_jobs_and_what_is_chosen_anew(chosen):
    project, study, _ = chosen
    changes = {"generators/chooses/composition/scale": {"dev": "dev", "candidates": [1, 30, 0.25]}}
    more = project.edit(changes, source=study, target="more-scales.yaml")
    jobs = planned(project.snakemake("-n", ENCODER.format("picked", "hau"), config=more))
    assert jobs == {
        "compose_adapters": 2 + 2, "synthesise": 2, "join_triplets": 2, "audit_triplets": 2, "train_encoder": 2,
        "score": 1, "choose": 1,
    }  # fmt: skip


def test_a_language_without_a_development_set_takes_the_scale_that_is_best_where_there_is_one(chosen):
    project, study, _ = chosen
    jobs = planned(project.snakemake("-n", ENCODER.format("picked", "swh"), config=study))
    # The candidates' encoders are there: what is left is swh's own.
    assert jobs["choose"] == 1 and jobs["train_encoder"] == 1 and "score" not in jobs
    assert jobs["compose_adapters"] == 2 and jobs["train_language_adapter"] == 1

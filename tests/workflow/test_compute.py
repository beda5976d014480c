"""What labels cost, through the graph: counted, timed, part of the paper's target; the same counts again."""

import pandas as pd
import pytest

from seedbed.io import read_table
from tests import tiny
from tests.refusals import tells
from tests.workflow.conftest import copy_project
from tests.workflow.test_graph import nothing_to_do, planned
from tests.workflow.test_icl import ICL, LABELS

COMPUTE = {
    "task": "own-icl",
    "language": "hau",
    "encoder": {"backbone": "spoken", "recipe": "published"},
    "fine_tuned": "tiny-bert",
    "classifiers": ["likely", "written"],
    "epochs": 2, "batch_size": 4, "dev": 6, "sample": 8, "queries": 5, "repeats": 2,
}  # fmt: skip
FOLDER = "results/own/compute"


@pytest.fixture(scope="module")
def costly(tmp_path_factory):
    """A study in context with `compute:`, and no table of the paper but that of costs."""
    asked = {name: ICL["classifiers"][name] for name in COMPUTE["classifiers"]}
    spoken = {"spoken": ICL["backbones"]["tiny-bert"] | {"prefix": "{flores} "}}
    study = ICL | {"classifiers": asked, "backbones": ICL["backbones"] | spoken, "compute": COMPUTE}
    project = copy_project(tmp_path_factory.mktemp("compute"), study)
    for lang in ("hau", "eng"):
        for part, count, seed in (("train", 18, 0), ("test", 12, 1)):
            rows = {"id": range(count), "text": tiny.sentences(lang, count, seed)}
            rows["label"] = [LABELS[number % 3] for number in range(count)]
            pd.DataFrame(rows).to_csv(project.root / f"own/{lang}.{part}.tsv", sep="\t", index=False)
    for kind in ("tables", "figures"):
        for spec in (project.root / "seedbed/resources" / kind).glob("miners_*.yaml"):
            spec.unlink()
    return project


def test_costs_are_part_of_the_paper_where_a_study_asks_for_them(costly):
    jobs = {"fetch_corpus": 2, "fetch_model": 2, "train_encoder": 1, "measure_compute": 1}
    assert planned(costly.snakemake("--dry-run", "measure_compute")) == jobs
    assert planned(costly.snakemake("--dry-run", "all_miners")) == jobs | {"all_miners": 1}
    without = costly.edit({"compute": None}, target="without.yaml")
    assert "measure_compute" not in planned(costly.snakemake("--dry-run", "--forceall", config=without))
    refused = costly.snakemake("--dry-run", "measure_compute", config=without)
    assert refused.returncode == 1 and tells(refused.stderr, "error: compute: ... no measurement")


def test_counts_are_the_same_twice_and_seconds_lie_apart(costly):
    done = costly.snakemake("measure_compute")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
    folder = costly.root / FOLDER
    counted = (folder / "flops.tsv").read_bytes()
    table = read_table(folder / "flops.tsv", ["method", "model", "symbol", "value", "texts"])
    assert {*table["method"]} == {"fine-tuning", "retrieval", "in context, likelihood", "in context, generation"}
    assert {"|D_train|", "n_epoch", "n_dim", "f_M", "b_M", "f_G", "|L|", "|l|", "FLOPs, done"} <= {*table["symbol"]}
    timed = read_table(folder / "seconds.tsv", ["part", "median", "scaled", "device"])
    assert (timed["median"].astype(float) > 0).all() and {*timed["scaled"]} == {"yes", "no"}
    assert "# What labels cost" in (folder / "miners_table4.md").read_text()
    assert nothing_to_do(costly.snakemake("--dry-run", "measure_compute"))
    again = costly.snakemake("--force", "measure_compute")
    assert again.returncode == 0, again.stdout[-3000:] + again.stderr[-6000:]
    assert (folder / "flops.tsv").read_bytes() == counted


FAULTS = [
    ({"compute/tasks": "own-icl"}, "config.compute.tasks: unknown ... 'task'"),
    ({"compute/task": "own-knnn"}, "compute.task: ... 'own-knnn' ... 'own-knn'"),
    ({"compute/language": "eng"}, "compute.language: no language 'eng'; known: hau"),
    ({"compute/task": "own-icl-xl"}, "compute.task: own-icl-xl has texts in hau and eng ... spoken depends on the language"),
    ({"compute/encoder/backbone": "bert"}, "compute.encoder.backbone: ... 'bert' ... 'tiny-bert'"),
    ({"compute/encoder/recipe": "base"}, "compute.encoder.recipe: no recipe 'base'; known: published"),
    ({"compute/encoder/recipe": "static", "recipes/static": {}}, "compute.encoder.recipe: static has no transformer to count"),
    ({"compute/fine_tuned": "api", "backbones/api": {"endpoint": {"url": "https://host/v1", "model": "m", "dimensions": 8}}},
     "compute.fine_tuned: no backbone with weights 'api'"),
    ({"compute/classifiers": ["tiny"]}, "compute.classifiers: ... 'tiny'; known: likely, written"),
    ({"generators/other": {"like": "tiny", "backend": "openai", "endpoint": "http://localhost:1", "served_model": "m"}, "classifiers/written/generator": "other"},
     "compute.classifiers: written runs on openai ... take another"),
    ({"compute/repeats": 0}, "config.compute.repeats: ... greater ... 0"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "message"), FAULTS, ids=[message[:50] for _, message in FAULTS])
def test_a_wrong_configuration_is_told_in_one_line(costly, changes, message):
    assert tells(costly.refusal(costly.edit(changes, target="bad.yaml"), "measure_compute"), message)

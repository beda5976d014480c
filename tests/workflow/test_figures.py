"""Figures of retrieval through the graph: columns, groups and a map, of tiny models."""

from __future__ import annotations

import pandas as pd
import pytest
import yaml

from tests import tiny
from tests.refusals import tells
from tests.workflow.conftest import Project, copy_project
from tests.workflow.test_neighbours import NEAREST, RETRIEVAL, jobs

LANGUAGES = ("hau", "swh", "hin")
STUDY = {
    **RETRIEVAL,
    "results": "results/drawn",
    "languages": dict.fromkeys(LANGUAGES, {}),
    "backbones": {
        "tiny-bert": {"paper": "BERT", "source": {"file": "own/backbone"}},
        "again": {"source": {"file": "own/backbone"}},
        "both": {"fusion": {"of": {"tiny-bert": 1, "again": 2}}},
    },
    "tasks": {"own-knn": RETRIEVAL["tasks"]["own-knn"]},
    "figures": ["by_k", "by_script", "own_map"],
    "tables": [],
}
COLUMNS = {f"k = {k}": {"protocol": "knn", "metric": f"accuracy@{k}"} for k in NEAREST["k"]}
TABLE = {
    "title": "Nearest",
    "caption": "Own data.",
    "columns": [{"label": label, **column} for label, column in COLUMNS.items()],
    "recipes": {"published": "as published"},
}
FIGURES = {
    "by_k": {"kind": "columns", "table": "drawn", "panels": {"Labels": {"k = 1": 1, "k = 5": 5, "k = 10": 10}}},
    "by_script": {"kind": "groups", "table": "drawn", "by": "script"},
    "own_map": {"kind": "map", "map": {"task": "own-knn", "texts": 40, "perplexity": 5}},
}
MAP = "results/drawn/maps/own_map/tiny-bert/published.tsv"
DRAWN = [f"results/drawn/figures/{name}.png" for name in FIGURES]


def write_spec(project: Project, kind: str, name: str, spec: dict) -> None:
    (project.root / f"resources/{kind}/{name}.yaml").write_text(yaml.safe_dump(spec, sort_keys=False))


def write_figure(project: Project, name: str, **changes: object) -> None:
    shared = {"title": name, "palette": ["#0072B2", "#E69F00", "#009E73"]}
    write_spec(project, "figures", name, shared | FIGURES[name] | changes)


@pytest.fixture(scope="module")
def study(tmp_path_factory) -> Project:
    """The study, drawn once; a test that changes it puts things back."""
    project = copy_project(tmp_path_factory.mktemp("project"), STUDY)
    for lang in LANGUAGES:
        for part, seed in (("train", 0), ("test", 1)):
            rows = pd.DataFrame(tiny.pairs(lang, 48, seed))
            labelled = pd.DataFrame({"id": rows["id"], "text": rows["premise"], "label": rows["label"]})
            labelled.to_csv(project.root / f"own/{lang}.labelled.{part}.tsv", sep="\t", index=False)
    write_spec(project, "tables", "drawn", TABLE)
    for name in FIGURES:
        write_figure(project, name)
    done = project.snakemake(*DRAWN)
    assert jobs(done)["map_texts"] == 2  # the fusion has no embeddings
    return project


def test_every_kind_is_drawn(study):
    for figure in DRAWN:
        assert (study.root / figure).read_bytes().startswith(b"\x89PNG")
        assert (study.root / figure).with_suffix(".svg").read_text().startswith("<?xml")


def test_a_map_has_whole_sentences_with_their_own_labels(study):
    points = pd.read_csv(study.root / MAP, sep="\t", dtype={"id": str})
    assert len(points) == 39 and (points.groupby("id")["language"].agg("+".join) == "hau+hin+swh").all()
    assert points[["x", "y"]].notna().all(axis=None) and points["x"].nunique() > 20
    for language, rows in points.groupby("language"):
        texts = pd.read_csv(study.root / f"own/{language}.labelled.train.tsv", sep="\t", dtype=str).set_index("id")
        assert list(rows["label"]) == list(texts.loc[rows["id"], "label"])


def test_a_map_encodes_nothing_twice_and_is_the_same_again(study):
    store = study.root / "results/drawn/state/embeddings"
    files, before = sorted(store.rglob("*.npz")), (study.root / MAP).read_bytes()
    assert files
    assert jobs(study.snakemake(MAP, "--forcerun", "map_texts")) == {"map_texts": 1}
    assert (study.root / MAP).read_bytes() == before
    assert sorted(store.rglob("*.npz")) == files


def test_a_colour_draws_the_map_again_and_a_seed_finds_it_anew(study):
    write_figure(study, "own_map", palette=["#000000"])
    coloured = jobs(study.snakemake("-n", *DRAWN))
    write_figure(study, "own_map", map={**FIGURES["own_map"]["map"], "seed": 1})
    moved = jobs(study.snakemake("-n", *DRAWN))
    write_figure(study, "own_map")
    assert coloured == {"plot": 1} and moved == {"map_texts": 2, "plot": 1}


def test_a_map_of_one_backbone_by_the_papers_name(study):
    write_figure(study, "own_map", backbones=["BERT"])
    planned = study.snakemake("-n", "results/drawn/figures/own_map.svg", "--forcerun", "map_texts")
    write_figure(study, "own_map")
    assert jobs(planned) == {"map_texts": 1, "plot": 1}


FAULTS = {
    "map": ({"task": "own-kn"}, "no task 'own-kn' with training sets in its own languages; did you mean 'own-knn'?"),
    "backbones": (["both"], "both is a fusion, which has distances alone; a map needs embeddings"),
}


@pytest.mark.parametrize("key", FAULTS)
def test_a_fault_is_told_at_once(study, key):
    value, told = FAULTS[key]
    write_figure(study, "own_map", **{key: value})
    done = study.snakemake("-n", *DRAWN)
    write_figure(study, "own_map")
    assert done.returncode == 1
    [line] = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith("error:")]
    assert told in line


def test_more_neighbours_than_texts_are_told_in_the_log(study):
    write_figure(study, "own_map", map={**FIGURES["own_map"]["map"], "perplexity": 50})
    done = study.snakemake(*DRAWN)
    write_figure(study, "own_map")
    assert done.returncode == 1 and tells(done.stdout + done.stderr, "perplexity 50 ... there are 39")

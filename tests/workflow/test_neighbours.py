"""Encoders as retrievers through the graph: labels of the nearest training sentences, in one language and across two."""

from __future__ import annotations

import json
import re

import pandas as pd
import pytest
import yaml

from tests import tiny
from tests.refusals import tells
from tests.workflow.conftest import STUDY, Project, copy_project
from tests.workflow.test_graph import nothing_to_do

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
        "own-news": {
            "protocol": "tuned",
            "source": {"file": "own/{lang}.labelled.test.tsv"},
            "train": {"file": "own/{lang}.labelled.train.tsv"},
            "train_language": "eng",
            "fine_tuning": {"epochs": 2, "held_out": 0.25},
        },
        "own-qa": {
            "protocol": "qa",
            "source": {"file": "own/{lang}.squad.json", "format": "squad"},
            "train": {"file": "own/{lang}.squad.json", "format": "squad"},
            "train_language": "eng",
            "reading": {"epochs": 1, "max_length": 60, "stride": 8, "max_question": 12, "warmup_steps": 0},
        },
    },
    "classifiers": {
        "drawn": {"baseline": "random"},
        "most": {"baseline": "majority"},
        "tuned": {
            "backbone": "tiny-bert",
            "dtype": "float32",
            "fine_tuning": {"epochs": 10, "batch_size": 4, "learning_rate": 0.01, "held_out": 0.25, "patience": 5},
        },
        "limited": {"baseline": "majority", "languages": ["hau"]},
    },
    "seeds": [1, 2],
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
    "classifiers": ["random", "majority", "fine-tuned"],
    "baseline": "published",
    "over_columns": [{"label": "mean"}],
    "across": "columns",
}
TABLE = "results/nearest/tables/nearest.csv"
TUNED = {
    "News": {"protocol": "tuned", "metric": "macro f1"},
    "Neutral": {"protocol": "tuned", "metric": "f1 of neutral"},
    "Answers": {"protocol": "qa", "metric": "f1"},
    "Exact": {"protocol": "qa", "metric": "exact match"},
}
TUNED_SPEC = SPEC | {
    "columns": [{"label": label, **column} for label, column in TUNED.items()],
    "classifiers": [],
    "over_columns": [],
}
TUNED_TABLE = "results/nearest/tables/tuned.csv"


@pytest.fixture(scope="module")
def study(tmp_path_factory) -> Project:
    """The study, made once; a test that changes it puts things back."""
    project = copy_project(tmp_path_factory.mktemp("project"), RETRIEVAL)
    for lang in RETRIEVAL["languages"]:
        for part, seed in (("train", 0), ("test", 1)):
            rows = pd.DataFrame(tiny.pairs(lang, 48, seed))
            labelled = pd.DataFrame({"id": rows["id"], "text": rows["hypothesis"], "label": rows["label"]})
            labelled.to_csv(project.root / f"own/{lang}.labelled.{part}.tsv", sep="\t", index=False)
    labelled.assign(label=labelled["label"].replace("contradiction", "neutral")).to_csv(
        project.root / "own/eng.labelled.train.tsv", sep="\t", index=False
    )  # a label less than the tests have
    for lang in ("hau", "swh", "eng"):
        squad = {
            "data": [{"paragraphs": [asked(number, text) for number, text in enumerate(tiny.sentences(lang, 24))]}]
        }
        (project.root / f"own/{lang}.squad.json").write_text(json.dumps(squad))
    for name, spec in (("nearest", SPEC), ("tuned", TUNED_SPEC)):
        (project.root / f"resources/tables/{name}.yaml").write_text(yaml.safe_dump(spec, sort_keys=False))
    done = project.snakemake(TABLE)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return project


def asked(number: int, text: str) -> dict:
    """A paragraph of SQuAD: its fourth word answers."""
    answer = {"text": (words := text.split())[3], "answer_start": len(" ".join(words[:3])) + 1}
    return {"context": text, "qas": [{"id": str(number), "question": words[2], "answers": [answer]}]}


def jobs(done) -> dict[str, int]:
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    rows = re.findall(r"^(\w+) +(\d+)$", done.stdout + done.stderr, flags=re.M)
    return {rule: int(count) for rule, count in rows if rule not in ("total", "job")}


def test_each_setting_is_scored_where_it_is_one(study):
    table = pd.read_csv(study.root / TABLE)
    table = table[table["backbone"] == "tiny-bert"].set_index(["column", "language"])
    assert set(table.index) == {
        *((column, language) for column in ("bitext", "mono") for language in ("hau", "swh", "avg")),
        ("XL", "hau"), ("XL", "avg"), ("mean", "avg"),
    }  # fmt: skip
    assert table["value"].between(0, 100).all() and table["low"].notna().all()
    # A label is told by its own word, so that even random weights find the sentences that share it.
    assert table.loc[("mono", "avg"), "value"] == 100
    page = (study.root / TABLE).with_suffix(".md").read_text()
    assert "| System | bitext | mono | XL | mean |" in page and "\n| tiny-bert |" in page


def test_a_plan_may_be_longer_than_an_argument_of_a_program(study):
    """Linux ends an argument at 128 KiB, and tables of hundreds of languages have longer plans."""
    columns = [{"label": f"column {number} of a long table", **COLUMNS["mono"]} for number in range(300)]
    spec = SPEC | {"columns": columns, "over_columns": [], "classifiers": []}
    (study.root / "resources/tables/wide.yaml").write_text(yaml.safe_dump(spec, sort_keys=False))
    done = study.snakemake("results/nearest/tables/wide.csv")
    assert jobs(done) == {"plan_table": 1, "tabulate": 1}, done.stderr[-1000:]
    assert pd.read_csv(study.root / "results/nearest/tables/wide.csv")["column"].nunique() == 300


def test_classifiers_stand_beside_the_encoder_with_one_number_whatever_k(study):
    table = pd.read_csv(study.root / TABLE)
    rows = {(row["backbone"], row["column"], row["language"]): row for _, row in table.iterrows()}
    for column, train, lang in (("mono", "hau", "hau"), ("mono", "swh", "swh"), ("XL", "swh", "hau")):
        labels = pd.read_csv(study.root / f"own/{train}.labelled.train.tsv", sep="\t")["label"]
        gold = pd.read_csv(study.root / f"own/{lang}.labelled.test.tsv", sep="\t")["label"]
        most = labels.value_counts().sort_index().idxmax()
        if column == "XL":
            assert rows["most", column, lang]["value"] == pytest.approx(100 * (gold == most).mean(), abs=1e-3)
        assert rows["drawn", column, lang]["seeds"] == rows["tuned", column, lang]["seeds"] == 2
        assert rows["most", column, lang]["seeds"] == 1
    assert rows["tuned", "mono", "avg"]["value"] > 50  # of three labels; by chance a third
    # A column of two languages has no row of a classifier of one, nor has a mean of columns that it lacks.
    assert {column for backbone, column, _ in rows if backbone == "limited"} == {"XL"}
    assert {column for backbone, column, _ in rows if backbone == "tuned"} == {"mono", "XL"}
    assert not [key for key in rows if key[0] in ("drawn", "most", "tuned") and key[1] == "bitext"]
    items = pd.read_csv(study.root / "results/nearest/scores/tuned/fine-tuned/mul/2/own-knn/hau.items.tsv", sep="\t")
    assert list(items) == ["id", "gold", "predicted_1", "correct_1", "predicted_5", "correct_5"]
    assert (items["predicted_1"] == items["predicted_5"]).all()
    page = (study.root / TABLE).with_suffix(".md").read_text()
    assert all(f"\n| {name} |" in page for name in ("tiny-bert", "drawn", "most", "tuned"))


def test_a_tuned_encoder_leaves_its_labels_of_all_test_sets_and_no_weights(study):
    folder = study.root / "results/nearest/classifiers/tuned/fine-tuned/own-knn"
    assert {str(file.relative_to(folder)) for file in folder.rglob("*.*")} == {
        f"{lang}/{seed}/{name}" for lang in ("hau", "swh") for seed in (1, 2) for name in ("labels.tsv", "seedbed.json")
    }
    learnt = {lang: pd.read_csv(folder / f"{lang}/1/labels.tsv", sep="\t") for lang in ("hau", "swh")}
    assert [sorted({*labels["test"]}) for labels in learnt.values()] == [
        ["hau/own-knn"],
        ["hau/own-knn", "swh/own-knn"],
    ]
    assert nothing_to_do(study.snakemake("--dry-run", TABLE))


def test_a_training_sentence_re_runs_the_scores_that_ask_for_it(study):
    train = study.root / "own/swh.labelled.train.tsv"
    before = train.read_text()
    train.write_text(before.replace("\n0\t", "\n00\t"))
    planned = jobs(study.snakemake("-n", TABLE))
    train.write_text(before)
    assert planned == {
        # of swh: a model for each of two seeds, whose labels are of both test sets; `limited` has no test in swh
        "fetch_corpus": 1, "fine_tune": 2, "score": 2 + 2 * 3 + 1, "tabulate": 1,
    }  # fmt: skip


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


def test_one_training_for_an_encoder_and_a_seed_answers_the_tests_of_all_languages(study):
    planned = jobs(study.snakemake("-n", TUNED_TABLE))
    # Two seeds of each task, whichever languages are tested; a score for each task and language.
    assert {rule: planned[rule] for rule in ("tune_encoder", "score")} == {"tune_encoder": 2 * 2, "score": 2 * 2}
    config = study.edit({"languages": {"swh": {}}, "classifiers/limited": None}, target="one.yaml")
    one = jobs(study.snakemake("-n", TUNED_TABLE, config=config))
    assert {rule: one[rule] for rule in ("tune_encoder", "score")} == {"tune_encoder": 2 * 2, "score": 2}


def test_encoders_are_tuned_and_every_cell_has_an_interval(study):
    done = study.snakemake(TUNED_TABLE)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    table = pd.read_csv(study.root / TUNED_TABLE)
    assert {*zip(table["column"], table["language"], strict=True)} == {
        (column, language) for column in TUNED for language in ("hau", "swh", "avg")
    }
    assert (table["seeds"] == 2).all(), "an encoder that is not trained has a head for each seed"
    assert table["value"].between(0, 100).all() and table["low"].notna().all()
    folder = study.root / "results/nearest/classifiers/tuned/tiny-bert/published/mul"
    assert {str(file.relative_to(folder)) for file in folder.rglob("*.*")} == {
        f"{task}/eng/{seed}/{name}"
        for task in ("own-news", "own-qa")
        for seed in (1, 2)
        for name in ("labels.tsv", "seedbed.json")
    }
    gold = pd.read_csv(study.root / "own/hau.labelled.test.tsv", sep="\t")["label"]
    score = json.loads((study.root / "results/nearest/scores/tiny-bert/published/mul/1/own-news/hau.json").read_text())
    unseen = (gold == "contradiction").sum()
    assert score["n"] == len(gold) - unseen and score["metrics"]["unseen"] == unseen > 0
    assert "no training text has their label (contradiction)" in score["notes"][0]
    answers = pd.read_csv(
        study.root / "results/nearest/scores/tiny-bert/published/mul/2/own-qa/swh.items.tsv", sep="\t"
    )
    assert list(answers) == ["id", "gold", "predicted", "f1", "exact_match"] and len(answers) == 24
    assert nothing_to_do(study.snakemake("--dry-run", TUNED_TABLE))


def test_a_question_without_an_answer_costs_no_training(study):
    path = study.root / "own/swh.squad.json"
    before = path.read_text()
    squad = json.loads(before)
    squad["data"][0]["paragraphs"][3]["qas"][0]["answers"] = []
    path.write_text(json.dumps(squad))
    done = study.snakemake(TUNED_TABLE)
    path.write_text(before)
    assert done.returncode == 1
    assert tells(done.stdout + done.stderr, "corpora/swh/own-qa.tsv: id '3' has no answer")
    assert not [*(study.root / "results/nearest/state").glob("**/checkpoint-*")]


FAULTS = {
    "own-knn/train": (None, "tasks.own-knn: no training set; protocol knn needs `train`, or `set_of` a task with one"),
    "own-knn-xl/train_language": ("swa", "not in the language registry"),
    "own-bitext/train_language": ("swh", "train_language: protocol bitext does not read it"),
    "own-bitext/k": ([5, 1], "numbers of neighbours, from 1, each once and ascending; found"),
    "own-knn/distance": ("manhattan", "euclidean"),
    "own-news/train": (None, "tasks.own-news: no training set; protocol tuned needs `train`"),
    "own-qa/fine_tuning": ({"epochs": 1}, "fine_tuning: protocol qa does not read it"),
    "own-qa/reading": ({"stride": 350}, "leave nothing new in a window of max_length 384; lower one"),
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
        ("own/hau.labelled.test.tsv", "neutral", "unheard", "no training sentence ... 'unheard'"),
        ("own/hau.labelled.test.tsv", "label\n", "class\n", "no column 'label'"),
    ],
)
def test_labels_that_cannot_be_voted_for(study, file, old, new, told):
    path = study.root / file
    before = path.read_text()
    path.write_text(before.replace(old, new))
    done = study.snakemake(TABLE)
    path.write_text(before)
    assert done.returncode == 1 and tells(done.stdout + done.stderr, told)

"""In-context classification from labelled texts to a table: zero-shot, one-shot, farther shots, another language's."""

import json

import pandas as pd
import pytest
import yaml

from seedbed.io import read_table
from tests import tiny
from tests.workflow.conftest import STUDY, copy_project
from tests.workflow.test_graph import nothing_to_do, planned

LABELS = ("bad", "fair", "good")
RETRIEVER = {"retriever": {"backbone": "tiny-bert", "recipe": "published"}}
ICL = {
    key: STUDY[key] for key in ("results", "seeds", "languages", "backbones", "generators")
} | {
    "recipes": {"published": {}},
    "classifiers": {
        "likely": {"generator": "tiny", "in_context": {**RETRIEVER, "bos": True, "variants": {"far": {"percentile": 50}}}},
        "written": {"generator": "tiny", "in_context": {**RETRIEVER, "answer": "generation", "instruct": True}},
    },
    "tasks": {
        "own-knn": {"protocol": "knn", "distance": "euclidean", "source": {"file": "own/{lang}.test.tsv"}, "train": {"file": "own/{lang}.train.tsv"}},
        "own-icl": {"protocol": "icl", "distance": "euclidean", "set_of": "own-knn", "instruction": "Generate a topic label for a given input."},
        "own-icl-xl": {"protocol": "icl", "distance": "euclidean", "set_of": "own-knn", "train_language": "eng"},
    },
    "statistics": {"resamples": 100, "baseline": "published"},
    "tables": [],
    "figures": [],
}  # fmt: skip
TABLE = {
    "title": "In context",
    "caption": "Tiny.",
    "columns": [
        {"label": "Mono", "protocol": "icl", "metric": "accuracy", "tasks": ["own-icl"]},
        {"label": "Mono, F1", "protocol": "icl", "metric": "macro f1", "tasks": ["own-icl"]},
        {"label": "XL", "protocol": "icl", "metric": "accuracy", "tasks": ["own-icl-xl"], "recipes": ["zero-shot", "one-shot"]},
    ],
    "recipes": {"zero-shot": "Zero-shot", "one-shot": "One-shot", "far": "One-shot, median"},
    "baseline": "zero-shot",
}  # fmt: skip
TARGET = "results/own/tables/icl.csv"
JOBS = {
    # the test set and two training sets
    "fetch_corpus": 3,
    "fetch_model": 2,
    "train_encoder": 1,
    # both with and without a shot, of both tasks at once; farther shots of one in one task
    "score_classifier": 2 * 2 + 1,
    "tabulate": 1,
}


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """A study of classifiers that learn in context, and a table of it."""
    project = copy_project(tmp_path_factory.mktemp("icl"), ICL)
    for lang in ("hau", "eng"):
        for part, count, seed in (("train", 18, 0), ("test", 12, 1)):
            rows = {"id": range(count), "text": tiny.sentences(lang, count, seed)}
            rows["label"] = [LABELS[number % 3] for number in range(count)]
            pd.DataFrame(rows).to_csv(project.root / f"own/{lang}.{part}.tsv", sep="\t", index=False)
    (project.root / "resources/tables/icl.yaml").write_text(yaml.safe_dump(TABLE, sort_keys=False))
    return project


def test_a_study_in_context_is_planned_as_computed_by_hand(shown):
    done = shown.snakemake("--dry-run", "-p", TARGET)
    assert planned(done) == JOBS
    commands = [line for line in (done.stdout + done.stderr).splitlines() if "scripts.score_classifier" in line]
    assert len(commands) == JOBS["score_classifier"]
    for command in commands:
        shots = "--shots 1" in command
        assert ("--retriever results/own/encoders/tiny-bert/published/mul/0" in command) is shots
        both = "--output results/own/scores/likely/far/" not in command
        assert ("--trains own-icl=results/own/corpora/hau/own-knn_train.tsv" in command) is True
        assert ("own-icl-xl=results/own/corpora/eng/own-knn_train.tsv" in command) is both


def test_from_labelled_texts_to_a_table(shown):
    done = shown.snakemake(TARGET)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
    results = shown.root / "results/own"
    table = pd.read_csv(results / "tables/icl.csv")
    of_hausa = table[table["language"] == "hau"]
    # three variants of one and two of the other in two columns, two of each in the third
    assert len(of_hausa) == 2 * (3 + 2) + 2 * 2 and (of_hausa["n"] == 12).all()
    assert of_hausa["value"].between(0, 100).all()
    for classifier, column in (("likely", "probability"), ("written", None)):
        for variant in ("zero-shot", "one-shot"):
            folder = results / f"scores/{classifier}/{variant}/mul/0/own-icl"
            score, items = json.loads((folder / "hau.json").read_text()), read_table(folder / "hau.items.tsv", ["id"])
            assert score["protocol"] == "icl" and score["n"] == len(items) == 12
            assert score["main_score"] == pytest.approx((items["gold"] == items["predicted"]).mean(), abs=1e-6)
            assert score["metrics"]["unanswered"] == (items["predicted"] == "").sum()
            assert (score["classifier"]["retriever"] is None) is (variant == "zero-shot")
            assert ("probability" in items) is (column is not None)
    # A text is encoded once: all three training and test sets lie in one store.
    assert len(list((results / "state/embeddings").iterdir())) == 1
    assert nothing_to_do(shown.snakemake("--dry-run", TARGET))


FAULTS = [
    ({"classifiers/likely/generator": "", "classifiers/likely/backbone": "tiny-bert"}, "in_context: an encoder reads no prompts; give a `generator`"),
    ({"classifiers/likely/in_context/retriever/backbone": "tiny"}, "in_context.retriever.backbone: no backbone 'tiny'; did you mean 'tiny-bert'?"),
    ({"classifiers/likely/in_context/retriever/recipe": "base"}, "in_context.retriever.recipe: no recipe 'base'; known: published"),
    ({"classifiers/likely/in_context/shots": 0}, "config.classifiers.likely.in_context.shots: Input should be greater than 0"),
    ({"classifiers/likely/in_context/balance": True}, "variants.far.percentile: it is of texts of all labels; leave out `balance`"),
    ({"classifiers/likely/in_context/variants/zero-shot": {}}, "variants: zero-shot is there anyway; give it another name"),
    ({"classifiers/likely/in_context/variants/far/retriever": {"backbone": "tiny", "recipe": "published"}}, "in_context.variants.far.retriever.backbone: no backbone 'tiny'; did you mean 'tiny-bert'?"),
    ({"generators/tiny/backend": "vllm"}, "classifiers.likely.in_context.answer: backend vllm of tiny has no likelihoods of labels"),
    ({"tasks/own-knn/train": None}, "tasks.own-knn: no training set; protocol knn needs `train`"),
    ({"tasks/own-icl/set_of": ""}, "tasks.own-icl: no training set; protocol icl needs `train`"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "message"), FAULTS, ids=[message[:50] for _, message in FAULTS])
def test_a_wrong_configuration_stops_at_once(shown, changes, message):
    done = shown.snakemake("--dry-run", TARGET, config=shown.edit(changes, target="bad.yaml"))
    errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert done.returncode == 1 and len(errors) == 1 and message in errors[0], done.stderr

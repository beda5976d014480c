"""In-context classification from labelled texts to a table: zero-shot, one-shot, farther shots, another language's."""

import json
from http.server import BaseHTTPRequestHandler
from typing import ClassVar

import pandas as pd
import pytest
import yaml

from seedbed.io import read_table
from tests import tiny
from tests.refusals import tells
from tests.serving import Serving
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
        "served": {"generator": "server", "in_context": {**RETRIEVER, "answer": "generation", "instruct": True}},
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
SERVED = "results/own/scores/served/all/mul/mul.all.json"
JOBS = {
    # the test set and two training sets
    "fetch_corpus": 3,
    "fetch_model": 2,
    "train_encoder": 1,
    # all three with and without a shot; farther shots of one
    "describe_classifier": 2 * 3 + 1,
    # with and without a shot in one job, of both tasks at once; farther shots in one task
    "score": 3 + 1,
    "plan_table": 1,
    "tabulate": 1,
}


class Handler(BaseHTTPRequestHandler):
    """Says of every text that it is good."""

    asked: ClassVar[list[str]] = []

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert self.path == "/v1/chat/completions" and body["model"] == "m"
        self.asked.append(body["messages"][0]["content"])
        choice = {"message": {"role": "assistant", "content": "Good"}, "finish_reason": "stop"}
        answer = json.dumps({"choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def server():
    """A model that takes messages."""
    with Serving(("127.0.0.1", 0), Handler) as server:
        yield {
            "backend": "openai-chat",
            "endpoint": f"http://127.0.0.1:{server.server_port}/v1",
            "served_model": "m",
        }


@pytest.fixture(scope="module")
def shown(tmp_path_factory, server):
    """A study of classifiers that learn in context, and a table of it."""
    study = ICL | {"generators": ICL["generators"] | {"server": server}}
    project = copy_project(tmp_path_factory.mktemp("icl"), study)
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
    told = (done.stdout + done.stderr).splitlines()
    described, scored = (
        [line for line in told if f"scripts.{rule} " in line] for rule in ("describe_classifier", "score")
    )
    assert (len(described), len(scored)) == (JOBS["describe_classifier"], JOBS["score"])
    for command in described:
        assert ('"base": ' in command) is ("openai-chat" not in command)
        assert ('"retriever": "results/own/encoders/tiny-bert/published/mul/0"' in command) is ('"count": 1' in command)
    for command in scored:
        both = '"output": "results/own/scores/likely/all/mul/mul.own-icl.json"' not in command
        assert '"hau/own-icl": "results/own/corpora/hau/own-knn_train.tsv"' in command
        assert ('"hau/own-icl-xl": "results/own/corpora/eng/own-knn_train.tsv"' in command) is both
        assert (command.count("/zero-shot/mul/0"), command.count("/far/mul/0")) == ((2, 0) if both else (0, 2))


def test_a_classifier_is_described_after_the_encoder_that_finds_its_examples(shown):
    target = "results/own/classifiers/likely/far/mul/0/seedbed.json"
    jobs = {"fetch_model": 2, "train_encoder": 1, "describe_classifier": 1}
    assert planned(shown.snakemake("--dry-run", target)) == jobs


def test_from_labelled_texts_to_a_table(shown):
    done = shown.snakemake(TARGET)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
    results = shown.root / "results/own"
    table = pd.read_csv(results / "tables/icl.csv")
    of_hausa = table[table["language"] == "hau"]
    # three variants of one and two of the others in two columns, two of each in the third
    assert len(of_hausa) == 2 * (3 + 2 + 2) + 3 * 2 and (of_hausa["n"] == 12).all()
    assert of_hausa["value"].between(0, 100).all()
    for classifier, column in (("likely", "probability"), ("written", None), ("served", None)):
        for variant in ("zero-shot", "one-shot"):
            folder = results / f"scores/{classifier}/{variant}/mul/0/own-icl"
            score, items = json.loads((folder / "hau.json").read_text()), read_table(folder / "hau.items.tsv", ["id"])
            assert score["protocol"] == "icl" and score["n"] == len(items) == 12
            assert score["main_score"] == pytest.approx((items["gold"] == items["predicted"]).mean(), abs=1e-6)
            assert score["metrics"]["unanswered"] == (items["predicted"] == "").sum()
            assert (score["classifier"]["retriever"] is None) is (variant == "zero-shot")
            assert ("probability" in items) is (column is not None)
            if classifier == "served":
                assert score["main_score"] == pytest.approx(1 / 3, abs=1e-6) and set(items["predicted"]) == {"good"}
                assert score["classifier"]["generator"]["served_model"] == "m"
    assert not (results / "generators/server").exists(), "nothing is fetched of what a server has"
    assert {folder.name for folder in (results / "state").iterdir()} == {"embeddings", "answers"}
    # A text is encoded once: all three training and test sets lie in one store.
    assert len(list((results / "state/embeddings").iterdir())) == 1
    assert nothing_to_do(shown.snakemake("--dry-run", TARGET))


def test_what_a_server_has_answered_it_is_not_asked_again(shown):
    asked = len(Handler.asked)
    assert asked == (3 + 1) * 12 and len({*Handler.asked}) == asked  # two variants, two instructions
    fewer = shown.edit({"generators/server/batch_size": 3}, target="fewer.yaml")
    assert nothing_to_do(shown.snakemake("--dry-run", TARGET, config=fewer))
    assert planned(shown.snakemake("--force", SERVED, config=fewer)) == {"score": 1}
    assert len(Handler.asked) == asked


def test_a_language_more_is_asked_for_alone_and_an_edited_text_too(shown):
    before = {file: file.read_bytes() for file in (shown.root / "results/own/scores/served").rglob("hau.*")}
    for part, count, seed in (("train", 18, 2), ("test", 12, 3)):
        rows = {"id": range(count), "text": tiny.sentences("swh", count, seed)}
        rows["label"] = [LABELS[number % 3] for number in range(count)]
        pd.DataFrame(rows).to_csv(shown.root / f"own/swh.{part}.tsv", sep="\t", index=False)
    more = shown.edit({"languages/swh": {}}, target="more.yaml")
    asked = len(Handler.asked)
    assert planned(shown.snakemake(SERVED, config=more)) == {"fetch_corpus": 2, "score": 1}
    new = Handler.asked[asked:]
    texts = pd.read_csv(shown.root / "own/swh.test.tsv", sep="\t")["text"]
    assert len(new) == 4 * 12 and all(any(text in prompt for text in texts) for prompt in new)
    assert {file: file.read_bytes() for file in before} == before
    test = shown.root / "own/hau.test.tsv"
    test.write_text(
        test.read_text().replace(Handler.asked[0].rpartition("Input:")[2].partition(" Prediction")[0], "Kai!")
    )
    asked = len(Handler.asked)
    assert planned(shown.snakemake(SERVED, config=more)) == {"fetch_corpus": 1, "score": 1}
    assert len(Handler.asked) == asked + 4 and all("Kai!" in prompt for prompt in Handler.asked[asked:])


FAULTS = [
    ({"classifiers/likely/generator": "", "classifiers/likely/backbone": "tiny-bert"}, "in_context: an encoder ... give a `generator`"),
    ({"classifiers/likely/in_context/retriever/backbone": "tiny"}, "in_context.retriever.backbone: ... 'tiny' ... 'tiny-bert'"),
    ({"classifiers/likely/in_context/retriever/recipe": "base"}, "in_context.retriever.recipe: no recipe 'base'; known: published"),
    ({"classifiers/likely/in_context/shots": 0}, "config.classifiers.likely.in_context.shots: ... greater ... 0"),
    ({"classifiers/likely/in_context/balance": True}, "variants.far.percentile: ... leave out `balance`"),
    ({"classifiers/likely/in_context/variants/zero-shot": {}}, "variants: zero-shot is there anyway"),
    ({"classifiers/likely/in_context/variants/far/retriever": {"backbone": "tiny", "recipe": "published"}}, "in_context.variants.far.retriever.backbone: ... 'tiny' ... 'tiny-bert'"),
    ({"classifiers/served/in_context/answer": "likelihood"}, "classifiers.served.in_context.answer: ... openai-chat ... no likelihoods"),
    ({"tasks/own-knn/train": None}, "tasks.own-knn: no training set; ... `train`"),
    ({"tasks/own-icl/set_of": ""}, "tasks.own-icl: no training set; ... `train`"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "message"), FAULTS, ids=[message[:50] for _, message in FAULTS])
def test_a_wrong_configuration_is_told_in_one_line(shown, changes, message):
    assert tells(shown.refusal(shown.edit(changes, target="bad.yaml"), TARGET), message)

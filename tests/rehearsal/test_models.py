"""Every model of the papers' studies, as they are shipped, is fetched from the replica and opened; in part opt-in."""

import json
import math
import os
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

from seedbed import yamls
from seedbed.encoders.prompts import CONFIG, read_prompts
from seedbed.generators.writing.backends import Request, open_backend
from seedbed.generators.writing.judge import numbers
from seedbed.generators.writing.prompts import judging_prompts, prompter, translation_prompt, without_thoughts
from seedbed.languages import registry
from seedbed.study.loading import load
from tests.rehearsal import replica
from tests.rehearsal.cutting import PAPERS
from tests.rehearsal.hub import Replica
from tests.rehearsal.models import repository
from tests.rehearsal.opening import models

STUDIES = [paper.config for paper in PAPERS.values()]


def named(config):
    return {model.source.hub for model in models(load(yamls.read(config)))}


def test_the_table_has_the_models_that_the_studies_name_and_no_others():
    assert {*replica.models()} == set().union(*map(named, STUDIES))


def test_the_table_says_where_from_and_how_large():
    for name, entry in replica.models().items():
        assert entry["documented"] and "confirmed" in entry and entry["size"]["bytes"] > 10**8, name


@pytest.fixture(scope="module")
def generator(tmp_path_factory):
    """Paper 000's, opened."""
    name = "google/gemma-3-27b-it"
    folder = tmp_path_factory.mktemp("generator")
    for path, data in repository(name, replica.models()[name]).files.items():
        (folder / path).write_bytes(data)
    settings = load(yamls.read(STUDIES[0])).generators["gemma-3-27b"]
    return open_backend(settings.model_copy(update={"backend": "transformers"}), folder)


@pytest.mark.parametrize("method", ["prompting", "composition"])
@pytest.mark.parametrize("lang", ["afr", "tel", "kor", "eng"])
def test_a_generator_writes_sentences_of_the_language_that_it_is_asked_for(generator, method, lang):
    """Which the checks of triplets then keep, all of which are on."""
    ask = prompter(method, registry()[lang]["name"], "chat", 0)
    premises = [replica.sentence("hin", "premise", row) for row in range(32)]
    requests = [
        Request(str(row), generator.encode(ask(str(row), text, "positive"))) for row, text in enumerate(premises)
    ]
    assert max(len(request.prompt) for request in requests) <= generator.sampling.max_prompt_tokens
    written = [one for one in generator.write(requests, None) if one.text.strip()]
    assert len(written) > 24 and all(one.finished and replica.is_in(one.text, lang) for one in written)
    assert 4 < sum(len(one.text.split()) for one in written) / len(written) < 16


@pytest.fixture(scope="module")
def lira():
    return load(yamls.read(PAPERS["002"].config))


@pytest.fixture
def greedy(lira, tmp_path):
    """Opens one of paper 002's generators, which writes the likeliest tokens."""

    def opened(name):
        settings = lira.generators[name].greedy()
        for path, data in repository(settings.source.hub, replica.models()[settings.source.hub]).files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_bytes(data)
        fewer = settings.sampling.model_copy(update={"max_new_tokens": 24})
        return open_backend(settings.model_copy(update={"backend": "transformers", "sampling": fewer}), tmp_path)

    return opened


TOLD = {"qwen3-32b": without_thoughts, "r1-32b": without_thoughts, "gemma-2-27b": str.strip}


@pytest.mark.parametrize("name", TOLD)
def test_a_translator_writes_english_of_its_own_for_each_text(greedy, name):
    backend = greedy(name)
    asked = [translation_prompt(replica.sentence("swh", "x", row), "Swahili", "English", "chat") for row in range(24)]
    done = [*backend.write([Request(str(row), backend.encode(text)) for row, text in enumerate(asked)], None)]
    written = [TOLD[name](one.text) for one in done if one.finished]
    assert len(written) > 18 and len({*written}) > 4
    assert all(len(text.split()) == 6 and replica.is_in(text, "eng") for text in written)


def test_a_judge_says_three_numbers(greedy):
    backend = greedy("qwen2.5-72b")
    asked = [
        judging_prompts(
            replica.sentence("swh", "x", row), replica.sentence("eng", "y", row), "Swahili", "English", "chat"
        )
        for row in range(24)
    ]
    done = [*backend.write([Request(str(row), backend.encode(one["numbers"])) for row, one in enumerate(asked)], None)]
    scores = [numbers(one.text) for one in done]
    assert sum(math.isfinite(score[0]) for score in scores) > 18 and len({*scores}) > 4


def test_an_encoder_has_its_prompts_in_its_own_file(tmp_path):
    name = "Qwen/Qwen3-Embedding-0.6B"
    (tmp_path / CONFIG).write_bytes(repository(name, replica.models()[name]).files[CONFIG])
    prompts = read_prompts(tmp_path)
    assert prompts.query.startswith("Instruct: ") and prompts.query.endswith("\nQuery:")
    assert prompts.document == prompts.text == "" and prompts.differ
    study = load(yamls.read(PAPERS["002"].config))
    assert study.backbones["Qwen3-Embedding-0.6B"].prompts is None, "the study has none of its own"


def asked(server, path):
    with urllib.request.urlopen(server.url + path) as answer:
        return answer.read()


def test_the_server_has_a_model_at_its_branch_and_at_its_commit():
    name, entry = "bigscience/mt0-xl", replica.models()["bigscience/mt0-xl"]
    with Replica() as server:
        told = json.loads(asked(server, f"/api/models/{name}"))
        assert told["sha"] == entry["revision"]
        assert told == json.loads(asked(server, f"/api/models/{name}/revision/{entry['revision']}"))
        files = {one["rfilename"] for one in told["siblings"]}
        assert {"pytorch_model-00002-of-00002.bin", "spiece.model", "config.json"} <= files
        assert not {file for file in files if file.endswith(".safetensors")}
        for revision in ("main", entry["revision"]):
            assert json.loads(asked(server, f"/{name}/resolve/{revision}/config.json"))["model_type"] == "mt5"
        for path in (
            f"/{name}/resolve/main/model.safetensors",
            f"/{name}/resolve/refs%2Fpr%2F2/config.json",
            "/api/models/mteb/belebele",
        ):
            with pytest.raises(urllib.error.HTTPError, match="404"):
                asked(server, path)


@pytest.fixture(scope="module", params=STUDIES)
def opened(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    with Replica() as server:
        environment = os.environ | {"HF_ENDPOINT": server.url, "HF_HUB_OFFLINE": "0", "HF_HOME": str(folder / "hub")}
        command = [sys.executable, "-m", "tests.rehearsal.opening", "--config", request.param, "--folder", str(folder)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    found = [json.loads(line) for line in (folder / "opened.jsonl").open()]
    assert {one["hub"] for one in found} == named(request.param)
    return found


@pytest.mark.rehearsal
def test_every_model_can_be_fetched_and_used(opened):
    assert {one["hub"]: one["error"] for one in opened if "error" in one} == {}
    for one in opened:
        if "numbers" in one:
            assert any(one["numbers"]) and all(map(math.isfinite, one["numbers"])), one["hub"]
            continue
        assert isinstance(one["text"], str), one["hub"]
        if replica.models()[one["hub"]].get("answers") in ("english", "thought"):
            words = one["text"].removeprefix("</think>")
            assert one["finished"] and words and replica.is_in(words, "eng"), one["hub"]

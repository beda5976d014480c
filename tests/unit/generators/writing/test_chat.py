"""A server that takes messages: what it is sent, how it may fail, and that nothing it answered is lost."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from scripts import synthesise
from seedbed.classifiers.answers import Answers
from seedbed.classifiers.in_context import Query, open_greedy, predict_labels, request_key
from seedbed.generators.settings import Answering, Generator
from seedbed.generators.writing import prompts
from seedbed.generators.writing.backends import Completion, Request, open_backend, stream
from seedbed.generators.writing.backends import openai as module
from seedbed.generators.writing.journal import Journal, answers
from seedbed.generators.writing.triplets import complete
from seedbed.io import UserError, read_table
from seedbed.triplets.shards import write_shard
from tests.programs import call
from tests.refusals import tells
from tests.serving import Serving

LABELS = ["negative", "neutral", "positive"]
INSTRUCTION = "Generate a sentiment label for a given input."
QUERIES = [Query(str(number), f"text {number}", (("I like cats", "positive"),)) for number in range(9)]
HOW = Answering(answer="generation", instruct=True, max_new_tokens=64)


class Server(Serving):
    """Says the last word of a message; what it says to messages with a given word is set by a test."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.bodies: list[dict] = []
        self.keys: list[str | None] = []
        self.special: dict[str, Any] = {}
        """Word of a message -> status and answer; or seconds of silence."""
        self.lock = threading.Lock()
        self.over = threading.Event()


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text, server = body["messages"][-1]["content"], self.server
        with server.lock:
            server.bodies.append(body | {"path": self.path})
            server.keys.append(self.headers["Authorization"])
            found = next((value for word, value in server.special.items() if word in text), None)
            if isinstance(found, list):  # one after the other
                found = found.pop(0) if found else None
        if isinstance(found, float):
            server.over.wait(found)
            return
        status, answer = found or (200, said(text.split()[-1]))
        payload = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, *_: Any) -> None:
        pass


def said(content: str | None, reason: str = "stop", **more: Any) -> dict:
    message = {"role": "assistant", "content": content, **more}
    return {"choices": [{"index": 0, "message": message, "finish_reason": reason}]}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("CHAT_KEY", "sk-secret")
    init = module.ChatBackend.__init__

    def quick(self: Any, *given: Any) -> None:
        init(self, *given)
        self.wait = 0.001

    monkeypatch.setattr(module.ChatBackend, "__init__", quick)
    with Server() as server:
        yield server
        server.over.set()


def settings(server: Server, **changes: Any) -> Generator:
    endpoint = f"http://127.0.0.1:{server.server_port}/v1/"
    fixed = {"backend": "openai-chat", "endpoint": endpoint, "served_model": "gpt", "key": "CHAT_KEY", "batch_size": 4}
    return Generator.model_validate(fixed | changes)


def test_labels_are_asked_for_as_minerss_code_asks(server: Server) -> None:
    server.special = {
        f"text {n}": (200, said(label)) for n, label in enumerate(["Positive", "negative\nInput:", "bad"])
    }
    found = label(settings(server), QUERIES[:3])
    assert found.labels == ["positive", "negative", ""] and found.probabilities is None and found.cut == 0
    for number, body in enumerate(sorted(server.bodies, key=str)):
        text = prompts.with_shots(f"text {number}", QUERIES[0].shots, INSTRUCTION, options=LABELS, only_label=True)
        assert body == {
            "path": "/v1/chat/completions", "model": "gpt", "messages": [{"role": "user", "content": text}],
            "temperature": 0, "top_p": 1, "max_tokens": 64, "seed": 42,
        }  # fmt: skip
    assert set(server.keys) == {"Bearer sk-secret"}


def test_no_prompt_is_too_long_but_for_the_server(server: Server) -> None:
    long = [Query("1", "word " * 5000 + "positive", QUERIES[0].shots)]
    assert label(settings(server), long).cut == 0
    refusal = {"error": {"message": "This model's maximum context length is 100 tokens.\nReduce it."}}
    server.special = {"word": (400, refusal)}
    assert label(settings(server), [*QUERIES, *long]).labels[-1] == "", "it has no answer, and the others have"


def test_what_is_drawn_has_a_stream_of_its_own_and_limits_that_say_something(server: Server) -> None:
    sampling = {"temperature": 0.7, "top_p": 0.9, "top_k": 0, "max_new_tokens": 5}
    for changes, others in [({}, set()), ({"top_k": 3, "repetition_penalty": 1.2}, {"top_k", "repetition_penalty"})]:
        backend = open_backend(settings(server, sampling=sampling | changes), None)
        assert list(backend.write([Request("a", "one two")], None)) == [Completion("a", "two", finished=True)]
        body = server.bodies.pop()
        assert {*body} - {"path", "model", "messages", "temperature", "top_p", "max_tokens", "seed"} == others
        assert (body["seed"], body["max_tokens"], body["temperature"]) == (stream(42, "a"), 5, 0.7)


def label(generator: Generator, queries: list[Query], how: Answering = HOW, state: Path | None = None) -> Answers:
    with answers(state, request_key(generator, "", LABELS, how, "eng")) as journal:
        return predict_labels(partial(open_greedy, generator, None, how), queries, LABELS, INSTRUCTION, how, journal)


ANSWERS = [
    (said("so far", "length"), Completion("a", "so far", finished=False)),
    (said("", "stop"), Completion("a", "", finished=False)),
    (said(None, "content_filter"), Completion("a", "", finished=False)),
    (said(None, "stop", refusal="I cannot."), Completion("a", "", finished=False)),
    (said("half a \ud83d"), Completion("a", "half a \ufffd", finished=True)),
]


@pytest.mark.parametrize(("answer", "wanted"), ANSWERS)
def test_answers_of_every_kind(server: Server, answer: dict, wanted: Completion) -> None:
    server.special = {"x": (200, answer)}
    assert list(open_backend(settings(server), None).write([Request("a", "x")], None)) == [wanted]


FAULTS = [
    ((200, {"choices": []}), "no `choices` ... `backend: openai-chat`"),
    ((200, {"error": {"message": "none"}}), "an error in its answer: ... none"),
    ((200, said("so", "error")), "broke off (finish_reason 'error')"),
    ((404, {"error": "\x1b[31m\x07red"}), "404 Not Found: "),
    ((200, ["?"]), "no `choices` in its answer"),
    ((200, {"choices": [{"text": "positive", "finish_reason": "stop"}]}), "no `message` in its answer"),
    ((200, said(None)), "no text (finish_reason 'stop')"),
    ((200, said(None, "tool_calls")), "no text (finish_reason 'tool_calls')"),
    ((200, said("", "length")), "nothing written in 128 tokens; ... `max_new_tokens`"),
    ((401, {"error": {"message": "Incorrect API key sk-secret"}}), "401 Unauthorized ... CHAT_KEY"),
    ((404, {"error": {"message": "The model `gpt` does not exist"}}), "404 Not Found: "),
    (
        (400, {"error": {"message": "Unrecognized request argument supplied: top_k"}}),
        "request argument supplied: top_k",
    ),
    ((429, {"error": {"message": "You exceeded your current quota"}}), "429 Too Many Requests: "),
]


@pytest.mark.parametrize(("answer", "message"), FAULTS, ids=[message[:40] for _, message in FAULTS])
def test_a_fault_is_one_line(server: Server, answer: tuple, message: str) -> None:
    server.special = {"": answer}
    with pytest.raises(UserError) as caught:
        list(open_backend(settings(server), None).write([Request("a", "x")], None))
    text = str(caught.value)
    assert text.startswith(f"http://127.0.0.1:{server.server_port}/v1/chat/completions: model 'gpt': ")
    assert tells(text, message) and text.isprintable() and "sk-secret" not in text


def test_a_busy_server_is_asked_again(server: Server) -> None:
    server.special = {"x": [(429, {}), (503, {}), (200, {"error": {"code": 502, "message": "provider"}})]}
    (made,) = open_backend(settings(server), None).write([Request("a", "x y")], None)
    assert made.text == "y" and len(server.bodies) == 4


def test_a_server_that_hangs_is_given_up_at_its_limit(server: Server) -> None:
    server.special = {"": 60.0}
    begun = time.monotonic()
    with pytest.raises(UserError, match=r"model 'gpt':.*0\.3.*raise `timeout`"):
        list(open_backend(settings(server, timeout=0.3), None).write(MANY, None))
    assert time.monotonic() - begun < 3 and len(server.bodies) <= 8, "what was under way, once"
    assert settings(server).timeout <= 110


def test_a_request_that_is_lost_while_others_are_answered_is_asked_again(server: Server) -> None:
    server.special = {"text 3.": [60.0, (504, {})]}
    found = list(open_backend(settings(server, timeout=0.3), None).write(MANY, None))
    assert len(found) == len(MANY) and not any(one.refused for one in found) and len(server.bodies) == len(MANY) + 2


REFUSALS = [(status, {"error": {"message": "no"}}) for status in (400, 403, 413, 422)]
REFUSALS += [(200, {"choices": []}), (200, said(None)), (200, said("so", "abort")), (200, {"error": {"message": "no"}})]
MANY = [Request(str(number), f"text {number}. yes") for number in range(60)]
FEW = MANY[:12]


@pytest.mark.parametrize("refusal", REFUSALS, ids=str)
@pytest.mark.parametrize(("batch_size", "number"), [(1, 0), (1, 11), (4, 6), (64, 0)])
def test_one_text_that_is_refused_stops_nothing(server: Server, refusal: tuple, batch_size: int, number: int) -> None:
    server.special = {f"text {number}.": refusal}
    found = {one.id: one for one in open_backend(settings(server, batch_size=batch_size), None).write(FEW, None)}
    assert len(found) == len(FEW) and len(server.bodies) <= len(FEW) + 1
    assert found.pop(str(number)) == Completion(str(number), "", finished=False, refused=True)
    assert all(one.text == "yes" and one.finished and not one.refused for one in found.values())


@pytest.mark.parametrize("refusal", REFUSALS, ids=str)
def test_a_server_that_refuses_all_is_told_at_once(server: Server, refusal: tuple) -> None:
    server.special = {"": refusal}
    with pytest.raises(UserError, match="model 'gpt'"):
        list(open_backend(settings(server), None).write(MANY, None))
    assert len(server.bodies) <= 5, "what was under way, and a greeting"


def test_a_server_that_comes_to_refuse_all_is_told_and_nothing_is_lost(server: Server, tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    server.special = {f"text {number}.": (400, {"error": {"message": "no credit"}}) for number in range(30, 60)}
    server.special["Hello"] = (400, {})
    with pytest.raises(UserError, match="400 Bad Request: .*no credit"):
        journal.keep(open_backend(settings(server, batch_size=1), None).write(MANY, None))
    assert sorted(map(int, Journal(journal.path).done)) == [*range(30)]


def test_refused_texts_are_asked_for_again_by_the_next_job(server: Server, tmp_path: Path) -> None:
    server.special = {"text 6": (400, {"error": {"message": "no"}})}
    assert label(settings(server), QUERIES, state=tmp_path).labels[6] == ""
    server.special, server.bodies = {}, []
    label(settings(server), QUERIES, state=tmp_path)
    assert len(server.bodies) == 1


def test_answers_before_a_fault_are_kept_and_not_asked_for_again(server: Server, tmp_path: Path) -> None:
    server.special = {"text 6": (404, {"error": {"message": "no"}})}
    with pytest.raises(UserError, match="404 Not Found"):
        label(settings(server), QUERIES, state=tmp_path)
    (journal,) = tmp_path.glob("answers/*.jsonl")
    kept = Journal(journal).done
    # All before it, and those that were under way with it.
    assert 6 <= len(kept) < len(QUERIES)
    assert len(server.bodies) == len(kept) + 1, "what was asked and answered is kept"
    server.special, server.bodies = {}, []
    again = label(settings(server, batch_size=1), QUERIES, state=tmp_path)
    assert len(server.bodies) == len(QUERIES) - len(kept) and len(again.labels) == len(QUERIES)
    for changes in ({"served_model": "other"}, {"sampling": {"seed": 7}}):
        server.bodies = []
        label(settings(server, **changes), QUERIES, state=tmp_path)
        assert len(server.bodies) == len(QUERIES)


def test_triplets_are_written_too(server: Server, tmp_path: Path) -> None:
    anchors = pd.DataFrame({"id": ["1", "2"], "text": ["A b.", "C d."]})
    generator = settings(server)
    made = complete(
        open_backend(generator, None), anchors, lambda row, text, polarity: f"{polarity} {row}-{polarity}",
        {"positive": None, "negative": None}, generator=generator, weights="", state=tmp_path / "state",
    )  # fmt: skip
    write_shard(made, "gpt", "prompting", tmp_path / "out.tsv")
    table = read_table(tmp_path / "out.tsv", [])
    assert list(table["negative"]) == ["1-negative", "2-negative"] and set(table["positive_finished"]) == {"true"}


def test_its_answers_outlive_a_job_whose_shard_is_written(server: Server, tmp_path: Path) -> None:
    """A job runs again where its inputs were made anew, though they are the same; each answer may have been paid for."""
    anchors = tmp_path / "anchors.tsv"
    anchors.write_text("id\ttext\n1\tA b.\n2\tC d.\n", encoding="utf-8")
    words = ["--name", "gpt", "--generator", settings(server).dump(), "--method", "prompting", "--anchors", anchors]
    words += ["--state", tmp_path / "state", "--language"]
    call(synthesise, [*words, "Hausa", "--output", tmp_path / "one.tsv"])
    assert len(server.bodies) == 4
    call(synthesise, [*words, "Hausa", "--output", tmp_path / "two.tsv"])
    assert len(server.bodies) == 4 and (tmp_path / "one.tsv").read_bytes() == (tmp_path / "two.tsv").read_bytes()
    assert [folder.name for folder in (tmp_path / "state").iterdir()] == ["answers"]
    call(synthesise, [*words, "Igbo", "--output", tmp_path / "three.tsv"])
    assert len(server.bodies) == 8


def test_what_it_cannot_do_is_told(server: Server, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"openai-chat.*likelihoods.*set `answer: generation`"):
        label(settings(server), QUERIES, Answering())
    with pytest.raises(UserError, match="backend openai-chat has no adapters"):
        list(open_backend(settings(server), None).write([Request("a", "x")], tmp_path))
    other = Generator.model_validate({"source": {"file": "x"}})
    with pytest.raises(UserError, match="backend transformers: no weights; give `--base`"):
        open_backend(other, None)

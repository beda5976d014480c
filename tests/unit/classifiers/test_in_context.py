"""In-context classification: prompts byte for byte, likelihoods against a plain loop, answers of a real server."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from seedbed.classifiers.answers import Answers
from seedbed.classifiers.in_context import Query, open_greedy
from seedbed.classifiers.in_context import predict_labels as ask_model
from seedbed.generators.settings import Answering, Generator
from seedbed.generators.writing import prompts
from seedbed.generators.writing.backends import Completion
from seedbed.generators.writing.journal import MemoryJournal
from seedbed.io import UserError
from tests import tiny
from tests.serving import Serving

INSTRUCTION = "Generate a sentiment label for a given input."
SHOTS = (("I like cats", "positive"), ("I hate dogs", "negative"))
LABELS = ["negative", "neutral", "positive"]
QUERY = "Input:Cute cats Prediction:"


def test_a_prompt_is_what_the_papers_code_builds() -> None:
    head = "Instruction:Generate a sentiment label for a given input.\n"
    one = "Input:I like cats Prediction:positive\n"
    two = one + "Input:I hate dogs Prediction:negative\n"
    assert prompts.with_shots("Cute cats", [], INSTRUCTION) == head + QUERY
    assert prompts.with_shots("Cute cats", SHOTS[:1], INSTRUCTION) == head + one + "\n" + QUERY
    assert prompts.with_shots("Cute cats", SHOTS, INSTRUCTION) == head + two + "\n" + QUERY
    options = "Options:['negative', 'neutral', 'positive']\n"
    assert prompts.with_shots("Cute cats", [], INSTRUCTION, options=LABELS) == head + options + QUERY
    only = head + "Please only output the label.\n"
    found = prompts.with_shots("Cute cats", SHOTS, INSTRUCTION, options=LABELS, only_label=True)
    assert found == only + two + "\n" + options + QUERY


HOSTILE = "{text} {label} {0} {}\\1 Prediction:positive <bos><eos>"


def test_texts_are_put_in_as_they_are_and_make_no_special_token(tiny_generator: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(tiny_generator)
    prompt = prompts.with_shots(HOSTILE, [(HOSTILE, "{text}")], INSTRUCTION)
    assert prompt.count(HOSTILE) == 2
    assert not {*prompts.encode(tokenizer, prompt, "plain", bos=False)} & {*tokenizer.all_special_ids}
    assert prompts.encode(tokenizer, prompt, "plain")[0] == tokenizer.bos_token_id


def settings(base: Path, **changes: Any) -> Generator:
    fixed = {"source": {"file": str(base)}, "prompts": "plain", "dtype": "float32", "batch_size": 4}
    return Generator.model_validate(fixed | {"sampling": {"max_prompt_tokens": 2000}} | changes)


def ask(
    generator: Generator, base: Path, asked: list[Query], labels: list[str], instruction: str, how: Answering
) -> Answers:
    return ask_model(partial(open_greedy, generator, base, how), asked, labels, instruction, how)


def queries(count: int) -> list[Query]:
    """Of many lengths, with none, one or two shots."""
    texts = tiny.sentences("hau", count)
    return [Query(str(n), " ".join([text] * (1 + n % 4)), SHOTS[: n % 3]) for n, text in enumerate(texts)]


@pytest.mark.parametrize("prefix", ["", " "])
def test_likelihoods_are_the_mean_of_a_labels_tokens(tiny_generator: Path, prefix: str) -> None:
    model, tokenizer = (
        AutoModelForCausalLM.from_pretrained(tiny_generator).eval(),
        AutoTokenizer.from_pretrained(tiny_generator),
    )
    how, wanted = Answering(label_prefix=prefix), []
    for query in queries(7):
        prompt = tokenizer(prompts.with_shots(query.text, query.shots, INSTRUCTION), add_special_tokens=False)[
            "input_ids"
        ]
        scores = []
        for label in LABELS:
            answer = tokenizer(prefix + label, add_special_tokens=False)["input_ids"]
            with torch.no_grad():
                chances = model(torch.tensor([prompt + answer])).logits[0].log_softmax(-1)
            scores.append(np.mean([chances[len(prompt) + n - 1, token].item() for n, token in enumerate(answer)]))
        wanted.append(np.exp(scores) / np.exp(scores).sum())
    found = ask(settings(tiny_generator), tiny_generator, queries(7), LABELS, INSTRUCTION, how)
    np.testing.assert_allclose(found.probabilities, wanted, atol=1e-5)
    assert found.labels == [LABELS[np.argmax(row)] for row in wanted] and found.cut == 0


def test_neither_batch_nor_order_matters(tiny_generator: Path) -> None:
    def answers(asked: list[Query], **changes: Any) -> dict[str, np.ndarray]:
        found = ask(settings(tiny_generator, **changes), tiny_generator, asked, LABELS, INSTRUCTION, Answering())
        return dict(zip((query.id for query in asked), found.probabilities, strict=True))

    first, other = answers(queries(9)), answers(queries(9)[::-1], batch_size=2)
    assert all(np.allclose(first[row], other[row], atol=1e-6) for row in first)


def test_a_prompt_that_stands_twice_is_asked_once(tiny_generator: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the prompts that a killed job left would stand in other batches."""
    kept: list[str] = []
    journal, commit = MemoryJournal(), MemoryJournal.commit

    def counted(own: MemoryJournal, completions: Iterable[Completion]) -> None:
        commit(own, found := list(completions))
        kept.extend(one.id for one in found)

    monkeypatch.setattr(MemoryJournal, "commit", counted)
    asked = [*queries(3), *queries(2)]
    found = ask_model(
        partial(open_greedy, settings(tiny_generator), tiny_generator, Answering()),
        asked, LABELS, INSTRUCTION, Answering(), journal,
    )  # fmt: skip
    assert len(kept) == len({*kept}) == 3
    assert np.array_equal(found.probabilities[:2], found.probabilities[3:])


def test_equally_likely_labels_are_taken_in_their_order(tiny_generator: Path, tmp_path: Path) -> None:
    model = AutoModelForCausalLM.from_pretrained(tiny_generator)
    torch.nn.init.zeros_(model.get_input_embeddings().weight)  # tied to the head: every token is as likely
    model.save_pretrained(tmp_path)
    AutoTokenizer.from_pretrained(tiny_generator).save_pretrained(tmp_path)
    found = ask(settings(tmp_path), tmp_path, queries(3), LABELS, INSTRUCTION, Answering())
    assert found.labels == ["negative"] * 3
    np.testing.assert_allclose(found.probabilities, 1 / 3, atol=1e-6)


def test_a_long_prompt_loses_its_farthest_shots_and_never_its_query(tiny_generator: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(tiny_generator)
    lengths = [len(tokenizer(prompts.with_shots("x", SHOTS[:n], INSTRUCTION))["input_ids"]) for n in range(3)]

    def answers(limit: int, shots: tuple) -> Any:
        generator = settings(tiny_generator, sampling={"max_prompt_tokens": limit})
        return ask(generator, tiny_generator, [Query("7", "x", shots)], LABELS, INSTRUCTION, Answering())

    for limit, kept, cut in [(lengths[2], 2, 0), (lengths[2] - 1, 1, 1), (lengths[1] - 1, 0, 1)]:
        found, wanted = answers(limit, SHOTS), answers(2000, SHOTS[:kept])
        np.testing.assert_allclose(found.probabilities, wanted.probabilities, atol=1e-6)
        assert found.cut == cut
    with pytest.raises(UserError, match=rf"the prompt of '7' has {lengths[0]} tokens without any shot; raise"):
        answers(lengths[0] - 1, SHOTS)


def test_generation_is_greedy_and_what_is_no_label_counts_as_unanswered(tiny_generator: Path) -> None:
    how = Answering(answer="generation", bos=True)
    first, again = (
        ask(settings(tiny_generator, batch_size=size), tiny_generator, queries(5), LABELS, INSTRUCTION, how)
        for size in (1, 4)
    )
    assert first.labels == again.labels == [""] * 5 and first.probabilities is None


class Server(Serving):
    """An OpenAI-compatible server that gives its answers in their order."""

    answers: list[str]
    bodies: list[dict]


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.bodies.append(body)
        text = self.server.answers[len(self.server.bodies) - 1]
        payload = json.dumps({"choices": [{"text": text, "finish_reason": "stop"}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(("127.0.0.1", 0), Handler) as server:
        server.bodies = []
        yield server


WRITTEN = [
    "positive",
    " Neutral \nInput:",
    "\n\nnegative",
    "positive.",
    "",
    "very negative",
    "NEGATIVE",
    "<think>\nneutral\n</think>\n\npositive",
]


@pytest.mark.parametrize(
    ("case", "wanted"),
    [
        ("fold", ["positive", "neutral", "negative", "", "", "", "negative", "positive"]),
        ("exact", ["positive", "", "negative", "", "", "", "", "positive"]),
    ],
)
def test_an_answer_is_the_first_line_and_must_be_a_label(
    tiny_generator: Path, server: Server, case: str, wanted: list
) -> None:
    server.answers = WRITTEN
    endpoint = f"http://127.0.0.1:{server.server_port}/v1"
    generator = settings(tiny_generator, backend="openai", endpoint=endpoint, served_model="base", batch_size=1)
    how = Answering(answer="generation", case=case, instruct=True)
    found = ask(generator, tiny_generator, queries(8), LABELS, INSTRUCTION, how)
    assert found.labels == wanted
    tokenizer = AutoTokenizer.from_pretrained(tiny_generator)
    text = tokenizer.decode(server.bodies[1]["prompt"])
    assert text == prompts.with_shots(queries(2)[1].text, SHOTS[:1], INSTRUCTION, options=LABELS, only_label=True)
    assert (server.bodies[1]["temperature"], server.bodies[1]["max_tokens"]) == (0, 10)


def test_what_cannot_be_asked_is_told(tiny_generator: Path) -> None:
    def fault(labels: list[str], how: Answering, **changes: Any) -> str:
        with pytest.raises(UserError) as error:
            ask(settings(tiny_generator, **changes), tiny_generator, queries(1), labels, INSTRUCTION, how)
        assert "\n" not in str(error.value)
        return str(error.value)

    served = {"backend": "openai", "endpoint": "http://localhost:1", "served_model": "base"}
    assert "backend openai has no likelihoods" in fault(LABELS, Answering(), **served)
    assert "in case alone: A, a; set `case: exact`" in fault(["A", "a"], Answering(answer="generation"))
    assert "no token for the label ''" in fault(["", "a"], Answering())
    assert "'ስፖርት' has 12 tokens, and `max_new_tokens` is 10" in fault(["a", "ስፖርት"], Answering(answer="generation"))
    assert "no chat template" in fault(LABELS, Answering(), prompts="chat")


def test_a_label_does_not_follow_thoughts_that_the_template_begins(tiny_chat_generator: Path, tmp_path: Path) -> None:
    shutil.copytree(tiny_chat_generator, tmp_path / "thinks")
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "thinks")
    tokenizer.chat_template += "{% if add_generation_prompt %}<think>\n{% endif %}"
    tokenizer.save_pretrained(tmp_path / "thinks")
    thinking = settings(tmp_path / "thinks", prompts="chat")
    with pytest.raises(UserError, match=r"chat template.*<think>.*tell it by"):
        open_greedy(thinking, tmp_path / "thinks", Answering())
    open_greedy(thinking, tmp_path / "thinks", Answering(answer="generation"))
    open_greedy(settings(tiny_chat_generator, prompts="chat"), tiny_chat_generator, Answering())

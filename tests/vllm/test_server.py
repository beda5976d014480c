"""The back ends openai and openai-chat, asked of vLLM's own server."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from transformers import AutoTokenizer

from seedbed.generators.settings import Generator
from seedbed.generators.writing.backends import Backend, Completion, Request, open_backend
from seedbed.io import UserError
from tests.vllm import MARKS
from tests.vllm.conftest import Server
from tests.vllm.models import DRAWING, LIMIT, NEW, TEMPLATE, requests, settings, written

pytestmark = MARKS


@pytest.fixture(scope="module")
def client(server: Server, base: Path) -> Backend:
    """Asks the server for the likeliest tokens."""
    return open_backend(server.generator(base), base)


@pytest.mark.parametrize("name", [None, "narrow", "wide"])
def test_a_server_writes_the_text_of_transformers(
    client: Backend, local: Backend, adapters: dict[str, Path], name: str | None
) -> None:
    """With all the tokens at which it stops, which are many; what ended a completion is in its text."""
    asked, adapter = requests(local), adapters[name] if name else None
    assert len(client.stops) > 50
    assert written(client, asked, adapter) == written(local, asked, adapter)


def test_a_row_has_a_seed_of_its_own(client: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seeds below 2^60 are taken as they are: a row is drawn alike in whatever company."""
    monkeypatch.setattr(client, "sampling", DRAWING)
    asked = requests(client)
    drawn = written(client, asked)
    assert written(client, asked[::-3]) == {request.id: drawn[request.id] for request in asked[::-3]}
    same = [replace(asked[0], id=str(number)) for number in range(16)]
    assert len({completion.text for completion in written(client, same).values()}) > 8


def test_a_prompt_that_is_too_long_is_refused_and_others_are_not(
    client: Backend, local: Backend, capsys: pytest.CaptureFixture[str]
) -> None:
    one, two, *_ = requests(local)
    long = replace(two, prompt=[*two.prompt, *[two.prompt[-1]] * (LIMIT + NEW)])
    found = written(client, [long, one])
    assert found == written(local, [one]) | {long.id: Completion(long.id, "", finished=False, refused=True)}
    assert "400 Bad Request" in capsys.readouterr().err


def test_an_adapter_that_is_not_served_is_told_in_one_line(client: Backend, base: Path) -> None:
    with pytest.raises(UserError, match=r"404 Not Found.*does not exist"):
        written(client, requests(client), base.with_name("unknown"))


def test_an_adapter_without_effect_is_refused(client: Backend, adapters: dict[str, Path]) -> None:
    with pytest.raises(UserError, match="idle: the adapter has no effect"):
        written(client, requests(client), adapters["idle"])


def test_messages_are_answered_as_transformers_answers_them(server: Server, base: Path, tmp_path: Path) -> None:
    """The server has the template, and stops at what the model's settings name as ends."""
    chat = shutil.copytree(base, tmp_path / "chat")
    tokenizer = AutoTokenizer.from_pretrained(chat)
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(chat)
    local = open_backend(settings(chat, prompts="chat"), chat)
    sampling = settings(chat).sampling.model_dump()
    fixed = {"backend": "openai-chat", "endpoint": server.url, "served_model": "base", "batch_size": 8}
    client = open_backend(Generator.model_validate(fixed | {"sampling": sampling}), None)
    texts = ["Yara suna gida.", "Ruwa da abinci.", "Gobe za su kasuwa."]
    found, wanted = (
        written(backend, [Request(text, backend.encode(text)) for text in texts]) for backend in (client, local)
    )
    assert found == wanted

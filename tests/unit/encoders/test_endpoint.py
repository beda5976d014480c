"""Encoders behind an endpoint, against a real server: what is sent, what is believed, and what each fault says."""

from __future__ import annotations

import json
import shutil
import time
from base64 import b64encode
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from email.utils import formatdate
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer

from scripts import train_encoder
from seedbed import servers
from seedbed.encoders.export import card
from seedbed.encoders.export.save import save
from seedbed.encoders.models import loading
from seedbed.encoders.models.digests import embeddings_folder
from seedbed.encoders.models.inference import batched, opened
from seedbed.encoders.settings import Backbone, EndpointSettings
from seedbed.io import UserError, read_json
from seedbed.vectors import store
from seedbed.vectors.store import with_disk_cache
from tests.embedder import DIMENSIONS, Embedder, vector
from tests.programs import call

SECRET = "sk-not-a-real-token-0123456789"
TEXTS = [f"{'word ' * (number % 7)}{number}" for number in range(11)]


@pytest.fixture
def server() -> Iterator[Embedder]:
    with Embedder() as server:
        yield server


def settings(server: Embedder, **changes: Any) -> EndpointSettings:
    fixed = {"url": server.url, "model": "big", "dimensions": DIMENSIONS, "batch_size": 4, "key": "EMBEDDER_KEY"}
    return EndpointSettings.model_validate(fixed | changes)


def encoder(server: Embedder, prefix: str = "", **changes: Any) -> SentenceTransformer:
    made = loading.remote(settings(server, **changes), prefix=prefix)
    made[0].wait = 0.001
    return made


def refusal(made: SentenceTransformer, texts: list[str] = TEXTS[:2]) -> str:
    with pytest.raises(UserError) as caught:
        made.encode(texts)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("style", ["openai", "cohere"])
def test_vectors_stand_in_the_order_of_the_texts(server: Embedder, style: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMBEDDER_KEY", f"{SECRET}\n")
    found = encoder(server, style=style).encode(TEXTS)
    np.testing.assert_array_equal(found, np.array([vector(text) for text in TEXTS], np.float32))
    assert found.dtype == np.float32
    texts = {"openai": "input", "cohere": "texts"}[style]
    assert [len(body[texts]) for body in server.bodies] == [4, 4, 3] and sorted(server.texts) == sorted(TEXTS)
    rest = {"openai": {}, "cohere": {"input_type": "search_query", "embedding_types": ["float"]}}[style]
    assert {name: value for name, value in server.bodies[0].items() if name != texts} == {"model": "big"} | rest
    assert set(server.paths) == {{"openai": "/v1/embeddings", "cohere": "/v1/embed"}[style]}
    assert set(server.tokens) == {f"Bearer {SECRET}"} and set(server.agents) == {"seedbed"}


def test_without_a_key_no_token_is_sent(server: Embedder) -> None:
    encoder(server, key="").encode(TEXTS[:1])
    assert server.tokens == [None]


def test_coheres_first_version_is_read_too(server: Embedder) -> None:
    server.faults = [{"embeddings": [vector("a"), vector("b")]}]
    found = encoder(server, style="cohere").encode(["bb", "aa"])
    np.testing.assert_array_equal(found, np.array([vector("a"), vector("b")], np.float32))


def test_a_saved_endpoint_is_an_encoder_like_any(
    server: Embedder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMBEDDER_KEY", SECRET)
    save(encoder(server, prefix="query: "), tmp_path / "encoder", {"method": "published"}, {}, tell=card.write)
    assert not server.bodies, "saving asks nobody"
    with servers.named([settings(server)]):
        opened = loading.open_encoder(tmp_path / "encoder", servers=True)
    assert opened[0].settings == settings(server)
    expected = np.array([vector(f"query: {text}") for text in TEXTS], np.float32)
    np.testing.assert_array_equal(opened.encode(TEXTS), expected)
    readme = (tmp_path / "encoder" / "README.md").read_text()
    assert "servers=True" in readme and "trust_remote_code" not in readme
    assert not [file for file in (tmp_path / "encoder").rglob("*") if file.is_file() and SECRET in file.read_text()]


def test_the_program_makes_one_without_weights(server: Embedder, tmp_path: Path) -> None:
    call(train_encoder, [
            "--endpoint", settings(server).dump(), "--prefix=query: ", "--seed", "0",
            "--about", '{"backbone": "big-one"}', "--state", str(tmp_path / "state"), "--output", str(tmp_path / "encoder"),
        ]
    )  # fmt: skip
    about = read_json(tmp_path / "encoder" / "seedbed.json")["about"]
    assert about == {"backbone": "big-one", "endpoint": server.url, "model": "big", "seed": 0}
    with servers.named([settings(server)]):
        assert loading.open_encoder(tmp_path / "encoder", servers=True).prompts["document"] == "query: "
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize("status", [429, 503, 408])
def test_a_busy_server_is_asked_again(server: Embedder, status: int) -> None:
    server.faults = [status, b"<html>one moment</html>", status]
    np.testing.assert_array_equal(encoder(server).encode(["a"]), np.array([vector("a")], np.float32))
    assert len(server.bodies) == 4


@pytest.mark.parametrize("when", [lambda: "0.3", lambda: formatdate(time.time() + 2, usegmt=True)])
def test_a_server_is_left_alone_as_long_as_it_wants(when: Any) -> None:
    with Embedder(headers={"Retry-After": when()}) as server:
        server.faults = [429]
        start = time.monotonic()
        encoder(server).encode(["a"])
        assert 0.25 < time.monotonic() - start < 10


def test_a_server_that_is_silent_is_one_line(server: Embedder) -> None:
    server.faults = [0.5, 0.5]
    message = refusal(encoder(server, timeout=0.1, retries=1))
    assert message.startswith(f"{server.url}/embeddings: model 'big': no answer in 0.1 s; raise `timeout`")
    assert len(server.bodies) == 2


def test_a_server_that_is_not_there_is_one_line(server: Embedder) -> None:
    message = refusal(encoder(server, url="http://127.0.0.1:1/v1", retries=0))
    assert message.startswith("http://127.0.0.1:1/v1/embeddings: model 'big': no answer: ConnectionRefusedError")


def spellings(token: str) -> list[str]:
    """A token as a server may send it back."""
    return [token, token[:-3], token[3:], quote(token, safe=""), b64encode(token.encode()).decode(), token[::-1]]


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_token_is_one_line_and_not_told(
    server: Embedder, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMBEDDER_KEY", SECRET)
    server.faults = [status]
    message = refusal(encoder(server))
    assert f"model 'big': {status} " in message and "(check the token in EMBEDDER_KEY)" in message
    assert not [one for one in spellings(SECRET) if one in message] and "you sent" not in message
    assert len(server.bodies) == 1, "what is refused is not asked again"
    monkeypatch.delenv("EMBEDDER_KEY")
    server.faults = [status]
    assert "(EMBEDDER_KEY is not set)" in refusal(encoder(server))


@pytest.mark.parametrize("number", range(6))
def test_a_refused_token_is_not_told_in_any_spelling(
    server: Embedder, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = 'sk-"quoted"/+=0123456789'
    monkeypatch.setenv("EMBEDDER_KEY", token)
    server.faults = [(status, spellings(token)[number]) for status in (401, 403)]
    for status in (401, 403):
        message = refusal(encoder(server))
        assert f"{status} " in message and "(check the token in EMBEDDER_KEY)" in message
        assert not [one for one in (*spellings(token), "quoted", "0123456789") if one in message]


def test_a_token_in_another_refusal_is_masked(server: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMBEDDER_KEY", SECRET)
    server.faults = [404]
    message = refusal(encoder(server))
    assert SECRET not in message and "you sent Bearer ***" in message


def test_a_token_that_cannot_be_sent_is_not_told(server: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    for token in (f"{SECRET}\nmore", f"{SECRET}ñ"):
        monkeypatch.setenv("EMBEDDER_KEY", token)
        message = refusal(encoder(server))
        assert message.startswith("EMBEDDER_KEY: no token") and "0123456789" not in message
    assert not server.bodies


def row(index: int, size: int = DIMENSIONS, value: float = 1.0) -> dict[str, Any]:
    return {"index": index, "embedding": [value] * size}


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({"data": [row(0)]}, "1 vectors for 2 texts; expected one for each"),
        ({"data": [row(0), row(1), row(2)]}, "3 vectors for 2 texts; expected one for each"),
        ({"data": [row(0), row(0)]}, "no vectors in its answer; does it speak `style: openai`?"),
        ({"data": [row(0), row(1, size=5)]}, "a vector of 5 numbers; `dimensions` says 8"),
        ({"data": [row(0), row(1, value=float("nan"))]}, "a vector with numbers that are not finite"),
        ({"data": [row(0), {"index": 1, "embedding": "AACAPw=="}]}, "no vectors in its answer"),
        ({"data": [row(0), {"index": 1, "embedding": [10**400] * 8}]}, "no vectors in its answer"),
        ({"embeddings": []}, "no vectors in its answer"),
        ([1, 2], "no vectors in its answer"),
        ("what?", "no vectors in its answer"),
        (b"<html>\nlog in</html>", "no JSON, but: <html> log in</html>"),
        (b"\xff", "no JSON, but: \ufffd"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_no_embedding_is_one_line(server: Embedder, answer: Any, message: str) -> None:
    server.faults = [answer] * 2
    found = refusal(encoder(server, retries=1))
    assert found.startswith(f"{server.url}/embeddings: model 'big': {message}")


def test_batches_are_the_endpoints_own(server: Embedder) -> None:
    """Not of about a thousand tokens, which is what suits this machine."""
    texts = [f"{number} {'long ' * 300}" for number in range(8)]
    found = batched(encoder(server), 128)(texts)
    np.testing.assert_array_equal(found, np.array([vector(text) for text in texts], np.float32))
    assert [len(body["input"]) for body in server.bodies] == [4, 4]


def test_what_was_paid_for_is_kept(server: Embedder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that breaks down costs less than a chunk, and patience in another measure costs nothing."""
    assert store.BOUGHT < store.CHUNK
    monkeypatch.setattr(store, "BOUGHT", 4)
    monkeypatch.setattr(store, "LOCKS", 1)
    server.faults = [{"data": [row(0), row(1), row(2), row(3)]}, 400]
    for number, changes in enumerate([{"retries": 0}, {"timeout": 7.0, "batch_size": 64, "key": "OTHER"}]):
        made = encoder(server, **changes)
        save(made, tmp_path / str(number), {}, {})
        folder = embeddings_folder(tmp_path, read_json(tmp_path / str(number) / "seedbed.json"))
        kept = with_disk_cache(batched(made, 128), folder, remote=True)
        if number == 0:
            with pytest.raises(UserError, match="400 Bad Request"):
                kept(TEXTS)
            server.bodies.clear()
    found = kept(TEXTS)
    assert len(server.texts) == len(TEXTS) - 4
    assert (found == 1).all(axis=1).sum() == 4
    other = save(encoder(server, model="small"), tmp_path / "other", {}, {})
    assert other is None and folder != embeddings_folder(tmp_path, read_json(tmp_path / "other" / "seedbed.json"))


def test_jobs_at_once_pay_for_no_text_twice(server: Embedder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EMBEDDER_KEY", raising=False)
    save(encoder(server), tmp_path / "encoder", {}, {})
    with servers.named([settings(server)]):
        jobs = [opened(tmp_path / "encoder", 128, tmp_path) for _ in range(4)]
    with ThreadPoolExecutor(len(jobs)) as pool:
        for found in pool.map(lambda job: job.encode(TEXTS), jobs):
            np.testing.assert_array_equal(found, np.array([vector(text) for text in TEXTS], np.float32))
    assert sorted(server.texts) == sorted(TEXTS)


GOOD = {"url": "https://host/v1", "model": "m", "dimensions": 8}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"key": SECRET}, "endpoint.key: no name of an environment variable, like MY_API_KEY"),
        ({"key": "aB3dE5gH7jK9mN1pQ3sT5vW7xY9zA1bC3dE5gH7j"}, "endpoint.key: no name of an environment variable"),
        ({"url": f"https://me:{SECRET}@host/v1"}, "endpoint.url: a password in a URL would appear in logs"),
        ({"url": f"https://host/v1?key={SECRET}"}, "endpoint.url: no base URL; expected one like https://host/v1"),
        ({"url": "file:///etc/passwd"}, "endpoint.url: no base URL"),
        ({"url": ""}, "endpoint.url: String should have at least 1 character"),
        ({"style": "cohere", "batch_size": 97}, "endpoint: batch_size: style cohere takes 96 texts at most, not 97"),
        ({"dimensions": 0}, "endpoint.dimensions: Input should be greater than 0"),
        ({"token": "x"}, "endpoint.token: unknown key; known: batch_size"),
    ],
)
def test_settings_that_cannot_be_are_one_line(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as caught:
        EndpointSettings.load(json.dumps(GOOD | changes))
    assert str(caught.value).startswith(message)
    assert SECRET not in str(caught.value) and "aB3d" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "found"), [({}, "none"), ({"source": {"file": "x"}, "endpoint": GOOD}, "source, endpoint")]
)
def test_a_backbone_has_one_origin(given: dict[str, Any], found: str) -> None:
    with pytest.raises(UserError, match=f"backbone: .*source, endpoint, fusion, pair; found {found}"):
        Backbone.load(json.dumps(given))


def test_a_backbone_that_brings_a_server_of_its_own_is_refused(
    server: Embedder, weights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Someone else's directory would be sent every text, and the token of any variable that it names."""
    monkeypatch.setenv("EMBEDDER_KEY", SECRET)
    encoder(server).save_pretrained(str(tmp_path / "theirs"), create_model_card=False)
    shutil.copytree(weights, tmp_path / "theirs", dirs_exist_ok=True)
    for opening in (partial(loading.load, pooling="own"), loading.open_encoder):
        with pytest.raises(UserError, match="Endpoint is foreign code"):
            opening(tmp_path / "theirs").encode(TEXTS)
    assert not server.bodies


def test_an_answer_without_an_end_is_not_read_to_its_end(server: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "LARGEST", 1000)
    server.faults = [b" " * 2000, [vector("a")]]
    assert "an answer of more than 1000 bytes; lower batch_size" in refusal(encoder(server))
    assert len(server.bodies) == 1, "it is not asked again"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("endpoint.json", "", "not JSON"),
        ("endpoint.json", "null", "endpoint.json: no settings; expected what saving an encoder behind an API writes"),
        ("endpoint.json", "{}", "url: Field required; expected what saving"),
        ("transport.json", "[1]", "transport.json: no settings; expected what saving"),
        ("config_sentence_transformers.json", "[]", "prompts: expected a mapping of names to texts"),
        ("config_sentence_transformers.json", '{"prompts": 3}', "prompts: expected a mapping of names to texts"),
        ("config_sentence_transformers.json", None, "config_sentence_transformers.json: no such file"),
    ],
)
def test_a_broken_folder_is_one_line(
    server: Embedder, tmp_path: Path, name: str, content: str | None, message: str
) -> None:
    save(encoder(server, prefix="query: "), tmp_path / "encoder", {"method": "published"}, {}, tell=card.write)
    path = tmp_path / "encoder" / name
    path.unlink() if content is None else path.write_text(content)
    with servers.named([settings(server)]), pytest.raises(UserError, match=message) as caught:
        loading.open_encoder(tmp_path / "encoder", servers=True)
    assert str(tmp_path) in str(caught.value) and "\n" not in str(caught.value)

"""URLs with secrets: in no lock file, record, message or report; and what a person is warned of."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from scripts import fetch_corpus
from seedbed.corpora.settings import Source
from seedbed.io import UserError, read_json
from seedbed.study.remarks import remarks
from seedbed.urls import has_secret, in_text, is_near, without_secrets
from tests.asking import TOLD, study_of
from tests.programs import call

SECRET = ["token", "access_token", "key", "api_key", "apikey", "sig", "X-Amz-Signature", "X-Amz-Credential", "Signature",
          "X-Goog-Signature", "AWSAccessKeyId", "password", "auth", "client_secret", "authToken", "X-Amz-Security-Token"]  # fmt: skip
PLAIN = ["download", "id", "confirm", "monkey", "design", "author", "format", "raw", "file", "tokens", "page"]


@pytest.mark.parametrize("name", SECRET)
def test_a_secret_is_hidden_and_the_address_stays(name: str) -> None:
    url = f"https://host.org/a/x.zip?id=7&{name}=S3CRET%2F&b=1"
    assert has_secret(url) and has_secret(f"https://host.org/x#{name}=S3CRET")
    assert without_secrets(url) == f"https://host.org/a/x.zip?id=7&{name}=***&b=1"
    assert without_secrets(without_secrets(url)) == without_secrets(url) and not has_secret(without_secrets(url))
    assert in_text(f"archive: '{url}', and {{a: {url}}}") == (
        f"archive: '{without_secrets(url)}', and {{a: {without_secrets(url)}}}"
    )


@pytest.mark.parametrize("name", PLAIN)
def test_other_parts_of_a_query_stay(name: str) -> None:
    url = f"https://host.org/x.zip?{name}=1"
    assert not has_secret(url) and without_secrets(url) == url
    assert not has_secret("https://host.org/x.zip?token=") and not has_secret("https://host.org/x.zip")


@pytest.mark.parametrize(
    ("host", "near"),
    [
        ("localhost", True), ("127.0.0.1", True), ("10.1.2.3", True), ("192.168.0.9", True), ("::1", True),
        ("gpu07", True), ("gpu.internal", True), ("store.LAN", True), ("", True),
        ("host.org", False), ("8.8.8.8", False), ("api.example.com.", False),
    ],
)  # fmt: skip
def test_hosts_of_ones_own_network_are_told_from_others(host: str, near: bool) -> None:
    assert is_near(host) is near


class Files(BaseHTTPRequestHandler):
    """A file for who has the token, whichever."""

    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        text = "".join(f"Yara suna wasa a waje sau {place}.\n" for place in range(9)).encode()
        found = "token=" in self.path and "/there" in self.path
        self.send_response(200 if found else 403)
        self.send_header("Content-Length", str(len(text) if found else 0))
        self.end_headers()
        self.wfile.write(text if found else b"")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def files() -> Iterator[str]:
    Files.asked = []
    with ThreadingHTTPServer(("127.0.0.1", 0), Files) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def fetched(tmp_path: Path, url: str) -> None:
    source = Source(archive=url)
    call(fetch_corpus, [
        "--source", source.dump(), "--kind", "text", "--downloads", str(tmp_path / "downloads"),
        "--lock", str(tmp_path / "lock.json"), "--output", str(tmp_path / "x.tsv"), "--record", str(tmp_path / "x.json"),
    ])  # fmt: skip


def test_a_secret_of_an_archive_stands_in_no_file_and_no_message(
    tmp_path: Path, files: str, capfd: pytest.CaptureFixture[str]
) -> None:
    fetched(tmp_path, f"{files}/there.txt?token=S3CRET")
    fetched(tmp_path, f"{files}/there.txt?token=S3CRET-of-tomorrow")
    assert len(Files.asked) == 1, "another signature is no other file"
    shown = f"{files}/there.txt?token=***"
    assert [*read_json(tmp_path / "lock.json")] == [shown]
    assert read_json(tmp_path / "x.json")["origin"] == [{"kind": "archive", "name": shown}]
    with pytest.raises(UserError) as refused:
        fetched(tmp_path, f"{files}/gone.txt?token=S3CRET")
    with pytest.raises(UserError) as broken:
        fetched(tmp_path, f"{files}/there.parquet?token=S3CRET")
    said = capfd.readouterr()
    told = [str(refused.value), str(broken.value), said.out, said.err]
    told += [f"{path} {path.read_text() if path.is_file() else ''}" for path in tmp_path.rglob("*")]
    assert not [one for one in told if "S3CRET" in one]


def test_a_plan_warns_of_secrets_in_urls_and_of_tokens_that_go_unencrypted() -> None:
    far = {"model": "m", "dimensions": 8, "key": "MY_KEY"}
    backbones = {
        "one": {"source": {"archive": "https://host.org/x.zip?sig=S3CRET", "member": "a/*"}},
        "far": {"endpoint": far | {"url": "http://host.org/v1"}},
        "near": {"endpoint": far | {"url": "http://127.0.0.1:8000/v1"}},
        "open": {"endpoint": far | {"url": "http://host.org/v2", "key": ""}},
        "safe": {"endpoint": far | {"url": "https://host.org/v3"}},
    }
    changes = {"tasks": {}, "best": None, "tables": [], "figures": []}  # nothing to say of these
    assert remarks(study_of(TOLD, **changes, compute=None)) == []
    study = study_of(TOLD, backbones=backbones, recipes={"base": {}}, classifiers={}, compute=None, **changes)
    archive, token = remarks(study)
    assert archive.startswith("https://host.org/x.zip?sig=***: ") and "`file:`" in archive
    assert token.startswith("http://host.org/v1: the token in MY_KEY") and "https" in token
    assert "S3CRET" not in archive + token

"""A download that was cut, or whose process was killed, goes on where it stopped: real servers, real processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save
from tokenizers import Tokenizer, models

from seedbed.corpora.read import downloads
from seedbed.corpora.read.downloads import download
from seedbed.io import UserError
from tests.rehearsal.hub import digest, listing
from tests.serving import Serving

CONTENT = bytes(range(256)) * 400
HALF = len(CONTENT) // 2


class Server(Serving):
    """Sends one file; `faults` say what befalls the next answers: `cut` in the middle, or held there until `go`."""

    def __init__(self, *faults: str, version: str = '"1"') -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.faults, self.version, self.content = list(faults), version, CONTENT
        self.elsewhere = ""
        self.asked: list[str | None] = []
        self.sent = 0
        self.held, self.go = threading.Event(), threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/corpus.txt"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        if self.server.elsewhere:
            self.server.asked.append(None)
            self.send_response(302)
            self.send_header("Location", self.server.elsewhere)
            return self.end_headers()
        start, asked = 0, self.headers.get("Range")
        self.server.asked.append(asked)
        if asked and self.headers["If-Range"] == self.server.version:
            start = int(asked.removeprefix("bytes=").removesuffix("-"))
        rest = self.server.content[start:]
        if not rest:
            return self.send_error(416)
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(CONTENT) - 1}/{len(CONTENT)}")
        self.send_header("Content-Length", str(len(rest)))
        if self.server.version:
            self.send_header("ETag", self.server.version)
        self.end_headers()
        fault = self.server.faults.pop(0) if self.server.faults else ""
        now = rest[: HALF - start] if fault else rest
        self.wfile.write(now)
        self.server.sent += len(now)
        if fault == "held":
            self.wfile.flush()
            self.server.held.set()
            self.server.go.wait(60)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "PAUSES", (0,))


def left(path: Path) -> list[str]:
    return sorted(file.name for file in path.parent.iterdir())


def test_a_connection_that_is_cut_costs_no_byte_twice(tmp_path: Path) -> None:
    with Server("cut") as server:
        download(server.url, tmp_path / "in" / "corpus.txt")
    assert (tmp_path / "in" / "corpus.txt").read_bytes() == CONTENT and left(tmp_path / "in" / "x") == ["corpus.txt"]
    assert server.asked == [None, f"bytes={HALF}-"] and server.sent == len(CONTENT)


@pytest.mark.parametrize("elsewhere", ["http://a..b/x.zip", f"http://{'a' * 64}.org/x.zip", "http://h:port/x"])
def test_a_host_that_nobody_can_have_is_one_line_at_once(tmp_path: Path, elsewhere: str) -> None:
    """Where a server sends one there; what a study names is refused before."""
    with Server() as server:
        server.elsewhere = elsewhere
        with pytest.raises(UserError, match=r"corpus.txt: cannot be downloaded .* as `file:`"):
            download(server.url, tmp_path / "corpus.txt")
    assert server.asked == [None] and left(tmp_path / "x") == []


def test_a_killed_download_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "corpus.txt"
    code = f"from pathlib import Path; from seedbed.corpora.read.downloads import download; download({{!r}}, Path({str(path)!r}))"
    with Server("held") as server:
        process = subprocess.Popen([sys.executable, "-c", code.format(server.url)], stderr=subprocess.DEVNULL)
        assert server.held.wait(60)
        part = tmp_path / ".corpus.txt.part"
        while not part.is_file() or not part.stat().st_size:
            assert process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.wait()
        server.go.set()
        have = part.stat().st_size
        download(server.url, path)
    assert server.asked == [None, f"bytes={have}-"]
    assert path.read_bytes() == CONTENT and left(path) == ["corpus.txt"]


def test_the_rest_of_another_version_is_not_appended(tmp_path: Path) -> None:
    path = tmp_path / "corpus.txt"
    with Server("cut", "cut") as server:
        with pytest.raises(UserError, match=f"cannot be downloaded .{HALF} of {len(CONTENT)} bytes came"):
            download(server.url, path)
        server.version, server.content = '"2"', CONTENT[::-1]
        download(server.url, path)
    assert path.read_bytes() == CONTENT[::-1]


def test_what_has_come_whole_is_asked_for_once_more(tmp_path: Path) -> None:
    """The process ended between the last byte and the new name: nothing is left to send (416)."""
    path = tmp_path / "corpus.txt"
    (tmp_path / ".corpus.txt.part").write_bytes(CONTENT)
    (tmp_path / ".corpus.txt.json").write_text(json.dumps({"version": '"1"'}))
    with Server() as server:
        download(server.url, path)
    assert path.read_bytes() == CONTENT and left(path) == ["corpus.txt"]


@pytest.mark.parametrize("version", ["", 'W/"1"'])
def test_a_file_without_a_version_begins_anew(tmp_path: Path, version: str) -> None:
    """Nobody could tell whether the rest is of the same bytes."""
    path = tmp_path / "corpus.txt"
    with Server("cut", "cut", version=version) as server:
        with pytest.raises(UserError, match="cannot be downloaded"):
            download(server.url, path)
        assert left(path) == []
        download(server.url, path)
    assert path.read_bytes() == CONTENT and server.asked == [None] * 3


class Hub(Serving):
    """A model of two shards, the second of which stops in its middle once."""

    def __init__(self, files: dict[str, bytes]) -> None:
        super().__init__(("127.0.0.1", 0), HubHandler)
        self.files, self.got = files, []
        self.held, self.go = threading.Event(), threading.Event()


class HubHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Hub

    def do_GET(self) -> None:
        name = self.path.partition("?")[0].rpartition("/")[2]
        if "/resolve/" not in self.path:
            tree = listing(self.server.files, recursive=True)
            known = {"id": "some/one", "sha": COMMIT, "siblings": [{"rfilename": file} for file in self.server.files]}
            return self._send(json.dumps(tree if "/tree/" in self.path else known).encode(), {})
        content = self.server.files[name]
        if self.command == "GET":
            self.server.got.append(name)
        return self._send(content, {"X-Repo-Commit": COMMIT, "ETag": f'"{digest(content)}"'}, name)

    do_HEAD = do_GET  # noqa: N815

    def _send(self, content: bytes, headers: dict[str, str], name: str = "") -> None:
        self.send_response(200)
        for header, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(header, value)
        self.end_headers()
        if self.command == "GET" and name == SECOND and not self.server.held.is_set():
            self.wfile.write(content[:100])
            self.wfile.flush()
            self.server.held.set()
            self.server.go.wait(60)
            self.close_connection = True
        elif self.command == "GET":
            self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


COMMIT = "0" * 40
FIRST, SECOND = (f"model-0000{number}-of-00002.safetensors" for number in (1, 2))

FETCHING = """
from scripts import cli, fetch_model
cli.run(fetch_model.Job, lambda job: fetch_model.make(job, print))
"""
"""The program, without what would look at the files once all are there: that imports torch."""


def test_a_killed_download_of_a_model_keeps_the_files_that_had_come(tmp_path: Path) -> None:
    weights, more = (save({name: np.ones(1000, np.float32)}) for name in "ab")
    tokenizer = Tokenizer(models.WordPiece({"[UNK]": 0})).to_str().encode()
    files = {"config.json": b'{"model_type": "bert"}', "tokenizer.json": tokenizer, FIRST: weights, SECOND: more}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    output = tmp_path / "results" / "weights"
    with Hub(files) as server:
        environment |= {"HF_ENDPOINT": f"http://127.0.0.1:{server.server_port}", "HOME": str(tmp_path / "home")}
        words = [
            *("--output", str(output)),
            *("--source", json.dumps({"hub": "some/one", "revision": COMMIT})),
            *("--downloads", str(tmp_path / "downloads"), "--lock", str(tmp_path / "lock.json")),
        ]
        process = subprocess.Popen(
            [sys.executable, "-c", FETCHING, *words],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert server.held.wait(120), process.communicate()[1]
        process.send_signal(signal.SIGKILL)
        process.communicate()
        server.go.set()
        command = [sys.executable, "-m", "scripts.fetch_model", *words]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert server.got.count(FIRST) == 1 and server.got.count(SECOND) == 2
    assert {path.name for path in output.iterdir()} >= {*files} and (output / FIRST).read_bytes() == weights
    assert not list((tmp_path / "downloads" / "models").iterdir()), "weights are on the disk once"
    assert not (tmp_path / "home" / ".cache" / "huggingface" / "hub").exists()

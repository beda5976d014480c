"""Downloads from a real server that fails in real ways."""

import http.server
import threading

import pytest

from seedbed.config import Language
from seedbed.corpora import assets
from seedbed.corpora.assets import Store, archive
from seedbed.corpora.fetch import fetch
from seedbed.corpora.settings import Cleaning
from seedbed.io import UserError

CONTENT = b"Yara suna karatu. " * 5000


class Server(http.server.ThreadingHTTPServer):
    """Answers each request by the next of `faults`; without one it sends everything."""

    def __init__(self, *faults: str) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.faults, self.requests = list(faults), 0


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.server.requests += 1
        fault = self.server.faults.pop(0) if self.server.faults else ""
        if fault.isdigit():
            return self.send_error(int(fault))
        self.send_response(200)
        self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        self.wfile.write(CONTENT[: len(CONTENT) // 2] if fault == "cut" else CONTENT)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def fetched(tmp_path, monkeypatch):
    """Fetch from a server with faults: the file, or the error; and how often it was asked."""
    monkeypatch.setattr(assets, "PAUSES", (0, 0))
    store = Store(tmp_path / "downloads", tmp_path / "lock.json")

    def fetch(*faults: str):
        with Server(*faults) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            try:
                found = archive(store, f"http://127.0.0.1:{server.server_port}/corpus.txt", "").read_bytes()
            except UserError as error:
                found = str(error)
            server.shutdown()
        return found, server.requests

    return fetch


@pytest.mark.parametrize("faults", [(), ("cut",), ("500", "cut"), ("503",)])
def test_a_download_is_tried_again(fetched, faults):
    assert fetched(*faults) == (CONTENT, len(faults) + 1)


def test_a_download_that_is_always_cut_leaves_nothing(fetched, tmp_path):
    message, requests = fetched("cut", "cut", "cut")
    assert requests == 3 and "cannot be downloaded (45000 of 90000 bytes came); give a local copy" in message
    assert not [path for path in tmp_path.rglob("*.txt*") if path.is_file()] and not (tmp_path / "lock.json").exists()


def test_what_is_not_there_is_not_asked_for_again(fetched):
    message, requests = fetched("404")
    assert requests == 1 and "404" in message


@pytest.mark.parametrize(("fault", "second"), [("404", True), ("403", False), ("", False)])
def test_another_source_is_read_where_the_first_is_not_there(tmp_path, fault, second):
    """Leipzig's corpora are renamed by year and size: a 404 is no end, but a refusal is."""
    (tmp_path / "second.txt").write_text("Yara suna karatu yau.\n")
    store = Store(tmp_path / "downloads", tmp_path / "lock.json")
    with Server(fault) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        first = {"archive": f"http://127.0.0.1:{server.server_port}/corpus.txt"}
        language = Language.model_validate({"corpus": [first, {"file": str(tmp_path / "second.txt")}]})
        try:
            table, record = fetch(language.corpus.resolved({}), "text", store, Cleaning(max_characters=10**6))
            assert (record["origin"] == f"file {tmp_path}/second.txt") == second == ("instead_of" in record)
            assert ("yau" in table["text"].iloc[0]) == second
        except UserError as error:
            assert fault == "403" and "cannot be downloaded" in str(error)
        server.shutdown()

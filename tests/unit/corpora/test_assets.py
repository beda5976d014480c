"""Downloads from a real server that fails in real ways."""

import http.server
import tarfile
import threading
import zipfile

import pytest

from seedbed.corpora import assets
from seedbed.corpora.assets import Store, archive, members
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


@pytest.mark.parametrize("kind", ["folder", "zip", "tar"])
def test_files_of_an_archive_come_in_the_order_of_their_names(tmp_path, kind):
    """Not in that of the archive, which another packer or disk changes: rows without ids have their places for ids."""
    folder = tmp_path / "texts"
    folder.mkdir()
    names = ["c.txt", "a.txt", "b.txt"]
    for name in names:
        (folder / name).write_text(f"of {name}")
    path = folder
    if kind == "zip":
        path = tmp_path / "texts.zip"
        with zipfile.ZipFile(path, "w") as container:
            for name in names:
                container.write(folder / name, name)
    elif kind == "tar":
        path = tmp_path / "texts.tar"
        with tarfile.open(path, "w") as container:
            for name in names:
                container.add(folder / name, name)
    found = [(name, stream.read().decode()) for name, stream in members(path, "*.txt")]
    assert found == [(name, f"of {name}") for name in sorted(names)]

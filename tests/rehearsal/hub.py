"""A server that answers as the hub does, for `HF_ENDPOINT`; under `/archives/` and their URL, archives and servers of models."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from functools import cache
from http.server import BaseHTTPRequestHandler
from threading import Lock
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.rehearsal import replica, served
from tests.serving import Serving

API = re.compile(
    r"/api/(?P<kind>datasets|models)/(?P<repo>[^/]+/[^/]+?)(?:/(?P<verb>revision|tree|paths-info)/(?P<rest>.+))?"
)
FILE = re.compile(r"/(?P<kind>datasets/)?(?P<repo>[^/]+/[^/]+)/resolve/(?P<revision>[^/]+)/(?P<path>.+)")

MAKING = Lock()
"""One model is made at a time: what is random in it hangs on torch's one generator."""


@cache
def dataset(name: str) -> replica.Repository | None:
    """A data set of the tables; None: there is none of this name."""
    entry = replica.sources()["hub"].get(name)
    return entry and replica.repository(name, entry)


@cache
def model(name: str) -> replica.Repository | None:
    """A model of the table; None: there is none of this name."""
    entry = replica.models().get(name)
    if not entry:
        return None
    from tests.rehearsal.models import repository  # torch takes seconds, which data alone do not need

    with MAKING:
        return repository(name, entry)


@cache
def archive(url: str) -> bytes | None:
    """What stands under a URL, made once: a second download must be the first, to the byte."""
    return replica.archive(url)


class Replica(Serving):
    """The server, on a free port; use it in a `with` block."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Hub)
        self.asked: set[str] = set()
        """Repositories and URLs that somebody had."""

    @property
    def url(self) -> str:
        """What `HF_ENDPOINT` must be."""
        return f"http://127.0.0.1:{self.server_port}"


def listing(files: dict[str, bytes], folder: str = "", *, recursive: bool = False) -> list[dict[str, Any]]:
    """Files and folders in a folder of a repository, as the hub's API lists them."""
    start = f"{folder}/" if folder else ""
    inside = {path: data for path, data in files.items() if path.startswith(start)}
    parents = {path[: place.start()] for path in inside for place in re.finditer("/", path)}
    found = [{"type": "directory", "path": path, "oid": digest(path.encode()), "size": 0} for path in sorted(parents)]
    found += [{"type": "file", "path": path, "oid": digest(data), "size": len(data)} for path, data in inside.items()]
    deep = {entry["path"] for entry in found if "/" in entry["path"].removeprefix(start)}
    return [e for e in found if e["path"].startswith(start) and (recursive or e["path"] not in deep)]


def digest(data: bytes) -> str:
    """What stands for an object id of git."""
    return hashlib.sha1(data).hexdigest()


class Hub(BaseHTTPRequestHandler):
    """Repositories at their branch, mostly `main`, and at their one commit; every other name or revision is not there."""

    protocol_version = "HTTP/1.1"
    server: Replica

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        if parts.path.startswith("/archives/"):
            url = unquote(parts.path.removeprefix("/archives/"))
            self.server.asked.add(url)
            return self._served(url) if served.known(url) else self._bytes(archive(url))
        for pattern, answer in ((FILE, self._file), (API, self._api)):
            if match := pattern.fullmatch(parts.path):  # as it is quoted: the name of a branch may hold a slash
                return answer(match.groupdict(), parse_qs(parts.query))
        return self._missing("RepoNotFound")

    do_HEAD = do_POST = do_GET  # noqa: N815

    def _served(self, url: str) -> None:
        """What a server of models answers."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        status, answer = served.answer(url, body, self.headers.get("Authorization", ""))
        self._bytes(json.dumps(answer).encode(), {"Content-Type": "application/json"}, status)

    def _found(self, asked: dict[str, str], revision: str, use: Callable[[replica.Repository], None]) -> None:
        name = asked["repo"]
        find = dataset if (asked["kind"] or "").startswith("datasets") else model
        if (found := find(name)) is None:
            return self._missing("RepoNotFound")
        if revision not in (found.branch, found.commit):
            return self._missing("RevisionNotFound")
        self.server.asked.add(name)
        return use(found)

    def _file(self, asked: dict[str, str], query: dict[str, list[str]]) -> None:
        def send(found: replica.Repository) -> None:
            if (data := found.files.get(unquote(asked["path"]))) is None:
                return self._missing("EntryNotFound", found.commit)
            return self._bytes(data, {"X-Repo-Commit": found.commit, "ETag": f'"{digest(data)}"'})

        self._found(asked, unquote(asked["revision"]), send)

    def _api(self, asked: dict[str, str], query: dict[str, list[str]]) -> None:
        revision, _, folder = (unquote(part) for part in (asked["rest"] or "main").partition("/"))
        sent = parse_qs(self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode())

        def send(found: replica.Repository) -> None:
            if asked["verb"] == "tree":
                deep = query.get("recursive", [""])[0].lower() == "true"
                inside = listing(found.files, folder, recursive=deep)
                return self._json(inside) if inside else self._missing("EntryNotFound", found.commit)
            if asked["verb"] == "paths-info":
                every = listing(found.files, recursive=True)
                return self._json([entry for entry in every if entry["path"] in sent.get("paths", [])])
            names = [{"rfilename": path} for path in found.files]
            known = {"id": asked["repo"], "sha": found.commit, "cardData": found.card, "siblings": names}
            return self._json(known | {"private": False, "gated": False, "tags": [], "downloads": 0, "likes": 0})

        self._found(asked, revision, send)

    def _json(self, answer: Any) -> None:
        self._bytes(json.dumps(answer).encode(), {"Content-Type": "application/json"})

    def _missing(self, code: str, commit: str = "") -> None:
        self._bytes(b"{}", {"X-Error-Code": code, **({"X-Repo-Commit": commit} if commit else {})}, status=404)

    def _bytes(self, data: bytes | None, headers: dict[str, str] | None = None, status: int = 200) -> None:
        self.send_response(404 if data is None else status)
        for name, value in {"Content-Length": str(len(data or b"")), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data or b"")

    def log_message(self, *_: Any) -> None:
        """Nothing: a test says what it misses."""

"""A server of embeddings on this machine, in the protocols of OpenAI and Cohere."""

from __future__ import annotations

import json
import time
from http.server import BaseHTTPRequestHandler
from typing import Any

import numpy as np

from tests.serving import Serving

DIMENSIONS = 8


def vector(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    """What the server makes of a text."""
    return np.random.default_rng(list(text.encode())).normal(size=dimensions).tolist()


class Embedder(Serving):
    """Serves inside a `with` block.

    `faults` come before answers, one for a request: a status, which echoes the token; a status and its words; seconds of
    silence; or what is said instead, as JSON or as bytes.
    """

    def __init__(self, *, headers: dict[str, str] | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.faults: list[Any] = []
        self.headers = headers or {}
        """Of a fault's answer."""
        self.paths: list[str] = []
        self.bodies: list[dict[str, Any]] = []
        self.tokens: list[str | None] = []
        self.agents: list[str | None] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    @property
    def texts(self) -> list[str]:
        """All that was ever asked, refused requests too."""
        return [text for body in self.bodies for text in body.get("input") or body["texts"]]


class _Handler(BaseHTTPRequestHandler):
    server: Embedder

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.paths.append(self.path)
        self.server.bodies.append(body)
        self.server.tokens.append(self.headers["Authorization"])
        self.server.agents.append(self.headers["User-Agent"])
        fault = self.server.faults.pop(0) if self.server.faults else None
        if isinstance(fault, float):
            time.sleep(fault)
        elif isinstance(fault, int):
            self.reply(fault, {"error": {"message": f"you sent {self.headers['Authorization']}"}}, self.server.headers)
        elif isinstance(fault, tuple):
            self.reply(*fault)
        elif fault is not None:
            self.reply(200, fault)
        elif self.path.endswith("/embeddings"):
            rows = [{"index": place, "embedding": vector(text)} for place, text in enumerate(body["input"])]
            self.reply(200, {"data": rows[::-1]})
        else:
            self.reply(200, {"embeddings": {kind: [*map(vector, body["texts"])] for kind in body["embedding_types"]}})

    def do_GET(self) -> None:
        """Only who follows a redirection asks like this."""
        self.server.tokens.append(self.headers["Authorization"])
        self.reply(200, {})

    def reply(self, status: int, answer: Any, headers: dict[str, str] | None = None) -> None:
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(data)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        pass

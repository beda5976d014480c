"""What the servers of servers.yaml answer: vectors that a text alone decides, and one of the labels that a prompt offers."""

from __future__ import annotations

import random
import re
from typing import Any

from tests.embedder import vector
from tests.rehearsal import replica

OFFERED = re.compile(r"(?<=Options:).*")
UNREAD = ("negative", "neutral", "positive")
"""What is answered to token ids, which nobody reads here."""


def known(url: str) -> bool:
    """Whether a server stands there."""
    return url in replica.load("servers.yaml")


def answer(url: str, body: dict[str, Any], token: str) -> tuple[int, dict[str, Any]]:
    """Status and answer to a request."""
    spec = replica.load("servers.yaml")[url]
    if not (token or spec.get("open")):
        return 401, {"error": {"message": "no token"}}
    if body["model"] not in spec["models"]:
        return 404, {"error": {"message": f"no model {body['model']}"}}
    size = spec["models"][body["model"]]
    if "texts" in body:
        return 200, {
            "embeddings": {kind: [vector(text, size) for text in body["texts"]] for kind in body["embedding_types"]}
        }
    if "input" in body:
        return 200, {"data": [{"index": at, "embedding": vector(text, size)} for at, text in enumerate(body["input"])]}
    if "messages" in body:
        text = label(body["messages"][-1]["content"])
        return 200, {"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]}
    return 200, {"choices": [{"text": label(str(body["prompt"])), "finish_reason": "stop"}]}


def label(prompt: str) -> str:
    """One of those that a prompt offers, always the same of the same."""
    found = OFFERED.search(prompt)
    offered = re.findall(r"[^,\[\]'\"]+", found[0]) if found else UNREAD
    return random.Random(prompt).choice([one.strip() for one in offered if one.strip()])

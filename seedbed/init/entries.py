"""Entries of a configuration that `seedbed init` and `seedbed add` write."""

from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from typing import Any

PAIRS = {"kind": "matched_pairs"}
"""The kind of a corpus whose rows are pairs that belong together."""


@dataclass
class Parts:
    """Entries of a configuration by section, and messages about them (`said`)."""

    corpora: dict[str, Any] = field(default_factory=dict)
    others: dict[str, Any] = field(default_factory=dict)
    recipes: dict[str, Any] = field(default_factory=dict)
    tasks: dict[str, Any] = field(default_factory=dict)
    best: dict[str, Any] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)

    def add(self, more: "Parts") -> None:
        """Add other entries to these; their choice of the best encoder counts if these have none."""
        for name in ("corpora", "others", "recipes", "tasks"):
            getattr(self, name).update(getattr(more, name))
        self.best = self.best or more.best
        self.said += more.said


def not_taken(name: str, taken: Container[str]) -> str:
    """The name, with a number after it if it is taken."""
    return next(one for one in (name, *(f"{name}-{n}" for n in range(2, 100))) if one not in taken)


def on_pairs(corpus: str, summary: str = "") -> dict[str, Any]:
    """The recipe that trains on a corpus of pairs as `adjacent` does, by the settings that were measured for it;
    without a summary its card has that of `adjacent`.
    """
    if corpus == "adjacent":
        return {}
    return {"like": "adjacent"} | ({"summary": summary} if summary else {}) | {"data": {"corpus": corpus}}


def without_kind(corpus: Mapping[str, Any]) -> dict[str, Any]:
    """The source of a corpus, as one of the sets of another."""
    return {key: value for key, value in corpus.items() if key != "kind"}

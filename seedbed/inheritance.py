"""Settings of an entry that is `like` another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from seedbed.settings import suggest


def with_parents(entries: Any, complete: Callable[[str, dict[str, Any]], dict[str, Any]]) -> Any:
    """Entries with the settings of the entry that each is `like`, groups of settings merged; what is wrong stays so."""
    if not isinstance(entries, Mapping):
        return entries
    entries = {name: {} if entry is None else entry for name, entry in entries.items()}

    def whole(name: str, seen: tuple[str, ...] = ()) -> Any:
        if not isinstance(entries[name], Mapping):
            return entries[name]
        entry = complete(name, dict(entries[name]))
        if not (parent := entry.get("like")):
            return entry
        if not isinstance(parent, str):
            raise ValueError(f"{name}.like: expected the name of another entry, found {parent!r}")
        if parent in (*seen, name) or not isinstance(entries.get(parent), Mapping):
            others = sorted({other for other in entries if isinstance(other, str)} - {*seen, name})
            raise ValueError(f"{name}.like: no {parent!r} to start from; {suggest(parent, others)}")
        return _merged(whole(parent, (*seen, name)), entry)

    return {name: whole(name) for name in entries}


OWN = ("adapters", "triplets", "encoders")
"""What is published of an entry is not of one like it."""


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Settings on top of others; groups are merged, but a source is replaced whole."""
    groups = {
        name: _merged(below[name], value)
        for name, value in above.items()
        if name != "source" and isinstance(value, Mapping) and isinstance(below.get(name), Mapping)
    }
    return {name: value for name, value in below.items() if name not in OWN} | {**above, **groups}

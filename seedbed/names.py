"""Names: which texts can be one, what corpora are called, and which names mean something else in paths of results."""

from __future__ import annotations

from typing import Annotated

from pydantic import StringConstraints

from seedbed.languages import ANY

Code = Annotated[str, StringConstraints(pattern=r"^[a-z]{3}(-[A-Z][a-z]{3})?$")]
"""ISO 639-3, with a script (ISO 15924) where it is not the one that the language is mostly written in: `ace-Arab`."""
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9.-]*$", max_length=80)]
"""A name that becomes one path segment."""
Spec = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_]+$")]
"""A name of a file under resources."""

ROLES: dict[str, str] = {
    "text": "text",
    "instructions": "instructions",
    "annotated": "instructions",
    "nli": "triplets",
    "nli_translations": "triplets",
    "nli_machine": "triplets",
    "nli_pairs": "labelled_pairs",
    "parallel": "parallel",
    "published_positive": "targets",
    "published_negative": "targets",
}
"""The kind of corpus behind each key of `corpora:`, and behind `annotated`, the instructions without their top-up."""

ANCHORS = "anchors"
"""What the anchors of a language are called."""


def anchors_in(text: str) -> str:
    """What those are called that are drawn from one of a study's other corpora; nothing: from `text`."""
    return f"{text}+{ANCHORS}" if text else ANCHORS


TRAINING = "_train"
"""What the name of a training set has after its task's; no name has an underscore."""

TOGETHER = "all"
"""The bundle of the tasks that are not on request: they are scored together."""

RESERVED: dict[str, dict[str, str]] = {
    "languages": {ANY: "what belongs to no language", "avg": "the average over languages"},
    "tasks": {
        **dict.fromkeys(ROLES, "a corpus of each language"),
        **dict.fromkeys((ANCHORS, f"{ANCHORS}.audit"), "the anchors of each language"),
        TOGETHER: "the tasks that are scored together",
    },
    "recipes": {"weights": "the weights of each backbone"},
    "backbones": {"avg": "the average over backbones"},
}
"""Part of a study -> names that stand for something else in paths of results or in tables, and what that is."""

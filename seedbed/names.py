"""Names: which texts can be one, what corpora are called, and which names mean something else in paths of results."""

import re

from seedbed.languages import ANY
from seedbed.settings import named

CODE = r"[a-z]{3}(-[A-Z][a-z]{3})?"
Code = named(CODE, "a code of ISO 639-3, like swh, or with a script, like ace-Arab")
"""ISO 639-3, with a script (ISO 15924) where it is not the one that the language is mostly written in: `ace-Arab`."""
PAIR = f"{CODE}-{CODE}"
Pair = named(PAIR, "two languages, like aze-kaz")
"""Two languages: `aze-kaz`, `hin-Latn-eng`. A test language has them in the order of their codes; of an order the first
goes first."""
Name = named(
    r"[A-Za-z0-9][A-Za-z0-9.-]{0,79}",
    "a name of at most 80 letters, digits, . and -, which begins with a letter or digit",
)
"""A name that becomes one path segment."""
Spec = named(r"[A-Za-z0-9_]+", "a name of letters, digits and _, like bootstrapping_table17")
"""A name of a file under resources."""


def languages_of(test_lang: str) -> list[str]:
    """The languages of a test language: itself, or of a pair both; what begins with a capital is a script."""
    return re.split("-(?=[a-z])", test_lang)


def orders_of(pair: str) -> list[str]:
    """The two orders of a pair, which is tested in either."""
    one, other = languages_of(pair)
    return [f"{one}-{other}", f"{other}-{one}"]


def pair_of(order: str) -> str:
    """The name of a pair as a test language, whichever language goes first."""
    return "-".join(sorted(languages_of(order)))


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
    """What those are called that are drawn from one of a study's other corpora; empty: from `text`."""
    return f"{text}+{ANCHORS}" if text else ANCHORS


SEED_PAIRS = "seed_pairs"
"""What the pairs are called that are drawn from the parallel text of a language."""

DRAWN = {SEED_PAIRS: "parallel"}
"""Corpora that are drawn from others and that recipes can learn from -> the role that they are drawn from."""

TRAINING = "_train"
"""What the name of a training set has after its task's; no name has an underscore."""

TOGETHER = "all"
"""What the tasks that are not on request are called together, and a language model's variants: one job scores them."""
SHARE = rf"{ANY}(-[01]+)?"
"""A pattern of what languages are called together that a language model is asked in by one job: all, or a share."""

RESERVED: dict[str, dict[str, str]] = {
    "languages": {ANY: "what belongs to no language", "avg": "the average over languages"},
    "tasks": {
        **dict.fromkeys(ROLES, "a corpus of each language"),
        **dict.fromkeys((ANCHORS, f"{ANCHORS}.audit"), "the anchors of each language"),
        TOGETHER: "the tasks that are scored together",
    },
    "recipes": {
        "weights": "the weights of each backbone",
        TOGETHER: "the variants of a language model that are scored together",
    },
    "backbones": {"avg": "the average over backbones"},
}
"""Part of a study -> names that stand for something else in paths of results or in tables, and what that is."""

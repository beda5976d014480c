"""Names: which texts are valid names, what derived corpora are called, and names with a special meaning in paths."""

import re

from seedbed.languages import ANY
from seedbed.settings import named

CODE = r"[a-z]{3}(-[A-Z][a-z]{3})?"
Code = named(CODE, "a code of ISO 639-3, like swh, or with a script, like ace-Arab")
"""ISO 639-3, followed by a script (ISO 15924) if it is not the language's usual one: `ace-Arab`."""
PAIR = f"{CODE}-{CODE}"
Pair = named(PAIR, "two languages, like aze-kaz")
"""Two languages: `aze-kaz`, `hin-Latn-eng`. As a test language they are in the order of their codes; as an order of a
pair, the first language is first.
"""
Name = named(
    r"[A-Za-z0-9][A-Za-z0-9.-]{0,79}",
    "a name of at most 80 letters, digits, . and -, which begins with a letter or digit",
)
"""A name that is one segment of a path."""
Spec = named(r"[A-Za-z0-9_]+", "a name of letters, digits and _, like bootstrapping_table17")
"""The name of a file under resources."""
MAIN = "main"
"""The environment, of those in envs/, that most jobs run in and that studies are planned in."""


def languages_of(test_lang: str) -> list[str]:
    """The languages of a test language: itself, or both of a pair; a part that begins with a capital is a script."""
    return re.split("-(?=[a-z])", test_lang)


def orders_of(pair: str) -> list[str]:
    """The two orders of a pair."""
    one, other = languages_of(pair)
    return [f"{one}-{other}", f"{other}-{one}"]


def pair_of(order: str) -> str:
    """The name of a pair as a test language, from either order."""
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
"""Key under `corpora:` -> kind of corpus; `annotated` is the instructions without their top-up."""

ANCHORS = "anchors"
"""Name of a language's anchors."""


def anchors_in(text: str) -> str:
    """Name of the anchors that are sampled from a corpus of `corpora.others`; without a name, from `text`."""
    return f"{text}+{ANCHORS}" if text else ANCHORS


SEED_PAIRS = "seed_pairs"
"""Name of the pairs that are sampled from a language's parallel text."""

DRAWN = {SEED_PAIRS: "parallel"}
"""Corpora that are sampled from others and can be trained on -> the role that they are sampled from."""

TRAINING = "_train"
"""Suffix of a training set's name after its task's; other names have no underscore."""


def training_set_of(task: str) -> str:
    """Name of a task's training set; its test set has the task's name."""
    return f"{task}{TRAINING}"


def task_of(corpus: str) -> str:
    """The task that a training set belongs to; of any other corpus, its own name."""
    return corpus.removesuffix(TRAINING)


TOGETHER = "all"
"""Name of all tasks without `on_request`, and of a language model's variants, which one job scores."""
SHARE = rf"{ANY}(-[01]+)?"
"""Pattern for the languages that one job queries a language model in: all, or a shard of them."""

RESERVED: dict[str, dict[str, str]] = {
    "languages": {ANY: "what belongs to no language", "avg": "the average over languages"},
    "tasks": {
        **dict.fromkeys(ROLES, "a corpus of each language"),
        **dict.fromkeys((ANCHORS, f"{ANCHORS}.audit"), "the anchors of each language"),
        "text.sample": "a sample of each language's sentences",
        TOGETHER: "the tasks that are scored together",
    },
    "recipes": {
        "weights": "the weights of each backbone",
        TOGETHER: "the variants of a language model that are scored together",
    },
    "backbones": {"avg": "the average over backbones"},
}
"""Part of a study -> names with a special meaning in paths of results or in tables -> that meaning."""

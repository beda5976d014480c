"""What every rule file uses: the checked study, wildcard constraints, code as input, and small helpers."""

import json
import re
import sys

from seedbed.config import ANY, load
from seedbed.corpora.settings import COLUMNS
from seedbed.evaluation.settings import KIND_OF
from seedbed.imports import closure
from seedbed.io import UserError

# A thread that waits must not slow the one that works. Memory that glibc keeps instead of giving back to the system saves a
# tenth of a training step on a CPU (most of its page faults). Downloads alone may reach the hub.
shell.prefix(
    "set -euo pipefail; export OMP_WAIT_POLICY=PASSIVE MALLOC_MMAP_MAX_=0 MALLOC_TRIM_THRESHOLD_=17179869184"
    " HF_HUB_OFFLINE=${{HF_HUB_OFFLINE:-1}}; "
)

try:
    STUDY = load(config)
except UserError as error:
    sys.exit(f"error: {error}")

ROLES = {
    "text": "text",
    "instructions": "instructions",
    "nli": "triplets",
    "nli_translations": "triplets",
    "parallel": "parallel",
    "published_positive": "targets",
    "published_negative": "targets",
}
"""The kind of corpus behind each key of `corpora:`."""


def one_of(names):
    return "|".join(re.escape(name) for name in sorted(set(names))) or "none"


LANGUAGES = {*STUDY.languages, *STUDY.borrowed(), STUDY.pivot, ANY}
CONSTRAINTS = {
    "lang": one_of(LANGUAGES),
    "test_lang": one_of(STUDY.languages),
    "corpus": one_of([*ROLES, *STUDY.tasks]),
    "task": one_of(STUDY.tasks),
    "room": "generators|encoders",
    "model": one_of([*STUDY.generators, *STUDY.backbones]),
    "generator": one_of(STUDY.generators),
    "backbone": one_of(STUDY.backbones),
    "recipe": one_of(STUDY.recipes),
    "method": "prompting|composition|xllora",
    "polarity": "positive|negative",
    "seed": r"\d+",
    "shard": r"\d+",
    "table": r"[A-Za-z0-9_]+",
    "figure": r"[A-Za-z0-9_]+",
}


def code(script, *data):
    """A program, what it imports, and the project's data it reads: inputs, so that an edit re-runs what it must."""
    return [*closure(f"scripts/{script}.py"), *data]


def compact(value):
    """Canonical JSON: two runs and two orders of keys give the same string."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def more(amount):
    """A resource that grows with each attempt."""
    return lambda wildcards, attempt: amount * attempt


def fact(name):
    """A registry column of the wildcard's language."""
    return lambda wildcards: STUDY.facts(wildcards.lang)[name]


def tests_of(wildcards):
    """Every evaluation set of a language: what its training texts must not repeat."""
    tasks = STUDY.tests(wildcards.lang) if wildcards.lang in STUDY.languages else []
    return collect("<results>/corpora/{lang}/{task}.tsv", lang=wildcards.lang, task=tasks)

"""Two people get the same weights: the commit of every model of the shipped configurations is in them."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from seedbed import yamls

CONFIGURATIONS = [
    *map(Path, ("config.yaml", ".test/config/config.yaml")),
    *(path for folder in ("config", "studies") for path in sorted(Path(folder).glob("*.yaml"))),
]
UNSEEN = "no commit of it was found in public material; the first download locks one"
UNSURE = "two commits of it were found, and not which is on the main branch; the first download locks one"
UNPINNED = {
    "Helsinki-NLP/opus-mt-mul-en": UNSEEN,
    "facebook/m2m100_1.2B": UNSURE,
    "bigscience/bloomz-1b7": UNSEEN,
    "bigscience/bloomz-3b": "the one commit that was found is of 2022, before it had safetensors",
    "CohereForAI/aya-23-8B": UNSEEN,
    "cis-lmu/glot500-base": UNSEEN,
    "cointegrated/SONAR_200_text_encoder": UNSEEN,
    "elmurod1202/bertbek-news-big-cased": UNSEEN,
    "sentence-transformers/use-cmlm-multilingual": UNSEEN,
    "microsoft/infoxlm-base": "of the pull request that has safetensors the name alone is known, refs/pr/1",
    "mbasoz/lora-gemma327b-xllora-pos": UNSEEN,
    "mbasoz/lora-gemma327b-xllora-neg": UNSEEN,
    "mbasoz/sentence-embeddings-xllora-xlmr-{lang}": UNSEEN,
    "mbasoz/sentence-embeddings-xllora-mmbert-{lang}": UNSEEN,
    "hkust-nlp/SynCSE-partial-NLI": "a data set, which stands for a generator whose weights nobody has",
}
"""Model without a commit -> why."""


def models(group: Any) -> Iterator[dict[str, Any]]:
    """Sources of models in generators, backbones and recipes; those of data sets name columns, splits or members."""
    if isinstance(group, dict):
        if group.get("hub") and not {"split", "config", "columns", "member", "sets"} & {*group}:
            yield group
        for inner in group.values():
            yield from models(inner)


@functools.cache
def found() -> dict[str, set[str | None]]:
    """Model -> its commits in all configurations."""
    commits: dict[str, set[str | None]] = {}
    for path in CONFIGURATIONS:
        study = yamls.read(path)
        for kind in ("generators", "backbones", "recipes"):
            for source in models(study.get(kind, {})):
                commits.setdefault(source["hub"], set()).add(source.get("revision"))
    return commits


def test_every_model_has_one_commit_or_a_reason_why_not() -> None:
    pinned = {
        hub for hub, commits in found().items() if all(re.fullmatch("[0-9a-f]{40}", one or "") for one in commits)
    }
    assert {*found()} - pinned == {*UNPINNED}
    assert not [hub for hub in pinned if len(found()[hub]) > 1]


def test_the_rehearsal_has_the_same_commits() -> None:
    table = yamls.read("tests/rehearsal/models.yaml")["models"]
    commits = {hub: found()[hub] for hub in {*table} & {*found()} - {*UNPINNED}}
    assert len(commits) > 30 and {hub: {table[hub]["revision"]} for hub in commits} == commits

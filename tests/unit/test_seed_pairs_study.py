"""A study that learns from seed pairs: what it needs, and what it is told that does not fit."""

from __future__ import annotations

from typing import Any

import pytest

from seedbed.io import UserError
from seedbed.study.loading import load
from seedbed.study.recipe import StudyRecipe
from tests.refusals import tells

FILE = {"file": "README.md"}
PAIRED = {
    "data": {"corpus": "seed_pairs"},
    "objective": {"distillation": {"teacher": {"backbone": "bert", "recipe": "base"}}},
}


def config(**changes: Any) -> dict[str, Any]:
    """A study without NLI data: of one language, with text and parallel text."""
    return {
        "languages": {"hau": {}},
        "corpora": {"text": FILE, "parallel": FILE},
        "backbones": {"bert": {"source": {"file": "docs"}}},
        "recipes": {"base": {}, "paired": PAIRED},
        "tasks": {"sts": {"protocol": "sts", "source": FILE}},
    } | changes


def test_a_recipe_learns_from_seed_pairs() -> None:
    assert StudyRecipe.get(load(config()), "paired").data() == "results/corpora/{lang}/seed_pairs.tsv"
    lone = {"corpora": {"parallel": FILE}, "seed_pairs": {"language_id": False}}
    assert load(config(**lone)), "text alone tells the languages apart"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"corpora": {"text": FILE}}, "corpora: no parallel in hau ... recipe paired"),
        ({"corpora": {"text": FILE, "parallel": {"file": "no/{lang}"}}}, "parallel corpus of hau: ... no/hau"),
        ({"corpora": {"parallel": FILE}}, "languages.hau: no corpus; give `corpus:` ... `corpora.text`"),
        ({"corpora": {"parallel": FILE}, "languages": {"hau": {"corpus": FILE}}},
         "corpora.text: nothing for eng ... `seed_pairs.language_id`"),
        ({"seed_pairs": {"count": 0}}, "config.seed_pairs.count: ... greater ... 0"),
        ({"recipes": {"paired": PAIRED | {"data": {"corpus": "seed_pair"}}}}, "did you mean 'seed_pairs'?"),
        ({"recipes": {"paired": {"data": {"corpus": "seed_pairs"}, "objective": "ranking"}}},
         "recipes.paired: data.corpus has text, pivot; ranking reads ... sentence1, sentence2"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_one_line(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as caught:
        load(config(**changes))
    assert tells(str(caught.value), message) and "\n" not in str(caught.value)

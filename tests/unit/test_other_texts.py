"""Sentences beside the languages' own: which recipes learn them, and how many are drawn."""

from __future__ import annotations

from typing import Any

import pytest

from seedbed.io import UserError
from seedbed.study.graph.corpus import Anchors
from seedbed.study.loading import load
from seedbed.study.recipe import StudyRecipe
from tests.refusals import tells

FILE = {"file": "README.md"}
EACH = FILE | {"where": {"language": ["{lang}"]}}
"""The rows of a language."""


def config(recipe: dict[str, Any], **others: Any) -> dict[str, Any]:
    """A study of two languages and a recipe that learns other sentences."""
    return {
        "languages": {"hau": {}, "swh": {}},
        "corpora": {"text": EACH, "others": {"wiki": EACH} | others},
        "anchors": {"count": 40},
        "backbones": {"bert": {"source": {"file": "docs"}}},
        "recipes": {"base": {}, "unsupervised": {}, "mine": recipe},
        "tasks": {"sts": {"protocol": "sts", "source": FILE}},
    }


def test_a_recipe_learns_its_text_and_as_many_sentences_as_the_greediest_are_drawn() -> None:
    given = config({"like": "unsupervised", "data": {"corpus": "wiki", "rows": 60}})
    given["recipes"]["less"] = {"like": "mine", "data": {"rows": 50}}
    study = load(given)
    assert StudyRecipe.get(study, "mine").data() == "results/corpora/{lang}/wiki+anchors.tsv"
    assert StudyRecipe.get(study, "unsupervised").data() == "results/corpora/{lang}/anchors.tsv"
    assert [Anchors.get(study, "hau", name).drawing.count for name in ("wiki+anchors", "anchors")] == [60, 40]
    other = load(config({"like": "unsupervised", "data": {"corpus": "wiki"}}))
    assert Anchors.get(other, "hau", "wiki+anchors").drawing.count == 40


WIKI = {"like": "unsupervised", "data": {"corpus": "wiki"}}


@pytest.mark.parametrize(
    ("recipe", "others", "message"),
    [
        (WIKI | {"like": "mixed"}, {}, "recipes.mine: data.corpus has text; ranking reads ... sentence1, sentence2"),
        (WIKI | {"data": {"corpus": "wika"}}, {}, "recipes.mine.data.corpus: no corpus 'wika' ... 'wiki'"),
        (WIKI, {"nli": FILE}, "corpora.others.nli: this name ... each language; take another"),
        (WIKI, {"anchors": FILE}, "corpora.others.anchors: this name ... each language"),
        (WIKI, {"sts": FILE}, "corpora.others.sts: this name ... task; take another"),
        (WIKI, {"wiki": {"file": "no-such/{lang}"}}, "wiki corpus of hau: ... no-such/hau"),
        (WIKI, {"wiki": {"file": "{sts17}"}}, "corpora.others.wiki: nothing for hau ... recipe mine"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_one_line(recipe: dict[str, Any], others: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as caught:
        load(config(recipe, **others))
    assert tells(str(caught.value), message) and "\n" not in str(caught.value)

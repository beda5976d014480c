"""What stands before texts by their language: what a job is told, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from seedbed.io import UserError
from seedbed.study.graph import encoders, prefixes
from seedbed.study.prefix_languages import of_prefixes
from tests.asking import TOLD, asking, study_of

SPOKEN = {"bert": {"source": {"file": "own/bert"}, "prefix": "{flores}"}}
RECIPES = {
    "base": {},
    "own": {"data": {"triplets": "nli"}, "objective": "contrast"},
    "single": {"data": {"triplets": "nli"}, "objective": "contrast", "language": "all"},
    "taught": {"data": {"parallel": "parallel"}, "objective": "neighbours"},
    "xllora": {},
}


def study(**changes: Any):
    known = {"languages": {"hau": {}, "hin": {}}}
    given = known | {"backbones": SPOKEN, "recipes": RECIPES, "classifiers": {}, "compute": None, "statistics": {}}
    return study_of(TOLD, **given | {"tables": [], "figures": []} | changes)


def of(recipe: str, lang: str) -> dict[str, str]:
    return {"backbone": "bert", "recipe": recipe, "lang": lang, "seed": "3"}


def test_a_job_is_told_the_language_and_that_of_other_columns() -> None:
    ask = asking(study())
    assert ask(prefixes.arguments, **of("base", "mul")) == ["--language", "mul"]
    assert ask(prefixes.arguments, **of("own", "hau")) == ["--language", "hau"]
    assert ask(prefixes.arguments, **of("single", "mul")) == ["--language", "mul"]
    taught = ["--language", "hau", "--languages"]
    assert ask(prefixes.arguments, **of("taught", "hau")) == [*taught, "pivot=eng"]
    assert ask(prefixes.arguments, **of("xllora", "hau")) == [*taught, "positive=eng", "negative=eng"]
    assert ask(prefixes.in_pivot, **of("own", "hau")) == []
    assert ask(encoders.prefix, **of("own", "hau")) == "{flores}"


def test_what_the_study_says_of_a_language_is_told() -> None:
    ask = asking(study(languages={"hau": {"codes": {"flores": "hau_Other"}}, "eng": {}}))
    assert ask(prefixes.arguments, **of("base", "mul")) == ["--language", "mul", "--own-prefixes", "hau=hau_Other"]


def test_a_prefix_that_is_the_same_for_all_tells_no_language(ask) -> None:
    assert ask(prefixes.arguments, **of("base", "mul")) == []
    assert ask(prefixes.alone, **of("base", "mul")) == ask(prefixes.of_backbone, **of("base", "mul")) == "query: "
    assert prefixes.same("query: ", "bert") == "query: "


def test_what_reads_all_texts_alike_takes_no_such_prefix() -> None:
    ask = asking(study())
    message = "backbones.bert.prefix: '{flores}' is another in each language, "
    for function in (prefixes.alone, prefixes.of_backbone):
        with pytest.raises(UserError, match=message):
            ask(function, **of("base", "mul"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"backbones": {"bert": {**SPOKEN["bert"], "prefix": "{flore}"}}},
         r"backbones.bert.prefix: no column 'flore' of the language registry; did you mean 'flores'"),
        ({"recipes": {"base": {"prefix": "{lang}"}}}, r"recipes.base.prefix: no column 'lang' of the language registry"),
        ({"languages": {"abs": {}}, "recipes": {"base": {}}},
         r"languages.abs: no flores, which stands in the prefix '\{flores\}' of bert before its texts; set `codes: "),
    ],
)  # fmt: skip
def test_a_prefix_that_names_what_nobody_knows_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        of_prefixes(study(**changes))


def test_a_recipe_may_leave_a_language_out() -> None:
    recipes = {"base": {"languages": ["hau"]}}
    with pytest.raises(ValueError, match="languages.abs: no flores"):
        of_prefixes(study(languages={"abs": {}, "hau": {}}, recipes={"base": {}}))
    of_prefixes(study(languages={"abs": {}, "hau": {}}, recipes=recipes))

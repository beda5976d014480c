"""Tests of two languages: whose encoders are scored on which sets, what they keep out of training, and adapters off."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from seedbed.study.loads import LOADS

from seedbed.study import pairs
from seedbed.study.graph import corpora, encoders, evaluation, plans, tables
from seedbed.study.model import Study
from seedbed.study.wildcards import constraints
from seedbed.tables.plan import Cell
from tests.asking import TOLD, asking, study_of

OWN = {"hin-hau": {"file": "own/{lang}.tsv"}, "hau-hin": {"file": "own/{iso1}-hin.tsv"}}
TASKS = {
    "sts": {"protocol": "sts", "source": {"file": "own/{lang}.sts.tsv"}, "pairs": "all"},
    "choice": {"protocol": "choice", "source": {"file": "own/{lang}.tsv"}, "pairs": ["hin-hau", "hau-swh"]},
    "apart": {"protocol": "sts", "source": {"file": "x"}, "languages": [], "pairs": OWN, "on_request": True},
    "single": {"protocol": "sts", "languages": [], "pairs": {"hin-hau": {"file": "y"}, "hin-swh": {"file": "z"}}},
}
LEFT: dict[str, Any] = {"classifiers": {}, "compute": None, "generators": {}, "figures": [], "tables": []}
RECIPES = {
    "base": {},
    "multi-m": {"method": "unsupervised"},
    "multi-mc": {},
    "multi": {"like": "multi-mc", "aligned": "pairs"},
    "cross": {"method": "crosslingual"},
}


def study(**changes: Any) -> Study:
    backbones = {"bert": {"source": {"file": "own/backbone"}}}
    return study_of(TOLD, **LEFT | {"tasks": TASKS, "recipes": RECIPES, "backbones": backbones} | changes)


def job(recipe: str = "multi-mc", lang: str = "hau", tasks: str = "all", test_lang: str = "hau-hin") -> dict[str, str]:
    return {"backbone": "bert", "recipe": recipe, "lang": lang, "test_lang": test_lang, "tasks": tasks}


def test_pairs_are_joined_or_have_sets_of_their_own() -> None:
    found = study()
    both = ["hau-hin", "hin-hau"]
    assert pairs.tests(found) == {
        "hau-hin": {"apart": both[::-1], "choice": both, "single": ["hin-hau"], "sts": both}
    }, "a language that the study does not have is in no pair"
    assert pairs.own_sets(found) == [("apart", "hin-hau"), ("apart", "hau-hin"), ("single", "hin-hau")]
    assert pairs.tested_by(found, "choice") == ["hau-hin"] and found.tested_by("apart") == []
    assert found.tests_of("hau-hin") == ["apart", "choice", "single", "sts"] and found.tests_of("hau") == [
        "choice",
        "sts",
    ]
    assert found.test("apart", "hin-hau").file == "own/hin-hau.tsv"
    assert found.test("apart", "hau-hin").file == "own/ha-hin.tsv", "the first language's facts, with the order's code"


def test_each_side_has_its_own_encoder_and_all_languages_one() -> None:
    ask = asking(study())
    assert ask(Scores, **job()).systems == [f"encoders/bert/multi-mc/hau/{seed}/seedbed.json" for seed in (3, 5)]
    assert ask(Scores, **job()).seconds == [f"encoders/bert/multi-mc/hin/{seed}/seedbed.json" for seed in (3, 5)]
    one = job("cross", "eng")
    assert ask(Scores, **one).seconds == ask(Scores, **one).systems
    assert ask(Scores, **job("base", "mul")).seconds == ["encoders/bert/base/mul/0/seedbed.json"]
    assert ask(Scores, **job(test_lang="hau")).seconds == []
    assert ask(Scores, **job()).settings()["language_name"] == ["Hausa-Hindi"]


def test_a_job_of_a_pair_reads_both_languages_sets_or_those_of_the_orders() -> None:
    ask = asking(study())
    assert ask(Scores, **job()).scored == ["choice", "single", "sts"]
    names = ["hau/choice", "hin/choice", "hin-hau/single", "hau/sts", "hin/sts"]
    assert ask(Scores, **job()).inputs()["tests"] == [f"corpora/{name}.tsv" for name in names]
    assert ask(Scores, **job()).inputs()["records"] == [f"corpora/{name}.json" for name in names]
    apart = job(tasks="apart")
    assert ask(Scores, **apart).inputs()["tests"] == ["corpora/hin-hau/apart.tsv", "corpora/hau-hin/apart.tsv"]
    seconds = [f"encoders/bert/multi-mc/hin/{seed}/seedbed.json" for seed in (3, 5)]
    assert ask(Scores, **job()).seconds == seconds == ask(Scores, **apart).seconds
    assert ask(Scores, **job()).orders == {"single": ["hin-hau"]}
    assert ask(Scores, **apart).orders == {"apart": ["hin-hau", "hau-hin"]}
    mteb = TASKS | {"sts": TASKS["sts"] | {"mteb": {"name": "STS"}}}
    told = [evaluation.task_for(study(tasks=mteb), "sts", code) for code in ("hau", "hau-hin")]
    assert [bool(one.mteb) for one in told] == [True, False] and not any(one.pairs for one in told)


def test_what_is_learnt_repeats_neither_side_of_a_pair() -> None:
    ask = asking(study())
    own = ["corpora/hau/choice.tsv", "corpora/hau/sts.tsv"]
    orders = ["corpora/hau-hin/apart.tsv", "corpora/hin-hau/apart.tsv", "corpora/hin-hau/single.tsv"]
    assert ask(corpora.tests, lang="hau") == sorted(own + orders)
    assert {*orders, *own} < {*ask(corpora.every_test, lang="eng")}
    known = constraints(study())
    assert "hin\\-hau" in known["lang"].split("|") and "hau\\-hin" in known["test_lang"].split("|")


def test_adapters_are_taken_off_and_nothing_is_trained_for_it() -> None:
    found = study()
    ask = asking(found)
    assert pairs.maker(found, "multi") == pairs.maker(found, "multi-mc") == "multi-mc"
    assert ask(Scores, **job("multi")).systems == ask(Scores, **job()).systems
    assert ask(Scores, **job("multi")).seconds == ask(Scores, **job()).seconds
    on = {recipe: ask(Scores, **job(recipe, test_lang="hau")).adapters for recipe in ("multi", "multi-mc")}
    assert on == {"multi": False, "multi-mc": True}
    assert ask(Scores, **job("multi")).adapters, "pairs have them on"
    assert encoders.of_recipe(found, "bert", "multi", "hau").endswith("/multi-mc/hau/3/seedbed.json")
    never = asking(study(recipes=RECIPES | {"multi": {"like": "multi-mc", "aligned": "never"}}))
    for test_lang in ("hau", "hau-hin"):
        assert not never(Scores, **job("multi", test_lang=test_lang)).adapters


def test_tables_show_pairs_and_the_encoders_of_both_languages(monkeypatch: pytest.MonkeyPatch) -> None:
    found = study(tables=["told"])
    sides = {("bert", "multi-mc", code, 3) for code in ("hau", "hin")}
    block = SimpleNamespace(cells=lambda: [Cell("bert", "multi", "hau", 3, "sts", "hau-hin")])
    monkeypatch.setattr(tables, "table_of", lambda name: SimpleNamespace(of_classifiers=False))
    monkeypatch.setattr(plans, "plan", lambda study, table: [block])
    assert tables.shown_encoders(found) == sides


def test_both_encoders_of_a_pair_are_in_memory_at_once() -> None:
    class Needed:
        study = study()
        reading = staticmethod(lambda backbone, tasks: 100)
        encoder = staticmethod(lambda backbone: 7.0)

    loads = {
        name: LOADS["score"](Needed, SimpleNamespace(**given))
        for name, given in {"two": job(), "one": job(test_lang="hau"), "shared": job("cross", "eng")}.items()
    }
    assert {name: tuple(load) for name, load in loads.items()} == {
        "two": (1, 200, 14.0, 0), "one": (1, 100, 7.0, 0), "shared": (1, 100, 7.0, 0),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"tasks": {"sts": TASKS["sts"] | {"pairs": ["hau-zzz"]}}}, "tasks.sts.pairs: no language 'zzz'"),
        (
            {"recipes": RECIPES | {"multi": {"method": "multi-mc", "aligned": "pairs"}}},
            r"recipes.multi.aligned:.*another recipe; give `like`",
        ),
        (
            {"recipes": RECIPES | {"multi": {"like": "multi-m", "aligned": "pairs"}}},
            r"recipes.multi.aligned: .*multi-m.*no parallel adapters",
        ),
        (
            {"recipes": RECIPES | {"multi": {"like": "multi-mc", "aligned": "pairs", "training": {"epochs": 9}}}},
            r"recipes.multi.training: `aligned: pairs`.*multi-mc; leave",
        ),
    ],
)
def test_what_does_not_fit_is_one_line(changes: dict[str, Any], told: str) -> None:
    pairs.consistent(study())
    with pytest.raises(ValueError, match=told):
        pairs.consistent(study(**changes))

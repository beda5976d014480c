"""Tests of two languages: whose encoders are scored on which sets, what they keep out of training, and adapters off."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from seedbed import yamls
from seedbed.study.checks.checkpoints import of_switched_adapters
from seedbed.study.checks.tasks import of_tasks
from seedbed.study.graph.corpus import Anchors, SeedPairs
from seedbed.study.graph.encoder import Encoder
from seedbed.study.graph.report import Report
from seedbed.study.graph.score import Scores, task_for
from seedbed.study.graph.table import TablePlan
from seedbed.study.model import Study
from seedbed.study.recipe import StudyRecipe
from seedbed.study.wildcards import constraints
from seedbed.tables.plan import Cell
from tests.asking import TOLD, asking, study_of, within

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
    "multi-m": {"like": "unsupervised"},
    "multi-mc": {},
    "multi": {"like": "multi-mc", "aligned": "pairs"},
    "cross": {"like": "crosslingual"},
}


def study(**changes: Any) -> Study:
    backbones = {"bert": {"source": {"file": "own/backbone"}}}
    return study_of(TOLD, **LEFT | {"tasks": TASKS, "recipes": RECIPES, "backbones": backbones} | changes)


def require_fitting(found: Study) -> None:
    of_tasks(found)
    of_switched_adapters(found)


def job(recipe: str = "multi-mc", lang: str = "hau", tasks: str = "all", test_lang: str = "hau-hin") -> dict[str, str]:
    return {"backbone": "bert", "recipe": recipe, "lang": lang, "test_lang": test_lang, "tasks": tasks}


def test_each_side_of_a_pair_reads_the_english_that_its_own_policy_chose() -> None:
    """A set that has both languages in one file has one choice, the first language's."""
    recipes = yamls.read(TOLD)["recipes"]
    own = study_of(TOLD, recipes=recipes | {"anchored": recipes["anchored"] | {"data": {"from_languages": "own"}}})
    read = Scores.get(own, "two", "paths", "hau", "hau-hin", "all").english["0/hau-hin"]
    parts = [file.partition("/choices/")[2] for file in read]
    assert parts == ["hau/5/hau/sts.tsv", "hin/5/hin/sts.tsv"]
    assert read[1] in Scores.get(own, "two", "paths", "hin", "hin", "all").english["0/hin"]


def test_pairs_are_joined_or_have_sets_of_their_own() -> None:
    found = study()
    both = ["hau-hin", "hin-hau"]
    assert found.tests_by_pair == {
        "hau-hin": {"apart": both[::-1], "choice": both, "single": ["hin-hau"], "sts": both}
    }, "a language that the study does not have is in no pair"
    assert found.own_sets == [("apart", "hin-hau"), ("apart", "hau-hin"), ("single", "hin-hau")]
    assert found.pairs_tested_by("choice") == ["hau-hin"] and found.tested_by("apart") == []
    assert found.tests_of("hau-hin") == ["apart", "choice", "single", "sts"] and found.tests_of("hau") == [
        "choice",
        "sts",
    ]
    assert found.test("apart", "hin-hau").file == "own/hin-hau.tsv"
    assert found.test("apart", "hau-hin").file == "own/ha-hin.tsv", "the first language's facts, with the order's code"


def test_each_side_has_its_own_encoder_and_all_languages_one() -> None:
    ask = asking(study())
    pair, one = ask(Scores, **job()), ask(Scores, **job("cross", "eng"))
    assert pair.systems == [f"encoders/bert/multi-mc/hau/{seed}/seedbed.json" for seed in (3, 5)]
    assert pair.seconds == [f"encoders/bert/multi-mc/hin/{seed}/seedbed.json" for seed in (3, 5)]
    assert one.seconds == one.systems
    assert ask(Scores, **job("base", "mul")).seconds == ["encoders/bert/base/mul/0/seedbed.json"]
    assert ask(Scores, **job(test_lang="hau")).seconds == []
    assert pair.settings()["language_name"] == ["Hausa-Hindi"]


def test_a_job_of_a_pair_reads_both_languages_sets_or_those_of_the_orders() -> None:
    ask = asking(study())
    joined, apart = ask(Scores, **job()), ask(Scores, **job(tasks="apart"))
    assert joined.scored == ["choice", "single", "sts"]
    names = ["hau/choice", "hin/choice", "hin-hau/single", "hau/sts", "hin/sts"]
    assert joined.inputs()["tests"] == [f"corpora/{name}.tsv" for name in names]
    assert joined.inputs()["records"] == [f"corpora/{name}.json" for name in names]
    assert apart.inputs()["tests"] == ["corpora/hin-hau/apart.tsv", "corpora/hau-hin/apart.tsv"]
    seconds = [f"encoders/bert/multi-mc/hin/{seed}/seedbed.json" for seed in (3, 5)]
    assert joined.seconds == seconds == apart.seconds
    assert joined.settings()["orders"] == {"single": ["hin-hau"]}
    assert apart.settings()["orders"] == {"apart": ["hin-hau", "hau-hin"]}
    mteb = TASKS | {"sts": TASKS["sts"] | {"mteb": {"name": "STS"}}}
    told = [task_for(study(tasks=mteb), "sts", code) for code in ("hau", "hau-hin")]
    assert [bool(one.mteb) for one in told] == [True, False] and not any(one.pairs for one in told)


def test_what_is_learnt_repeats_neither_side_of_a_pair() -> None:
    found = study(recipes=RECIPES | {"vanilla": {"data": {"from_languages": "pivot"}}})
    own = ["corpora/hau/choice.tsv", "corpora/hau/sts.tsv"]
    orders = ["corpora/hau-hin/apart.tsv", "corpora/hin-hau/apart.tsv", "corpora/hin-hau/single.tsv"]
    assert within(Anchors.get(found, "hau", "anchors").inputs()["tests"], found) == sorted(own + orders)
    assert {*orders, *own} < {*within(SeedPairs.get(found, "eng").inputs()["tests"], found)}
    known = constraints(found)
    assert "hin\\-hau" in known["lang"].split("|") and "hau\\-hin" in known["test_lang"].split("|")


def test_adapters_are_taken_off_and_nothing_is_trained_for_it() -> None:
    found = study()
    ask = asking(found)
    assert {StudyRecipe.get(found, name).maker.name for name in ("multi", "multi-mc")} == {"multi-mc"}
    off, kept = ask(Scores, **job("multi")), ask(Scores, **job())
    assert off.systems == kept.systems and off.seconds == kept.seconds
    on = {recipe: ask(Scores, **job(recipe, test_lang="hau")).adapters for recipe in ("multi", "multi-mc")}
    assert on == {"multi": False, "multi-mc": True}
    assert off.adapters, "pairs have them on"
    assert Encoder.resolved(found, "bert", "multi", "hau").path.endswith("/multi-mc/hau/3/seedbed.json")
    never = asking(study(recipes=RECIPES | {"multi": {"like": "multi-mc", "aligned": "never"}}))
    for test_lang in ("hau", "hau-hin"):
        assert not never(Scores, **job("multi", test_lang=test_lang)).adapters


def test_tables_show_pairs_and_the_encoders_of_both_languages(monkeypatch: pytest.MonkeyPatch) -> None:
    found = study(tables=["told"])
    sides = {("bert", "multi-mc", code, 3) for code in ("hau", "hin")}
    monkeypatch.setattr(TablePlan, "spec", SimpleNamespace(of_classifiers=False))
    monkeypatch.setattr(TablePlan, "cells", {Cell("bert", "multi", "hau", 3, "sts", "hau-hin")})
    shown = Report.get(found).encoders
    assert {(one.backbone, one.recipe, one.lang, one.seed) for one in shown} == sides


def test_both_encoders_of_a_pair_are_in_memory_at_once() -> None:
    ask = asking(study())
    sizes = SimpleNamespace(reading=lambda backbone, tasks, count: count)
    given = {"two": job(), "one": job(test_lang="hau"), "shared": job("cross", "eng")}
    assert {name: ask(Scores, **names).load(sizes) for name, names in given.items()} == {
        "two": 2, "one": 1, "shared": 1,
    }  # fmt: skip


def test_what_starts_from_a_recipe_that_switches_adapters_off_starts_from_the_encoder_of_that_it_is_like() -> None:
    """Its card says of which encoder the weights are."""
    published = {"bert": {"hub": "some/encoder", "revision": "1" * 40}}
    switched = {"like": "multi-mc", "aligned": "never", "published": published}
    later = {"from": "multi", "data": {"corpus": "nli"}, "objective": "contrast"}
    found = study(recipes=RECIPES | {"multi": switched, "later": later}, start="encoders")
    one = Encoder.get(found, "bert", "later", "hau", 5)
    assert one.begun_from == Encoder.resolved(found, "bert", "multi-mc", "hau", 5)
    assert one.weights == one.begun_from.path and one.begun_from.trains
    origins = [record["origin"] for record in one.lineage()["data"]]
    assert origins and not any("some/encoder" in str(origin) for origin in origins)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"tasks": {"sts": TASKS["sts"] | {"pairs": ["hau-zzz"]}}}, "tasks.sts.pairs: no language 'zzz'"),
        (
            {"recipes": RECIPES | {"multi-mc": {"like": "multi-mc", "aligned": "pairs"}}},
            r"recipes.multi-mc.aligned:.*another recipe of the study; name that as `like`",
        ),
        (
            {"recipes": RECIPES | {"multi": {"aligned": "pairs", "data": {"corpus": "nli"}, "objective": "contrast"}}},
            r"recipes.multi.aligned:.*another recipe of the study; name that as `like`",
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
    require_fitting(study())
    with pytest.raises(ValueError, match=told):
        require_fitting(study(**changes))

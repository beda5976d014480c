"""What stands before texts by their language: what a job is told, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from seedbed import yamls
from seedbed.encoders.settings import Prompts
from seedbed.io import UserError
from seedbed.study.backbone import StudyBackbone
from seedbed.study.checks.prefixes import of_prefixes
from seedbed.study.graph.aligned import PivotVectors
from seedbed.study.graph.chosen import ChosenCandidate
from seedbed.study.graph.derived import CopiedEncoder
from seedbed.study.graph.encoder import Encoder
from seedbed.study.graph.score import Scores
from seedbed.study.loading import load
from seedbed.study.recipe import StudyRecipe
from seedbed.study.sizes import Load
from tests.asking import TOLD, asking, study_of
from tests.refusals import pattern

SPOKEN = {"bert": {"source": {"file": "own/bert"}, "prefix": "{flores}"}}
RECIPES = {
    "base": {},
    "own": {"data": {"corpus": "nli"}, "objective": "contrast"},
    "single": {"data": {"corpus": "nli", "from_languages": "all"}, "objective": "contrast"},
    "taught": {"data": {"corpus": "parallel"}, "objective": "neighbours"},
    "xllora": {},
}


def study(**changes: Any):
    known = {"languages": {"hau": {}, "hin": {}}}
    given = known | {"backbones": SPOKEN, "recipes": RECIPES, "classifiers": {}, "compute": None, "statistics": {}}
    return study_of(TOLD, **given | {"tables": [], "figures": []} | changes)


def of(recipe: str, lang: str) -> dict[str, str]:
    return {"backbone": "bert", "recipe": recipe, "lang": lang, "seed": "3"}


def by_language(ask, names: dict[str, str]) -> dict[str, Any]:
    """What an encoder's job is told of languages."""
    told = ask(Encoder, **names).settings()
    return {name: told[name] for name in ("language", "languages", "own_prefixes") if name in told}


def test_a_job_is_told_the_language_and_that_of_other_columns() -> None:
    ask = asking(study())
    for recipe, lang, others in (
        ("base", "mul", {}),
        ("own", "hau", {}),
        ("single", "mul", {}),
        ("taught", "hau", {"pivot": "eng"}),
        ("xllora", "hau", {"positive": "eng", "negative": "eng"}),
    ):
        told = {"language": lang, "languages": others, "own_prefixes": {}}
        assert by_language(ask, of(recipe, lang)) == told
    assert ask(StudyRecipe, name="own").in_pivot() == []
    assert ask(Encoder, **of("own", "hau")).prefix == "{flores}"


def test_pivot_sentences_are_read_as_such() -> None:
    vectors = {"recipe": "base", "corpus": "parallel", "lang": "hau", "seed": "0"}
    found = asking(study())(PivotVectors, backbone="bert", **vectors).settings()
    assert found == {"columns": ["pivot"], "language": "eng"}
    plain = study(backbones={"bert": {"source": {"file": "own/bert"}, "prefix": "query: "}})
    assert asking(plain)(PivotVectors, backbone="bert", **vectors).settings() == {"columns": ["pivot"]}


@pytest.mark.parametrize("system", ["bert", "fused", "learner"])
def test_a_set_in_two_languages_has_no_prefix_for_both(system: str) -> None:
    """Of an encoder, a fusion of several, or one that finds a classifier's examples."""
    fused = {"plain": {"source": {"file": "own/bert"}}, "fused": {"fusion": {"of": {"plain": 1, "bert": 1}}}}
    shown = {"retriever": {"backbone": "fused", "recipe": "base"}}
    changes = {"backbones": SPOKEN | fused, "recipes": {"base": {}}}
    changes |= {"classifiers": {"learner": {"generator": "tiny", "in_context": shown}}}
    train = {"source": {"file": "own/{lang}.tsv"}, "train": {"file": "own/{lang}.train.tsv"}}
    task = {"protocol": "icl" if system == "learner" else "knn"} | train
    scores = {"backbone": system, "recipe": "one-shot" if system == "learner" else "base", "lang": "mul"}
    scores |= {"test_lang": "hau", "tasks": "all"}
    one = study(**changes, tasks={"own": task})
    assert asking(one)(Scores, **scores).inputs()["trains"] == {"hau/own": "corpora/hau/own_train.tsv"}
    two = study(**changes, tasks={"own": task | {"train_language": "eng"}})
    with pytest.raises(UserError, match=pattern("tasks.own: it has texts in two languages ... another prefix")):
        asking(two)(Scores, **scores).inputs()


def test_what_the_study_says_of_a_language_is_told() -> None:
    ask = asking(study(languages={"hau": {"codes": {"flores": "hau_Other"}}, "eng": {}}))
    assert by_language(ask, of("base", "mul"))["own_prefixes"] == {"hau": "hau_Other"}


def test_a_prefix_that_is_the_same_for_all_tells_no_language(ask) -> None:
    assert by_language(ask, of("base", "mul")) == {}
    bert = ask(StudyBackbone, name="bert")
    assert ask(Encoder, **of("base", "mul")).plain_prefix == bert.plain_prefix() == "query: "


def test_what_reads_all_texts_alike_takes_no_such_prefix() -> None:
    ask = asking(study())
    message = "backbones.bert.prefix: '{flores}' is another in each language, "
    with pytest.raises(UserError, match=message):
        _ = ask(Encoder, **of("base", "mul")).plain_prefix
    with pytest.raises(UserError, match=message):
        ask(StudyBackbone, name="bert").plain_prefix()


def test_a_prefix_that_is_no_plain_one_is_told_where_it_is_given() -> None:
    backbones = {"bert": {"source": {"file": "own/bert"}, "prefix": ""}, "sonar": {**SPOKEN["bert"]}}
    pair = {"two": {"pair": {"multilingual": "sonar", "english": "bert"}}}
    aligned = {
        "data": {"corpus": "parallel"},
        "objective": {"alignment": {"pivot": {"backbone": "sonar", "recipe": "base"}}},
    }
    recipes = RECIPES | {"aligned": aligned, "told": {"like": "base", "prefix": "{flores}"}}
    ask = asking(study(backbones=backbones | pair, recipes=recipes))
    for asked, place in (
        (lambda: ask(Encoder, **of("aligned", "eng")).plain_prefix, "backbones.sonar.prefix"),
        (lambda: ask(Encoder, **of("told", "mul")).plain_prefix, "recipes.told.prefix"),
        (lambda: ask(StudyBackbone, name="two").plain_prefix(), "backbones.sonar.prefix"),
    ):
        with pytest.raises(UserError, match=f"^{place}: '{{flores}}' is another in each language"):
            asked()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"backbones": {"bert": {**SPOKEN["bert"], "prefix": "{flore}"}}},
         r"backbones.bert.prefix:.*'flore'.*'flores'"),
        ({"recipes": {"base": {"prefix": "{lang}"}}}, "recipes.base.prefix: no column of the language registry 'lang'"),
        ({"languages": {"abs": {}}, "recipes": {"base": {}}},
         r"languages.abs: no flores.*bert.*set `codes: "),
        ({"recipes": {"base": {}, "kept": {"data": {"corpus": "both"}, "objective": "retention"}},
          "corpora": {"text": {"file": "own/{lang}.tsv"}, "others": {"both": {"kind": "matched_pairs", "file": "x"}}}},
         r"recipes.kept: the prefix of bert depends on the language, and retention reads texts of two languages in one"),
    ],
)  # fmt: skip
def test_a_prefix_that_names_what_nobody_knows_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        of_prefixes(study(**changes))


def test_a_recipe_may_leave_a_language_out() -> None:
    recipes = {"base": {"only": {"languages": ["hau"]}}}
    with pytest.raises(ValueError, match="languages.abs: no flores"):
        of_prefixes(study(languages={"abs": {}, "hau": {}}, recipes={"base": {}}))
    of_prefixes(study(languages={"abs": {}, "hau": {}}, recipes=recipes))


ASKED = {"query": "Find: ", "text": "Read: "}


def test_prompts_are_told_and_a_prefix_of_a_recipe_takes_their_place() -> None:
    recipes = RECIPES | {"plain": {"like": "base", "prefix": ""}, "on": {"from": "own", **RECIPES["own"]}}
    ask = asking(study(backbones={"bert": {"source": {"file": "own/bert"}, "prompts": ASKED}}, recipes=recipes))
    for recipe, lang in (("base", "mul"), ("own", "hau"), ("on", "hau")):
        told = ask(Encoder, **of(recipe, lang)).settings()
        assert told["prompts"] == Prompts(**ASKED) and "prefix" not in told
    assert ask(Encoder, **of("base", "mul")).plain_prefix is None, "what is fine-tuned asks the encoder"
    assert ask(StudyBackbone, name="bert").plain_prefix() == "Read: "
    told = ask(Encoder, **of("plain", "mul")).settings()
    assert told["prefix"] == "" and "prompts" not in told


def test_without_a_word_of_the_study_the_model_says_it(tmp_path: Path) -> None:
    ask = asking(study(backbones={"bert": {"source": {"file": "own/bert"}}}))
    for recipe, lang in (("base", "mul"), ("own", "hau")):
        assert ask(Encoder, **of(recipe, lang)).settings()["prefix"] is None
    assert ask(StudyBackbone, name="bert").plain_prefix() is None


PICKY = {"backbone": "bert", "recipe": "picky", "seed": "3"}
CHOSEN = {"what": "prefix", "owner": "bert+picky"}


def test_a_prefix_is_chosen_among_those_of_untrained_recipes_in_each_language(ask) -> None:
    file = "chosen/prefix/bert+picky/hau.json"
    assert ask(Encoder, **PICKY, lang="hau").prefix_file == file
    assert ask(Encoder, **PICKY | {"recipe": "mean"}, lang="hau").prefix_file == file
    assert ask(Encoder, **PICKY | {"recipe": "base"}, lang="mul").prefix_file == ""
    assert ask(ChosenCandidate, **CHOSEN, lang="hau").settings()["values"] == {"asked": "asked: ", "spoken": "said: "}
    scores = {f"{name}/hau": f"scores/bert/{name}/mul/hau.bitext.json" for name in ("asked", "spoken")}
    assert ask(ChosenCandidate, **CHOSEN, lang="hau").inputs()["scores"] == scores


def test_where_a_language_has_no_test_those_that_have_one_choose() -> None:
    asked = asking(study_of(TOLD, best={"dev": "told"}))  # a task of Hindi alone
    assert [*asked(ChosenCandidate, **CHOSEN, lang="hau").inputs()["scores"]] == ["asked/hin", "spoken/hin"]


def test_languages_that_a_recipe_is_not_for_do_not_choose_its_prefix(told) -> None:
    assert [*asking(told)(ChosenCandidate, **CHOSEN, lang="mul").inputs()["scores"]] == [
        f"{name}/{code}" for name in ("asked", "spoken") for code in ("hau", "hin")
    ]
    recipes = yamls.read(TOLD)["recipes"]
    for name in ("picky", "asked", "spoken"):
        recipes[name]["only"]["languages"] = ["hin"]
    asked = asking(study_of(TOLD, recipes=recipes))
    assert [*asked(ChosenCandidate, **CHOSEN, lang="mul").inputs()["scores"]] == ["asked/hin", "spoken/hin"]


def test_a_recipe_with_a_prefix_of_its_own_or_a_new_vocabulary_has_no_choice(told) -> None:
    names = ("picky", "mean", "base", "own", "swapped", "further")
    assert [StudyRecipe.get(told, name).prefix_chooser for name in names] == ["picky", "picky", "", "", "", ""]


def test_what_must_know_a_prefix_beforehand_refuses_one_that_is_chosen(told, ask) -> None:
    message = r"recipes.picky.prefix.choose: a development task chooses this prefix, .* encoders of mean are fine-tuned"
    with pytest.raises(UserError, match=message):
        _ = ask(Encoder, **PICKY | {"recipe": "mean"}, lang="hau").plain_prefix
    assert StudyRecipe.get(told, "base").given_prefix("bert") == "query: "


def test_one_task_more_chooses_no_prefix_again() -> None:
    """The score that chooses is made alone, and a job that makes others too would run again with each of them."""
    ask = asking(study_of(TOLD))
    spoken = {"backbone": "bert", "recipe": "spoken", "lang": "mul", "test_lang": "hau", "tasks": "all"}
    assert "bitext" not in ask(Scores, **spoken).scored
    assert ask(Scores, **spoken | {"tasks": "bitext"}).scored == ["bitext"]
    assert "bitext" in ask(Scores, **spoken | {"recipe": "unsupervised", "lang": "hau"}).scored


def test_of_a_copy_there_is_one_for_each_that_it_is_made_of(told) -> None:
    recipes = RECIPES | {
        "unsupervised": {},
        "copied": {"from": "unsupervised", "data": {"corpus": "text"}, "copies": "bfloat16"},
        "mean": {"from": "unsupervised", "data": {"corpus": "text"}, "copies": "averaged"},
        "small": {"from": "mean", "data": {"corpus": "text"}, "copies": "trimmed"},
        "bare": {"data": {"corpus": "text"}, "copies": "trimmed"},
        "base-copied": {"from": "base", "data": {"corpus": "text"}, "copies": "bfloat16"},
    }
    found = {name: StudyRecipe.get(study(recipes=recipes), name).seeds for name in recipes}
    assert found["copied"] == [3, 5] and found["mean"] == found["small"] == found["bare"] == [3]
    assert found["base-copied"] == [0]


def test_the_mean_of_seeds_is_one_encoder_that_reads_the_others(told, ask) -> None:
    assert (StudyRecipe.get(told, "picky").seeds, StudyRecipe.get(told, "mean").seeds) == ([3, 5], [3])
    found = ask(CopiedEncoder, **PICKY | {"recipe": "mean"}, lang="hau").others
    assert found == {"seed5": "encoders/bert/picky/hau/5/seedbed.json"}
    recipes = yamls.read(TOLD)["recipes"]
    recipes["mean"]["copies"] = {"averaged": {"share": 0.25}}
    again = asking(study_of(TOLD, recipes=recipes))(CopiedEncoder, **PICKY | {"recipe": "mean"}, lang="hau")
    assert again.others == found | {"start": "encoders/bert/weights/seedbed.json"}


def test_copies_have_their_encoder_themselves_and_at_most_two_other_seeds_in_memory() -> None:
    sizes = SimpleNamespace(mining=lambda backbone: Load(gpus=1, parameters=1.0), encoder=lambda backbone: 1.0)
    for seeds, opened in ([3, 5], 3), ([3, 5, 7], 4), ([3, 5, 7, 9], 4):
        recipes = yamls.read(TOLD)["recipes"]
        recipes["picky"]["only"]["seeds"] = seeds
        recipes["halved"] = recipes["mean"] | {"copies": "bfloat16"}
        ask = asking(study_of(TOLD, recipes=recipes))
        copies = {name: ask(CopiedEncoder, **PICKY | {"recipe": name}, lang="hau") for name in ("mean", "halved")}
        assert {name: one.load(sizes).parameters for name, one in copies.items()} == {"mean": opened, "halved": 2}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"best": None}, "config: recipes.picky.prefix.choose: a development task chooses; give `best: "),
        ({"recipes/picky/prefix": {"choose": ["base", "bases"]}}, "config: recipes.picky.prefix.choose: no recipe 'bases'; did you mean 'base'"),
        ({"recipes/picky/prefix": {"choose": ["base", "mean"]}}, "config: recipes.picky.prefix.choose: mean is trained, or has no fixed prefix"),
        ({"recipes/picky/prefix": {"choose": ["base"]}}, "config.recipes.picky.prefix.choose: Value should have at least 2 items"),
        ({"recipes/picky/prefix": {"chose": ["base", "bare"]}}, "config.recipes.picky.prefix.chose: unknown key; did you mean 'choose'?"),
        ({"recipes/base/only": {"backbones": ["other"]}}, "config: recipes.picky.prefix.choose: base is not there for me5-small, as picky is; add it to `recipes.base.only.backbones`"),
        ({"recipes/base/only": {"languages": ["ind"]}}, "config: recipes.picky.prefix.choose: base is not there for hau, as picky is; add it to `recipes.base.only.languages`"),
        ({"recipes/base/prefix": "{flores}"}, "config: recipes.picky.prefix.choose: '{flores}' is another in each language; name other recipes"),
        ({"recipes/near": {"like": "neighxlm-k2", "from": "picky"}}, "config: recipes.picky.prefix.choose: near needs the prefix with which neighbours were mined; give it a `prefix`"),
        ({"backbones/me5-small/prefix": None, "backbones/me5-small/prompts": ASKED}, "config: recipes.picky.prefix.choose: me5-small has `prompts`, and one prefix is chosen; give it a `prefix`"),
        ({"recipes/bare/prefix": "query: "}, "config: recipes.picky.prefix.choose: of me5-small all have the prefix 'query: '; give them"),
        ({"recipes/near": {"like": "base", "prefix": {"choose": ["base", "bare"]}}}, "config.recipes.near: prefix.choose: nothing is trained; the untrained"),
        ({"tasks/kolibri-dev/languages": ["kin"]}, "config: best.dev: kolibri-dev has no set in any language of the study"),
        ({"classifiers": {"one": {"backbone": "me5-small", "recipe": "picky", "fine_tuning": {}}}}, "recipes.picky.prefix.choose: ... encoders of picky are fine-tuned; give the recipe a `prefix`"),
        ({"recipes/mean/from": ""}, "config: recipes.mean.from: mean is the mean of a recipe's seeds; name one that is trained here"),
        ({"recipes/mean/from": "base"}, "config: recipes.mean.from: mean is the mean of a recipe's seeds; name one that is trained here"),
        ({"recipes/picky/only": {"seeds": [1]}}, "config: recipes.picky: mean is the mean over its seeds ... one, 1; ... two or more in `recipes.picky.only.seeds`, or ... `copies: {averaged: {share: "),
        ({"seeds": [2]}, "config: recipes.picky: mean is the mean over its seeds ... one, 2; ... two or more in `seeds`, or ... `copies: {averaged: {share: "),
        ({"seeds": [2], "recipes/on": {"like": "picky", "from": "picky", "prefix": None}, "recipes/mean/from": "on"}, "config: recipes.on: mean is the mean ... two or more in `seeds`, or"),
        ({"recipes/mean/only": {"seeds": [2]}}, "config: recipes.mean.only.seeds: it is the mean of all seeds of picky; give `recipes.picky.only.seeds` the same"),
        ({"recipes/less": {"data": {"corpus": "text"}, "copies": "static"}, "recipes/mean/from": "less"}, "config: recipes.mean.from: mean is the mean of a recipe's seeds; name one that is trained here, with the study's seeds"),
        ({"recipes/less": {"from": "picky", "data": {"corpus": "text"}, "copies": "static"}, "recipes/mean/from": "less"}, "config: recipes.mean.from: less has no transformer and cannot be copied"),
        ({"recipes/static": {}, "recipes/on": {"from": "static", "data": {"corpus": "nli"}, "objective": "contrast"}}, "config: recipes.on.from: static has no transformer and cannot be trained"),
        ({"recipes/less": {"from": "picky", "data": {"corpus": "text"}, "copies": "static"}, "recipes/on": {"from": "less", "data": {"corpus": "nli"}, "objective": "contrast"}}, "config: recipes.on.from: less has no transformer and cannot be trained"),
    ],
)  # fmt: skip
def test_a_choice_or_a_mean_that_cannot_be_made_is_told(changes: dict[str, Any], message: str) -> None:
    config = yamls.read("config/demo.yaml") | {"seeds": [1, 2], "tables": [], "figures": []}
    config["backbones"]["other"] = config["backbones"]["me5-small"]
    config["recipes"] = {
        "base": {},
        "bare": {"like": "base", "prefix": ""},
        "picky": {"like": "unsupervised", "prefix": {"choose": ["base", "bare"]}},
        "mean": {"from": "picky", "data": {"corpus": "text"}, "copies": "averaged"},
    }
    load(config)
    for path, value in changes.items():
        *folders, last = path.split("/")
        place = config
        for folder in folders:
            place = place[folder]
        place[last] = value
    with pytest.raises(UserError) as error:
        load(config)
    assert re.match(pattern(message), str(error.value)), error.value


def test_a_test_of_two_languages_has_no_prefix_of_one() -> None:
    """A score of the pivot's sentences, or of examples in another language, is refused when it is planned."""
    tasks = yamls.read(TOLD)["tasks"]
    spoken = {"bert": SPOKEN["bert"], "plain": {"source": {"file": "own/bert"}}}
    for task in ("bitext", "knn-xl"):
        found = study(backbones=spoken, tasks={name: tasks[name] for name in ("sts", "knn", task)}, best=None)
        name = {"recipe": "own", "lang": "hau", "test_lang": "hau", "tasks": "all"}
        ask = asking(found)
        with pytest.raises(UserError, match=rf"^tasks\.{task}: .*two languages.*bert by own.*`on_request: true`"):
            ask(Scores, backbone="bert", **name).inputs()
        assert ask(Scores, backbone="plain", **name).inputs()["tests"]
    assert asking(study(tasks={"sts": tasks["sts"]}, best=None))(Scores, backbone="bert", **name).inputs()["tests"]

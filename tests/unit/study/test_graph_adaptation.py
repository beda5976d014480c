"""Backbones of one language: what they are made of, who starts from them, and which prefix is left."""

from __future__ import annotations

import pytest

from seedbed import yamls
from seedbed.io import UserError
from seedbed.names import ANCHORS
from seedbed.study.checks.sources import of_sources
from seedbed.study.graph.classifier import FineTuned
from seedbed.study.graph.corpus import Anchors
from seedbed.study.graph.derived import AdaptedEncoder, VocabularyEncoder
from seedbed.study.graph.encoder import Encoder
from seedbed.study.loading import load
from seedbed.study.recipe import StudyRecipe
from tests.asking import TOLD, asking, study_of
from tests.refusals import tells

OWN = {"backbone": "bert", "recipe": "own", "lang": "hin", "seed": "5"}
VOCABULARY = {"backbone": "bare", "recipe": "vocabulary", "lang": "hin", "seed": "3"}
ADAPTED = VOCABULARY | {"recipe": "adapted"}
ONLY = {"recipes": {"base": {}, "own": {"like": "multi-m", "data": {"corpus": "nli_translations"}}}}
MADE = {"base": {}, "un": {"data": {"corpus": "text"}, "objective": "contrast"}}
MADE["side"] = MADE["un"] | {"training": {"part": "adapter", "adapter": "parallel", "pooling": "mean"}}
COPY = {"from": "un", "data": {"corpus": "text"}, "copies": "bfloat16"}
WITHOUT = {
    "classifiers": {},
    "translators": {},
    "judges": {},
    "compute": None,
    "generators": {},
    "figures": [],
    "tables": [],
}


def test_a_vocabulary_is_made_of_the_backbone_and_the_sentences_of_a_text(ask) -> None:
    read = ask(VocabularyEncoder, **VOCABULARY).inputs()
    assert read["weights"] == "encoders/other/weights/seedbed.json", "of the backbone that shares them"
    assert read["texts"] == f"corpora/hin/wiki+{ANCHORS}.tsv" == ask(AdaptedEncoder, **ADAPTED).inputs()["texts"]
    swapped = ask(AdaptedEncoder, **ADAPTED).inputs()["weights"]
    assert swapped == "encoders/bare/vocabulary/hin/3/seedbed.json" == ask(VocabularyEncoder, **VOCABULARY).path
    both = (ask(VocabularyEncoder, **VOCABULARY), ask(AdaptedEncoder, **ADAPTED))
    assert [one.settings()["about"]["data"] for one in both] == 2 * [
        [{"name": "wiki", "origin": [{"kind": "file", "name": "own/hin.wiki.tsv"}], "licence": ""}]
    ]


def test_a_study_that_names_neither_has_both_for_the_recipes_that_start_from_them() -> None:
    """They are made on request, of the anchors, and for no other backbone or language than is asked for."""
    recipes = {"base": {}, "own": ONLY["recipes"]["own"] | {"only": {"languages": ["hin"], "backbones": ["bert"]}}}
    study = study_of(TOLD, recipes=recipes, **WITHOUT)
    assert [*study.recipes] == ["base", "own", "adapted", "vocabulary"]
    for name in ("adapted", "vocabulary"):
        added = study.recipes[name]
        assert added.on_request and (added.only.languages, added.only.backbones) == (["hin"], ["bert"])
    texts = asking(study)(VocabularyEncoder, **VOCABULARY | {"backbone": "bert"}).inputs()["texts"]
    assert texts == f"corpora/hin/{ANCHORS}.tsv"
    every = study_of(TOLD, recipes=recipes | {"other": ONLY["recipes"]["own"]}, **WITHOUT).recipes["adapted"].only
    assert every.languages is None and every.backbones is None, "another starts from it everywhere"


def test_masked_words_need_no_vocabulary_of_their_own() -> None:
    """Then the backbone's prefix stays, and its weights are what training starts from."""
    study = study_of(TOLD, recipes={"base": {}, "further": {"like": "adapted", "from": ""}}, **WITHOUT)
    further = asking(study)(AdaptedEncoder, **OWN | {"recipe": "further"})
    assert further.inputs()["weights"] == "encoders/bert/weights/seedbed.json" and further.prefix == "query: "


def test_a_mask_is_needed_where_masked_words_follow() -> None:
    assert asking(study_of(TOLD))(VocabularyEncoder, **VOCABULARY).settings()["masks"]
    swapped = study_of(TOLD, recipes={"base": {}, "own": ONLY["recipes"]["own"] | {"from": "vocabulary"}}, **WITHOUT)
    assert not asking(swapped)(VocabularyEncoder, **VOCABULARY).settings()["masks"]
    copied = {"from": "vocabulary", "data": {"corpus": "text"}, "copies": "bfloat16"}
    small = study_of(TOLD, recipes={"base": {}, "small": copied}, **WITHOUT)
    assert not asking(small)(VocabularyEncoder, **VOCABULARY).settings()["masks"], "a copy predicts nothing"


def test_recipes_start_from_it_in_each_language_and_for_all_seeds(ask) -> None:
    starts = {
        (recipe, seed): ask(Encoder, **OWN | {"recipe": recipe, "seed": seed}).weights
        for recipe in ("own", "swapped", "further")
        for seed in ("3", "5")
    }
    assert starts == {
        ("own", "3"): "encoders/bert/adapted/hin/3/seedbed.json",
        ("own", "5"): "encoders/bert/adapted/hin/3/seedbed.json",
        ("swapped", "3"): "encoders/bert/vocabulary/hin/3/seedbed.json",
        ("swapped", "5"): "encoders/bert/vocabulary/hin/3/seedbed.json",
        ("further", "3"): "encoders/bert/own/hin/3/seedbed.json",
        ("further", "5"): "encoders/bert/own/hin/5/seedbed.json",
    }
    assert [ask(StudyRecipe, name=name).training.pooling for name in ("own", "further")] == ["mean", "own"]


def test_the_backbones_prefix_ends_with_its_vocabulary(told, ask) -> None:
    names = ("base", "own", "swapped", "further", "taught")
    assert [StudyRecipe.get(told, name).prefix("bert") for name in names] == ["query: ", "", "q: ", "", "query: "]
    assert ask(Encoder, **OWN).prefix == "" and ask(Encoder, **OWN | {"recipe": "base"}).prefix == "query: "
    tuned = {"tuned": {"backbone": "bert", "recipe": "own", "fine_tuning": {}}}
    job = {"classifier": "tuned", "task": "knn", "lang": "hin", "seed": "5"}
    assert asking(study_of(TOLD, classifiers=tuned, compute=None))(FineTuned, **job).prefix == ""
    assert ask(FineTuned, **job).prefix == "query: "


def test_as_many_sentences_are_drawn_as_a_vocabulary_takes(ask) -> None:
    job = {"lang": "hin", "anchors": f"wiki+{ANCHORS}"}
    assert ask(Anchors, **job).drawing.count == 60, "of another recipe, which takes more"
    data = {"data": {"corpus": "wiki", "rows": 90}}
    recipes = ONLY["recipes"] | {"vocabulary": data, "adapted": data}
    more = asking(study_of(TOLD, recipes=recipes, **WITHOUT))
    assert more(Anchors, **job).drawing.count == 90 and more(Anchors, lang="hin", anchors=ANCHORS).drawing.count == 40


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"adaptation": {"masked": {"steps": 3}}}, "adaptation: ... `vocabulary` and `adapted`"),
        ({"recipes": {"base": {}, "adapted": {"data": {"corpus": "nothing"}}}}, "recipes.adapted.data.corpus: no corpus 'nothing'"),
        ({"recipes": {"base": {}, "adapted": {"data": {"corpus": "nli"}}}}, "recipes.adapted: data.corpus has ... masked reads text"),
        ({"recipes": {"base": {}, "adapted": {"published": {"bert": {"hub": "a/b"}}}}}, "recipes.adapted.published: ... leave it out"),
        ({"recipes": {"own": {"like": "multi-m"}}}, "recipes.own.data.corpus: no corpus 'paraphrases'"),
        ({"recipes": {"adapted": {"data": {"from_languages": "all"}}}}, "recipes.adapted.data.from_languages: all; objective masked ... take own"),
        (
            {"recipes": {"base": {}, "less": {"from": "base", "data": {"corpus": "text", "from_languages": ["hau", "hin"]}, "copies": "int8"}}},
            "recipes.less.data.from_languages: ['hau', 'hin']; copies int8 ... take own",
        ),
        ({"recipes": MADE | {"x": COPY | {"training": {"pooling": "cls_mlp"}}}}, "recipes.x.training.pooling: ... random weights"),
        ({"recipes": MADE | {"x": COPY | {"training": {"pooling": "static"}}}}, "recipes.x.training.pooling: ... no transformer"),
        (
            {"recipes": MADE | {"x": COPY | {"copies": "averaged", "training": {"pooling": "cls"}}}},
            "recipes.x.training.pooling: ... the pooling of the encoders of un; leave it out",
        ),
        (
            {"recipes": {"base": {}, "vocabulary": {}, "x": COPY | {"from": "vocabulary", "copies": {"averaged": {"share": 0.5}}}}},
            "recipes.x.copies.averaged.share: ... another vocabulary ... take another recipe",
        ),
        (
            {"recipes": MADE | {"x": {"from": "side", "data": {"corpus": "text"}, "objective": "masked"}}},
            "recipes.x.from: side has parallel adapters and cannot be trained by objective masked",
        ),
        (
            {"recipes": MADE | {"x": MADE["un"] | {"from": "un", "training": {"mlm_weight": 0.1}}}},
            "recipes.x.training.mlm_weight: encoders of un have no head",
        ),
        (
            {"recipes": {"own": {"like": "multi-m", "from": "adopted", "data": {"corpus": "nli"}}}},
            "recipes.own.from: ... 'adopted'",
        ),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_one_line(changes, message) -> None:
    study = yamls.read(TOLD) | ONLY | WITHOUT | changes
    with pytest.raises(UserError) as fault:
        load(study)
    assert tells(str(fault.value), message) and "\n" not in str(fault.value)


def test_what_another_recipe_starts_from_in_a_further_language_needs_its_data_there() -> None:
    recipes = {
        "base": {},
        "taught": {"data": {"corpus": "parallel"}, "objective": "neighbours", "only": {"languages": ["hau"]}},
        "then": {"from": "taught", "data": {"corpus": "nli", "from_languages": "pivot"}, "objective": "contrast"},
    }
    hub = {"hub": "a/b"}
    corpora = {"text": hub, "nli": hub, "parallel": {"file": "README.md"}}
    changes = {"tasks": {"sts": {"protocol": "sts", "source": hub}}, "backbones": {"bert": {"source": hub}}}
    study = study_of(TOLD, **WITHOUT | changes | {"corpora": corpora, "recipes": recipes})
    assert StudyRecipe.get(study, "taught").folders == {"hau", "eng"}
    of_sources(study)
    study = study_of(
        TOLD, **WITHOUT | changes | {"corpora": corpora | {"parallel": {"file": "own/{lang}.tsv"}}, "recipes": recipes}
    )
    with pytest.raises(UserError, match=r"the parallel corpus of eng: no such file own/eng\.tsv"):
        of_sources(study)


def test_a_language_without_text_is_told() -> None:
    hub = {"hub": "a/b"}
    tasks = {"sts": {"protocol": "sts", "source": hub}}
    changes = {
        "corpora": {"nli_translations": hub},
        "backbones": {"bert": {"source": hub}},
        "tasks": tasks,
    }
    study = study_of(TOLD, **ONLY | WITHOUT | changes)
    with pytest.raises(UserError, match=r"languages.hau: no corpus"):
        of_sources(study)

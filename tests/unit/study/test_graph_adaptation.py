"""Backbones of one language: what they are made of, who starts from them, and which prefix is left."""

from __future__ import annotations

import pytest

from seedbed.io import UserError
from seedbed.names import ANCHORS
from seedbed.study.checks import consistent
from seedbed.study.graph import adaptation, cards, classifiers, corpora, encoders, prefixes
from seedbed.study.supplies import with_sources
from tests.asking import TOLD, asking, study_of
from tests.refusals import tells

BARE = {"backbone": "bare", "lang": "hin"}
OWN = {"backbone": "bert", "recipe": "own", "lang": "hin", "seed": "5"}
ONLY = {"recipes": {"base": {}, "own": {"method": "multi-m", "data": {"triplets": "nli_translations"}}}}
WITHOUT = {
    "classifiers": {},
    "translators": {},
    "judges": {},
    "compute": None,
    "generators": {},
    "figures": [],
    "tables": [],
}


def test_a_vocabulary_is_made_of_the_backbone_and_the_anchors_of_a_text(ask) -> None:
    assert ask(adaptation.weights, **BARE) == "encoders/other/weights/seedbed.json", "of the backbone that shares them"
    assert ask(adaptation.texts, **BARE) == f"corpora/hin/wiki+{ANCHORS}.tsv"
    assert ask(adaptation.swapped, **BARE) == "encoders/bare/vocabulary/hin/seedbed.json"
    plain = asking(study_of(TOLD, adaptation={}))
    assert plain(adaptation.texts, **BARE) == f"corpora/hin/{ANCHORS}.tsv"
    assert ask(adaptation.about, **BARE) == {
        "backbone": "bare", "base_model": "", "licence": "", "language": "hin", "language_name": "Hindi",
        "data": [{"name": "wiki", "origin": [{"kind": "file", "name": "own/hin.wiki.tsv"}], "licence": ""}],
    }  # fmt: skip
    assert cards.adaptation_data(study_of(TOLD, adaptation={}), "hau")["origin"] == [
        {"kind": "file", "name": "own/hau.tsv"}
    ]


def test_a_mask_is_needed_where_masked_words_follow() -> None:
    study = study_of(TOLD)
    assert adaptation.masks(study, None)
    swapped = study_of(TOLD, **ONLY | WITHOUT)
    swapped.recipes["own"] = swapped.recipes["own"].updated({"start": "vocabulary"})
    assert not adaptation.masks(swapped, None)


def test_recipes_start_from_it_in_each_language_and_for_all_seeds(ask) -> None:
    starts = {
        (recipe, seed): ask(encoders.starting_weights, **OWN | {"recipe": recipe, "seed": seed})
        for recipe in ("own", "swapped", "further")
        for seed in ("3", "5")
    }
    assert starts == {
        ("own", "3"): "encoders/bert/adapted/hin/seedbed.json",
        ("own", "5"): "encoders/bert/adapted/hin/seedbed.json",
        ("swapped", "3"): "encoders/bert/vocabulary/hin/seedbed.json",
        ("swapped", "5"): "encoders/bert/vocabulary/hin/seedbed.json",
        ("further", "3"): "encoders/bert/own/hin/3/seedbed.json",
        ("further", "5"): "encoders/bert/own/hin/5/seedbed.json",
    }
    assert [ask(encoders.training_of, name).pooling for name in ("own", "further")] == ["mean", "own"]


def test_the_backbones_prefix_ends_with_its_vocabulary(told, ask) -> None:
    names = ("base", "own", "swapped", "further", "taught")
    assert [prefixes.of_recipe(told, "bert", name) for name in names] == ["query: ", "", "q: ", "", "query: "]
    assert ask(prefixes.of_encoder, **OWN) == "" and ask(prefixes.of_encoder, **OWN | {"recipe": "base"}) == "query: "
    tuned = {"tuned": {"backbone": "bert", "recipe": "own", "fine_tuning": {}}}
    assert asking(study_of(TOLD, classifiers=tuned, compute=None))(classifiers.prefix, classifier="tuned") == ""
    assert ask(classifiers.prefix, classifier="tuned") == "query: "


def test_as_many_sentences_are_drawn_as_a_vocabulary_takes(ask) -> None:
    job = {"lang": "hin", "anchors": f"wiki+{ANCHORS}"}
    assert ask(corpora.drawn, **job).count == 60, "of another recipe, which takes more"
    more = asking(study_of(TOLD, adaptation={"text": "wiki", "vocabulary": {"sentences": 90}}))
    assert more(corpora.drawn, **job).count == 90 and more(corpora.drawn, lang="hin", anchors=ANCHORS).count == 40
    nobody = asking(study_of(TOLD, adaptation={"text": "wiki", "vocabulary": {"sentences": 90}}, **ONLY | WITHOUT))
    assert nobody(corpora.drawn, **job).count == 90


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"adaptation": {"text": "nothing"}}, "adaptation.text: no corpus under `corpora.others` 'nothing'"),
        ({"recipes": {"adapted": {"method": "unsupervised"}}}, "recipes.adapted: this name ... backbone"),
        ({"recipes": {"own": {"method": "multi-m"}}}, "recipes.own.data.paraphrases: no corpus of paraphrases 'paraphrases'"),
        (
            {"recipes": {"own": {"method": "multi-m", "from": "adopted", "data": {"triplets": "nli"}}}},
            "recipes.own.from: ... 'adopted' ... 'adapted'",
        ),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_one_line(changes, message) -> None:
    study = study_of(TOLD, **ONLY | WITHOUT | changes)
    with pytest.raises(ValueError) as fault:
        consistent(study)
    assert tells(str(fault.value), message) and "\n" not in str(fault.value)


def test_a_language_without_text_is_told() -> None:
    hub = {"hub": "a/b"}
    tasks = {"sts": {"protocol": "sts", "source": hub}}
    changes = {
        "adaptation": {},
        "corpora": {"nli_translations": hub},
        "backbones": {"bert": {"source": hub}},
        "tasks": tasks,
    }
    study = study_of(TOLD, **ONLY | WITHOUT | changes)
    with pytest.raises(UserError, match=r"adaptation.text:.*hau.*recipe own"):
        with_sources(study)

"""Backbones of one language: what they are made of, who starts from them, and which prefix is left."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from seedbed.io import UserError
from seedbed.names import ANCHORS
from seedbed.study.graph import records
from seedbed.study.graph.adapted import AdaptedBackbone, Vocabulary
from seedbed.study.graph.classifier import FineTuned
from seedbed.study.graph.corpus import Anchors
from seedbed.study.graph.encoder import Encoder
from seedbed.study.loading import load
from seedbed.study.recipe import StudyRecipe
from seedbed.study.supplies import with_sources
from tests.asking import TOLD, asking, study_of
from tests.refusals import tells

BARE = {"backbone": "bare", "lang": "hin"}
OWN = {"backbone": "bert", "recipe": "own", "lang": "hin", "seed": "5"}
ONLY = {"recipes": {"base": {}, "own": {"like": "multi-m", "data": {"corpus": "nli_translations"}}}}
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
    read = ask(Vocabulary, **BARE).inputs()
    assert read["weights"] == "encoders/other/weights/seedbed.json", "of the backbone that shares them"
    assert read["texts"] == f"corpora/hin/wiki+{ANCHORS}.tsv" == ask(AdaptedBackbone, **BARE).inputs()["texts"]
    swapped = ask(AdaptedBackbone, **BARE).inputs()["weights"]
    assert swapped == "encoders/bare/vocabulary/hin/seedbed.json" == ask(Vocabulary, **BARE).path
    plain = asking(study_of(TOLD, adaptation={}))
    assert plain(Vocabulary, **BARE).inputs()["texts"] == f"corpora/hin/{ANCHORS}.tsv"
    assert ask(Vocabulary, **BARE).settings()["about"] == ask(AdaptedBackbone, **BARE).settings()["about"] == {
        "backbone": "bare", "base_model": "", "licence": "", "language": "hin", "language_name": "Hindi",
        "data": [{"name": "wiki", "origin": [{"kind": "file", "name": "own/hin.wiki.tsv"}], "licence": ""}],
    }  # fmt: skip
    assert records.adaptation(study_of(TOLD, adaptation={}), "hau")["origin"] == [
        {"kind": "file", "name": "own/hau.tsv"}
    ]


def test_a_mask_is_needed_where_masked_words_follow() -> None:
    assert asking(study_of(TOLD))(Vocabulary, **BARE).settings()["masks"]
    swapped = study_of(TOLD, **ONLY | WITHOUT)
    swapped.recipes["own"] = swapped.recipes["own"].updated({"start": "vocabulary"})
    assert not asking(swapped)(Vocabulary, **BARE).settings()["masks"]


def test_recipes_start_from_it_in_each_language_and_for_all_seeds(ask) -> None:
    starts = {
        (recipe, seed): ask(Encoder, **OWN | {"recipe": recipe, "seed": seed}).weights
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
    more = asking(study_of(TOLD, adaptation={"text": "wiki", "vocabulary": {"sentences": 90}}))
    assert more(Anchors, **job).drawing.count == 90 and more(Anchors, lang="hin", anchors=ANCHORS).drawing.count == 40
    nobody = asking(study_of(TOLD, adaptation={"text": "wiki", "vocabulary": {"sentences": 90}}, **ONLY | WITHOUT))
    assert nobody(Anchors, **job).drawing.count == 90


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"adaptation": {"text": "nothing"}}, "adaptation.text: no corpus under `corpora.others` 'nothing'"),
        ({"recipes": {"adapted": {"like": "unsupervised"}}}, "recipes.adapted: this name ... backbone"),
        ({"recipes": {"own": {"like": "multi-m"}}}, "recipes.own.data.corpus: no corpus 'paraphrases'"),
        (
            {"recipes": {"own": {"like": "multi-m", "from": "adopted", "data": {"corpus": "nli"}}}},
            "recipes.own.from: ... 'adopted' ... 'adapted'",
        ),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_one_line(changes, message) -> None:
    study = yaml.safe_load(Path(TOLD).read_text()) | ONLY | WITHOUT | changes
    with pytest.raises(UserError) as fault:
        load(study)
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

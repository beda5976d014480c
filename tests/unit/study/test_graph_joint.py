"""Adapters of all languages' encoders, trained together: what they learn from, and whose they are."""

from __future__ import annotations

from typing import Any

import pytest

from seedbed import yamls
from seedbed.study.graph.aligned import JointAdapters
from seedbed.study.graph.encoder import Encoder
from seedbed.study.recipe import StudyRecipe
from tests.asking import TOLD, check, study_of
from tests.refusals import pattern

AT_ONCE = {"backbone": "bert", "recipe": "at-once", "lang": "hin", "seed": "5"}


def test_adapters_that_are_trained_together_are_taken_by_the_encoder_of_each_language(ask) -> None:
    joint = "encoders/bert/at-once/joint/5/seedbed.json"
    for lang in ("hin", "eng"):
        own = ask(Encoder, **AT_ONCE | {"lang": lang})
        assert own.references == {"adapters": joint} and not own.trains
        assert own.weights == f"encoders/bert/unsupervised/{lang}/5/seedbed.json"
        assert not any((own.texts, own.each, own.settings()["objective"]))
    assert not ask(StudyRecipe, name="at-once").pivots and [*ask(StudyRecipe, name="aligned").pivots] == ["pivot"]
    adapters = ask(JointAdapters, backbone="bert", recipe="at-once", seed="5")
    read, told, codes = adapters.inputs(), adapters.settings(), ["eng", "hau", "hin"]
    assert read["encoders"] == {code: f"encoders/bert/unsupervised/{code}/5/seedbed.json" for code in codes}
    assert read["each"] == {code: f"corpora/{code}/nli.tsv" for code in codes}
    assert [*told["objective"]] == ["joint"] and told["fixed"] == ["eng"]
    assert adapters.code().modules == ("seedbed/encoders/objectives/joint.py",)
    assert told["about"]["languages"] == codes and "prefix" not in told, "each encoder has its own"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"from": ""}, "joined.from: nothing is aligned; name the recipe"),
        (
            {"from": "", "data": {"corpus": "parallel"}, "objective": {"alignment": {}}},
            "joined.from: nothing is aligned",
        ),
        ({"training": {"adapter": "low_rank"}}, "joined.training: ... set `part: adapter`"),
        ({"prefix": "q: "}, "joined.prefix: ... prompts of unsupervised's encoders; leave it out"),
        ({"only": {"languages": ["eng"]}}, "joined: eng is the only language"),
        ({"data": {"corpus": "parallel"}}, "joined: data.corpus has text, pivot; joint reads anchor"),
    ],
)
def test_what_cannot_be_trained_together_is_told(settings: dict[str, Any], message: str) -> None:
    joined = {"like": "multi-mc-pairs", "from": "unsupervised", "data": {"corpus": "nli"}} | settings
    changes = {"recipes": {"unsupervised": {}, "joined": joined}, "languages": {"eng": {}, "hau": {}}}
    with pytest.raises(ValueError, match=pattern(message)):
        check(study_of(TOLD, **changes, classifiers={}, compute=None))


def test_encoders_with_a_chosen_prefix_can_be_trained_together() -> None:
    names = ("base", "asked", "spoken", "picky")
    told = yamls.read(TOLD)["recipes"]
    recipes = {name: told[name] for name in names}
    joined = {"like": "multi-mc-pairs", "from": "picky", "data": {"corpus": "nli"}, "only": {"backbones": ["bert"]}}
    others = {"tables": [], "figures": [], "classifiers": {}, "compute": None}
    check(study_of(TOLD, recipes=recipes | {"joined": joined}, **others))

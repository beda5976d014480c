"""What encoders start from, learn from, and are called."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from seedbed.encoders.settings import Backbone
from seedbed.study.checks import consistent
from seedbed.study.graph import (
    adaptation,
    alignment,
    cards,
    choices,
    encoders,
    evaluation,
    generators,
    kinds,
    mining,
    prefixes,
)
from tests.asking import TOLD, Wildcards, asking, study_of

API = {"backbone": "api", "recipe": "base", "lang": "mul", "seed": "0"}
BASE = {"backbone": "bert", "recipe": "base", "lang": "mul", "seed": "0"}
FEW = {"backbone": "bert", "recipe": "few", "lang": "hau", "seed": "3"}
GIVEN = {"backbone": "other", "recipe": "published", "lang": "mul", "seed": "0"}
TAUGHT = {"backbone": "bert", "recipe": "taught", "lang": "hau", "seed": "5"}


def test_an_encoder_lies_in_the_folder_of_the_language_that_it_learnt(ask) -> None:
    folders = {name: ask(encoders.trained_on, name, "hau") for name in ("base", "crosslingual", "xllora", "published")}
    assert folders == {"base": "mul", "crosslingual": "eng", "xllora": "hau", "published": "mul"}
    each = study_of(
        TOLD, recipes={"published": {"encoders": {"other": {"file": "own/{lang}"}}}}, classifiers={}, compute=None
    )
    assert asking(each)(encoders.trained_on, "published", "hau") == "hau", "one is published for each language"


def test_what_is_not_trained_has_one_seed(ask) -> None:
    seeds = {name: ask(encoders.seeds_of, name) for name in ("base", "xllora", "picks+0.25")}
    assert seeds == {"base": [0], "xllora": [3, 5], "picks+0.25": [5]}
    recipes = {"xllora": {"encoders": {"bert": {"file": "x"}}}, "unsupervised": {}}
    taken = asking(study_of(TOLD, recipes=recipes, classifiers={}, compute=None, start="encoders"))
    assert [taken(encoders.seeds_of, name) for name in recipes] == [[0], [3, 5]]


def test_a_recipe_changes_the_studys_training(ask) -> None:
    few = ask(encoders.training_of, "few")
    assert (few.max_length, few.temperature, few.batch_size) == (
        24,
        0.1,
        ask(encoders.training_of, "composition").batch_size,
    )
    assert ask(encoders.training_of, "taught").pooling == "own" != few.pooling, "it starts from a whole encoder"
    assert ask(encoders.training_of, "of-wiki").epochs == 2, "of the recipe that it is like"


def test_a_recipe_learns_from_one_file(ask) -> None:
    names = ("base", "few", "cold", "unsupervised", "of-wiki", "taught", "crosslingual", "near")
    assert {name: ask(encoders.data_of, name) for name in names} == {
        "base": "",
        "few": "triplets/tiny/xllora/{lang}.tsv",
        "cold": "triplets/colder/composition/{lang}.tsv",
        "unsupervised": "corpora/{lang}/anchors.tsv",
        "of-wiki": "corpora/{lang}/wiki+anchors.tsv",
        "taught": "corpora/{lang}/parallel.tsv",
        "crosslingual": "corpora/{lang}/nli.tsv",
        "near": "encoders/{backbone}/neighbours/fifth/{lang}.tsv",
    }
    near = {"backbone": "other", "recipe": "near", "lang": "hin", "seed": "3"}
    assert ask(encoders.texts, **near) == "encoders/other/neighbours/fifth/hin.tsv"
    assert ask(mining.mined_weights, **near | {"backbone": "bare"}) == ask(encoders.backbone_weights, "bare")
    assert ask(encoders.texts, **FEW) == "triplets/tiny/xllora/hau.tsv"
    assert ask(encoders.texts, **BASE) == ask(encoders.texts, **GIVEN) == []
    assert ask(mining.asked, **FEW) is None and ask(mining.miner, **FEW) == []


def test_an_encoder_of_all_languages_may_learn_in_a_few() -> None:
    lira = study_of("config/lira.yaml")
    ask, of_all = asking(lira), {"backbone": "mt5-qwen3", "recipe": "lira", "lang": "mul", "seed": "1"}
    codes = ["amh", "eng", "hau", "mar", "spa"]
    assert {ask(encoders.trained_on, "lira", code) for code in ("tha", "spa")} == {"mul"}
    assert ask(encoders.learnt_in, "lira", "mul") == codes
    assert ask(encoders.each_texts, **of_all) == {code: f"corpora/{code}/graded.tsv" for code in codes}
    assert ask(cards.lineage, **of_all)["languages"] == codes
    assert ask(encoders.starting_weights, **of_all) == "encoders/mt5-qwen3/lira-retrieval/mul/1/seedbed.json"


TOGETHER = {"backbone": "bert", "recipe": "together", "lang": "mul", "seed": "5"}


def test_an_encoder_of_all_languages_learns_from_each(ask, told) -> None:
    assert ask(encoders.trained_on, "together", "hau") == ask(encoders.trained_on, "mixed", "hin") == "mul"
    assert ask(encoders.learnt_in, "together", "mul") == ["hau", "hin"] == ask(encoders.learnt_in, "mixed", "mul")
    assert ask(encoders.learnt_in, "xllora", "hau") == ["hau"] and ask(encoders.learnt_in, "crosslingual", "eng") == [
        "eng"
    ]
    files = {code: f"corpora/{code}/nli_translations.tsv" for code in ("hau", "hin")}
    assert ask(encoders.each_texts, **TOGETHER) == files and ask(encoders.texts, **TOGETHER) == []
    assert ask(encoders.each_texts, **FEW) == ask(encoders.each_texts, **BASE) == {}
    further = TOGETHER | {"recipe": "mixed"}
    assert ask(encoders.starting_weights, **further) == "encoders/bert/together/mul/5/seedbed.json"
    card = ask(cards.lineage, **TOGETHER)
    assert card["languages"] == ["hau", "hin"] and card["language"] == "mul"
    assert [one["origin"][0]["name"] for one in card["data"]] == ["own/hau.human.tsv", "own/hin.human.tsv"]
    assert "languages" not in ask(cards.lineage, **FEW)
    given = study_of(
        TOLD, recipes={"published": {"encoders": {"other": {"file": "own/published"}}}}, classifiers={}, compute=None
    )
    assert encoders.published_for(given, Wildcards(**GIVEN)).file == "own/published"


def test_mined_neighbours_come_with_what_they_must_be_of(ask) -> None:
    near = {"backbone": "bare", "recipe": "near", "lang": "hin", "seed": "3"}
    assert ask(mining.mining_of, **near) == "fifth" and ask(mining.mining_of, **FEW) == ""
    audit = "encoders/bare/neighbours/fifth/hin.audit.json"
    assert ask(mining.audit, **near) == audit and ask(mining.audit, **FEW) == [] == ask(mining.miner, **near)
    assert ask(mining.asked, **near).dump() == '{"layer": 5}', "their number may be another"
    recipes = {"vanilla": {}, "near": {"method": "neighxlm-k2", "from": "vanilla", "data": {"neighbours": "fifth"}}}
    further = asking(study_of(TOLD, recipes=recipes, classifiers={}, compute=None))
    assert further(mining.audit, **near) == audit
    assert further(mining.miner, **near) == "encoders/other/weights/seedbed.json"


def test_nobody_trains_an_endpoint_or_what_fuses_one(ask) -> None:
    names = ("base", "unsupervised", "picks+0.5")
    trained = ["bert", "other", "bare", "coded", "given", "chosen"]
    # An endpoint is used as it is; a pair is for recipes that read translations.
    assert {name: ask(encoders.backbones_of, name) for name in names} == dict(
        zip(names, [[*trained, "api"], trained, ["other"]], strict=True)
    )
    settings = {
        "one": {"source": {"file": "x"}},
        "api": {"endpoint": {"url": "https://host/v1", "model": "m", "dimensions": 8}},
        "both": {"fusion": {"of": {"one": 1, "api": 1}}},
    }
    fused = study_of(TOLD, backbones=settings, recipes={"base": {}, "unsupervised": {}}, classifiers={}, compute=None)
    assert asking(fused)(encoders.backbones_of, "unsupervised") == ["one"]


def test_an_encoder_is_of_the_asked_seed_or_of_the_first(ask) -> None:
    assert ask(encoders.weights_of, "bare") == "other"
    assert ask(encoders.backbone_weights, "bare") == "encoders/other/weights/seedbed.json"
    seeds = {seed: ask(encoders.of_recipe, "bert", "xllora", "hau", seed) for seed in (None, "5", "7")}
    assert seeds == {
        None: "encoders/bert/xllora/hau/3/seedbed.json",
        "5": "encoders/bert/xllora/hau/5/seedbed.json",
        "7": "encoders/bert/xllora/hau/3/seedbed.json",
    }


def test_an_encoder_without_tests_is_trained_if_nothing_speaks_against_it(told) -> None:
    assert encoders.untested(told) == []
    languages = {"hau": {}, "fra": {"tests": {}}, "swh": {"on_request": True}}
    sts = {"sts": {"protocol": "sts", "source": {"file": "own/{lang}.sts.tsv"}, "languages": ["hau"]}}
    backbones = {name: {"source": {"file": "x"}} for name in ("bert", "other")}
    backbones["rare"] = {"source": {"file": "x"}, "on_request": True}
    recipes = {"base": {}, "unsupervised": {"seeds": [5]}, "more": {"like": "unsupervised", "on_request": True}}
    recipes["theirs"] = {"like": "unsupervised", "languages": ["hau"]}
    changes = {"languages": languages, "tasks": sts, "backbones": backbones, "recipes": recipes}
    study = study_of(TOLD, **changes, generators={}, classifiers={}, compute=None)
    assert encoders.untested(study) == [
        f"{study.results}/encoders/{backbone}/unsupervised/fra/5/seedbed.json" for backbone in ("bert", "other")
    ]


def test_an_encoder_starts_from_its_backbone_or_from_what_another_recipe_made(ask) -> None:
    starts = [ask(encoders.starting_weights, **job) for job in (FEW, TAUGHT, GIVEN, API)]
    assert starts == [
        "encoders/bert/weights/seedbed.json",
        "encoders/bert/xllora/hau/5/seedbed.json",
        "encoders/other+published+mul/weights/seedbed.json",
        [],
    ]
    assert [ask(encoders.untrained, **job) for job in (FEW, TAUGHT, GIVEN, API)] == [False, False, True, True]


RESOURCES = SimpleNamespace(gpu=0)
"""Of a job: a parameter that is made of them is not recorded."""


OF_TWO = {
    "bert": {"source": {"file": "own/backbone"}, "by_language": {"hin": {"file": "own/{lang}", "licence": "MIT"}}}
}
WITHOUT = {"classifiers": {}, "compute": None, "generators": {}}


def test_a_backbone_may_have_other_weights_in_a_language() -> None:
    study = study_of(TOLD, backbones=OF_TWO, recipes={"base": {}, "unsupervised": {}}, **WITHOUT)
    asked, job = asking(study), {"backbone": "bert", "recipe": "unsupervised", "lang": "hin", "seed": "5"}
    assert asked(encoders.starting_weights, **job) == "encoders/bert+hin/weights/seedbed.json"
    for other in (job | {"lang": "hau"}, BASE):
        assert asked(encoders.starting_weights, **other) == "encoders/bert/weights/seedbed.json"
    for find in (adaptation.weights, mining.mined_weights):
        assert asked(find, **job) == "encoders/bert+hin/weights/seedbed.json"
    assert generators.model_source(study, Wildcards(room="encoders", model="bert+hin")).file == "own/hin"
    assert asked(cards.lineage, **job)["backbone_licence"] == asked(adaptation.about, **job)["licence"] == "MIT"
    assert encoders.source_of(study, "bert", "hau").file == "own/backbone"
    wrong = {"bert": {"source": {"file": "x"}, "by_language": {"swh": {"file": "x"}}}}
    fewer = {"recipes": {"base": {}}, "tasks": {"sts": {"protocol": "sts", "source": {"file": "x"}}}, "statistics": {}}
    with pytest.raises(ValueError, match=r"backbones\.bert\.by_language:.*'swh'; known:"):
        consistent(study_of(TOLD, backbones=wrong, **WITHOUT | fewer))
    remote = {"endpoint": {"url": "https://h/v1", "model": "m", "dimensions": 8}}
    with pytest.raises(ValueError, match=r"by_language:.*`source`.*languages"):
        Backbone.model_validate(remote | {"by_language": {"hin": {"file": "x"}}})


def test_an_endpoint_is_told_of_and_nothing_else_has_one(ask) -> None:
    assert ask(encoders.endpoint, **API).model == "big" and ask(encoders.endpoint, **API).dimensions == 8
    assert ask(encoders.endpoint, **FEW) is None and ask(encoders.endpoints, **FEW) == []


def test_a_program_is_told_of_the_servers_behind_the_encoders_that_it_opens(ask) -> None:
    """And of no other; of fusions, of theirs."""
    backbones = {
        "one": {"source": {"file": "x"}},
        "api": {"endpoint": {"url": "https://host/v1", "model": "m", "dimensions": 8}},
        "both": {"fusion": {"of": {"one": 1, "api": 1}}},
    }
    teacher = {"teacher": {"backbone": "api", "recipe": "base"}}
    recipes = {"base": {}, "taught": {"data": {"parallel": "parallel"}, "objective": {"distillation": teacher}}}
    study = asking(study_of(TOLD, backbones=backbones, recipes=recipes, classifiers={}, compute=None))
    jobs = {
        ("one", "taught"): encoders.endpoints,
        ("both", "base"): evaluation.backbone_endpoints,
        ("api", "base"): evaluation.backbone_endpoints,
    }
    for (backbone, recipe), find in jobs.items():
        (endpoint,) = study(find, backbone=backbone, recipe=recipe, lang="mul", seed="0")
        assert endpoint.model == "m"
    none = {"backbone": "one", "recipe": "base", "lang": "mul", "seed": "0"}
    assert study(encoders.endpoints, **none) == study(evaluation.backbone_endpoints, **none) == []
    assert ask(choices.endpoints, **FEW) == []


def test_an_objective_has_its_file_and_the_encoders_that_it_refers_to(ask) -> None:
    assert [*ask(encoders.objective, **TAUGHT)] == ["distillation"] and ask(encoders.objective, **BASE) is None
    assert ask(encoders.modules, **TAUGHT) == ["seedbed/encoders/objectives/distillation.py"]
    assert ask(encoders.references, **TAUGHT) == {"teacher": "encoders/bert/base/mul/0/seedbed.json"}
    assert ask(encoders.references, **FEW) == {}
    for function in (encoders.objective, encoders.modules, encoders.references):
        assert not ask(function, **BASE) and not ask(function, **GIVEN), "it is used as it is"


@pytest.mark.parametrize(
    ("recipe", "backbone", "plain"),
    [
        ("unsupervised", "bert", True), ("xllora", "bert", True), ("further", "bert", True), ("near", "bert", True),
        ("published", "bert", False), ("taught", "bert", False), ("aligned", "bert", False),
        ("anchored", "two", False), ("paths", "two", False), ("unsupervised", "two", False),
    ],
)  # fmt: skip
def test_a_plain_encoder_never_meets_two_paths_and_integers(ask, recipe: str, backbone: str, plain: bool) -> None:
    found = ask(kinds.never_run, recipe=recipe, backbone=backbone, lang="hau", seed="5")
    assert found == ([kinds.TWO_PATHS, kinds.INTEGERS] if plain else [])


ALIGNED = {"backbone": "bert", "recipe": "aligned", "lang": "hin", "seed": "5"}
JOINED = ALIGNED | {"recipe": "joined"}


def test_what_is_aligned_learns_from_vectors_of_the_pivots_encoder(ask) -> None:
    vectors = "encoders/bert/unsupervised/pivot/parallel/hin/5/seedbed.json"
    assert ask(encoders.references, **ALIGNED) == {"pivot": vectors}
    assert ask(alignment.pivot_rows, **ALIGNED) == [], "pairs have both sides"
    assert ask(encoders.starting_weights, **ALIGNED) == "encoders/bert/unsupervised/hin/5/seedbed.json"
    job = {"backbone": "bert", "recipe": "unsupervised", "corpus": "parallel", "lang": "hin", "seed": "5"}
    assert ask(alignment.pivot_encoder, **job) == "encoders/bert/unsupervised/eng/5/seedbed.json"
    assert (
        ask(alignment.pivot_columns, **job)
        == ask(alignment.pivot_columns, **job | {"corpus": "seed_pairs"})
        == ["pivot"]
    )


def test_rows_of_the_pivot_with_the_same_ids_serve_all_languages(ask) -> None:
    vectors = "encoders/other/xllora/pivot/nli/eng/5/seedbed.json"
    for lang in ("hin", "hau"):
        assert ask(encoders.references, **JOINED | {"lang": lang}) == {"pivot": vectors}
        assert ask(alignment.pivot_rows, **JOINED | {"lang": lang}) == "corpora/eng/nli.tsv"
    job = {"backbone": "other", "recipe": "xllora", "corpus": "nli", "lang": "eng", "seed": "5"}
    assert ask(alignment.pivot_columns, **job) == ["anchor", "positive", "negative"]
    assert ask(encoders.pivot_language, **JOINED) == "eng" and ask(encoders.pivot_language, **ALIGNED) == "hin"


def test_written_triplets_have_both_sides_where_a_generator_writes_in_the_pivot_language(ask) -> None:
    crossed = ALIGNED | {"recipe": "crossed"}
    vectors = "encoders/bert/unsupervised/pivot/tiny+xllora/hin/5/seedbed.json"
    assert ask(encoders.references, **crossed) == {"pivot": vectors} and ask(alignment.pivot_rows, **crossed) == []
    job = {"backbone": "bert", "recipe": "unsupervised", "corpus": "tiny+xllora", "lang": "hin", "seed": "5"}
    assert ask(alignment.pivot_texts, **job) == ask(encoders.texts, **crossed) == "triplets/tiny/xllora/hin.tsv"
    assert ask(alignment.pivot_columns, **job) == ["positive", "negative"]
    assert ask(alignment.pivot_texts, **job | {"corpus": "parallel"}) == "corpora/hin/parallel.tsv"
    wrong = {
        "unsupervised": {},
        "aligned": {"method": "multi-mc", "from": "unsupervised", "data": {"written": "prompting"}},
    }
    with pytest.raises(ValueError, match=r"aligned\.data\.written: prompting.*take xllora"):
        consistent(study_of(TOLD, recipes=wrong, classifiers={}, compute=None))


def test_another_recipes_encoder_of_the_pivot_language_can_be_the_pivot() -> None:
    larger = {"method": "multi-m", "data": {"triplets": "nli"}}
    aligned = {"method": "multi-mc", "objective": {"alignment": {"pivot": {"recipe": "larger"}}}}
    own = {"method": "multi-m", "data": {"triplets": "nli_translations"}}
    study = study_of(TOLD, recipes={"multi-m": own, "larger": larger, "aligned": aligned}, **WITHOUT)
    vectors = "encoders/bert/larger/pivot/parallel/hin/5/seedbed.json"
    assert asking(study)(encoders.references, **ALIGNED) == {"pivot": vectors}
    job = {"backbone": "bert", "recipe": "larger", "corpus": "parallel", "lang": "hin", "seed": "5"}
    assert asking(study)(alignment.pivot_encoder, **job) == "encoders/bert/larger/eng/5/seedbed.json"
    assert asking(study)(encoders.starting_weights, **ALIGNED) == "encoders/bert/multi-m/hin/5/seedbed.json"


def test_the_pivots_encoder_is_that_which_others_are_aligned_with() -> None:
    larger = {"method": "multi-m", "data": {"triplets": "nli"}, "prefix": "q: ", "summary": "Of NLI."}
    aligned = {"method": "multi-mc", "objective": {"alignment": {"pivot": {"backbone": "other", "recipe": "larger"}}}}
    recipes = {"multi-m": {"data": {"triplets": "nli_translations"}}, "larger": larger, "aligned": aligned}
    asked, english = asking(study_of(TOLD, recipes=recipes, **WITHOUT)), ALIGNED | {"lang": "eng"}
    assert asked(encoders.untrained, **english) and asked(encoders.references, **english) == {}
    starts = {lang: asked(encoders.start_of, **ALIGNED | {"lang": lang}) for lang in ("eng", "hin")}
    assert starts == {"eng": ("other", "larger"), "hin": ("bert", "multi-m")}
    assert asked(encoders.starting_weights, **english) == "encoders/other/larger/eng/5/seedbed.json"
    assert (asked(prefixes.of_encoder, **english), asked(prefixes.of_encoder, **ALIGNED)) == ("q: ", "")
    card = asked(cards.lineage, **english)
    theirs = asked(cards.lineage, **english | {"backbone": "other", "recipe": "larger"})
    assert (card["backbone"], card["recipe"], card["summary"]) == ("bert", "aligned", "Of NLI.")
    assert card["data"] == theirs["data"] and [one["name"] for one in card["data"]] == ["wiki", "nli"]


def test_the_pivots_encoder_is_aligned_with_nothing(ask) -> None:
    assert ask(encoders.is_pivot, "aligned", "eng") and not ask(encoders.is_pivot, "aligned", "hin")
    assert not ask(encoders.is_pivot, "taught", "eng"), "it refers to an encoder, and to none of the pivot's"
    english = ALIGNED | {"lang": "eng"}
    assert ask(encoders.untrained, **english) and not ask(encoders.untrained, **ALIGNED)
    assert ask(encoders.starting_weights, **english) == "encoders/bert/unsupervised/eng/5/seedbed.json"
    asked = (encoders.texts, alignment.pivot_rows, encoders.references, encoders.objective)
    assert not any(ask(function, **english) for function in asked)


def test_a_card_names_all_that_an_encoder_is_made_of(ask) -> None:
    facts = {
        "backbone": "bert",
        "recipe": "few",
        "method": "xllora",
        "language": "hau",
        "language_name": "Hausa",
        "seed": 3,
    }
    assert ask(cards.described, **FEW) == facts
    card = ask(cards.lineage, **FEW)
    assert facts.items() <= card.items() and (card["backbone_licence"], card["generator"]) == ("Apache-2.0", "tiny")
    assert [(one["name"], one["licence"]) for one in card["data"]] == [("text", ""), ("tiny", "MIT")]
    given = ask(cards.lineage, **GIVEN)
    assert given["data"] == [] and given["summary"] == "" and "generator" not in given
    served = study_of(
        TOLD, recipes={"prompting": {"generator": "server"}, "unsupervised": {}}, classifiers={}, compute=None
    )
    card = asking(served)(cards.lineage, **FEW | {"recipe": "prompting"})
    assert card["data"][1] == {
        "name": "server",
        "origin": [{"kind": "server", "name": "m", "endpoint": "https://host/v1"}],
        "licence": "",
        "role": "generator",
    }

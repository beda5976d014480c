"""What encoders start from, learn from, and are called."""

from __future__ import annotations

import pytest

from seedbed.encoders.settings import Backbone, Training
from seedbed.evaluation.protocols import declared
from seedbed.study.backbone import StudyBackbone
from seedbed.study.graph.adapter import Weights
from seedbed.study.graph.aligned import PivotVectors
from seedbed.study.graph.available import Available
from seedbed.study.graph.best_encoder import Answer
from seedbed.study.graph.chosen import ChosenTranslations
from seedbed.study.graph.derived import AdaptedEncoder, CopiedEncoder, FusedEncoder, VocabularyEncoder
from seedbed.study.graph.encoder import INTEGERS, TWO_PATHS, Encoder
from seedbed.study.graph.neighbours import Neighbours
from seedbed.study.graph.score import Scores
from seedbed.study.recipe import StudyRecipe
from tests.asking import TOLD, asking, check, study_of, within

API = {"backbone": "api", "recipe": "base", "lang": "mul", "seed": "0"}
BASE = {"backbone": "bert", "recipe": "base", "lang": "mul", "seed": "0"}
FEW = {"backbone": "bert", "recipe": "few", "lang": "hau", "seed": "3"}
GIVEN = {"backbone": "other", "recipe": "published", "lang": "mul", "seed": "0"}
TAUGHT = {"backbone": "bert", "recipe": "taught", "lang": "hau", "seed": "5"}


def test_an_encoder_lies_in_the_folder_of_the_language_that_it_learnt(ask) -> None:
    folders = {
        name: ask(StudyRecipe, name=name).folder("hau") for name in ("base", "crosslingual", "xllora", "published")
    }
    assert folders == {"base": "mul", "crosslingual": "eng", "xllora": "hau", "published": "mul"}
    each = study_of(
        TOLD, recipes={"published": {"published": {"other": {"file": "own/{lang}"}}}}, classifiers={}, compute=None
    )
    assert StudyRecipe.get(each, "published").folder("hau") == "hau", "one is published for each language"
    branch = {"published": {"published": {"other": {"hub": "a/b", "revision": "{lang}"}}}}
    each = study_of(TOLD, recipes=branch, classifiers={}, compute=None)
    assert StudyRecipe.get(each, "published").folder("hau") == "hau", "a branch of one repository is, too"


def test_what_is_not_trained_has_one_seed(ask) -> None:
    seeds = {name: ask(StudyRecipe, name=name).seeds for name in ("base", "xllora", "picks+0.25")}
    assert seeds == {"base": [0], "xllora": [3, 5], "picks+0.25": [5]}
    recipes = {"xllora": {"published": {"bert": {"file": "x"}}}, "unsupervised": {}}
    taken = asking(study_of(TOLD, recipes=recipes, classifiers={}, compute=None, start="encoders"))
    assert [taken(StudyRecipe, name=name).seeds for name in recipes] == [[0], [3, 5]]


def test_only_what_is_trained_by_them_has_training_settings() -> None:
    """An edited learning rate makes no untrained encoder, adapted backbone or copy again."""
    kinds = {"base": Encoder, "published": Encoder, "vocabulary": VocabularyEncoder, "adapted": AdaptedEncoder}
    kinds |= {"mean": CopiedEncoder, "xllora": Encoder, "at-once": Encoder}
    names = {"backbone": "bert", "lang": "hin", "seed": "5"}
    studies = [study_of(TOLD, training={"learning_rate": rate, "max_length": 24}) for rate in (0.1, 0.2)]
    told = [{name: asking(one)(of, recipe=name, **names).settings() for name, of in kinds.items()} for one in studies]
    assert [name for name in kinds if told[0][name] != told[1][name]] == ["xllora"]
    assert told[0]["at-once"]["training"].part == "adapter", "it says how the adapters that it gets were trained"
    bare = asking(study_of(TOLD, training={"pooling": "mean", "layers": 3}))(Encoder, recipe="base", **names)
    assert bare.settings()["training"] == Training(pooling="mean", layers=3)


def test_a_recipe_changes_the_studys_training(ask) -> None:
    few = ask(StudyRecipe, name="few").training
    assert (few.max_length, few.temperature, few.batch_size) == (
        24,
        0.1,
        ask(StudyRecipe, name="composition").training.batch_size,
    )
    assert ask(StudyRecipe, name="taught").training.pooling == "own" != few.pooling, "it starts from a whole encoder"
    assert ask(StudyRecipe, name="of-wiki").training.epochs == 2, "of the recipe that it is like"


def test_a_recipe_learns_from_one_file(ask) -> None:
    names = ("base", "few", "cold", "unsupervised", "of-wiki", "taught", "crosslingual", "near")
    assert {name: ask(StudyRecipe, name=name).data() for name in names} == {
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
    assert ask(Encoder, **near).texts == "encoders/other/neighbours/fifth/hin.tsv"
    miner = ask(Neighbours, backbone="bare", mining="fifth", lang="hin").inputs()["weights"]
    assert miner == ask(StudyBackbone, name="bare").weights()
    assert ask(Encoder, **FEW).texts == "triplets/tiny/xllora/hau.tsv"
    assert ask(Encoder, **BASE).texts == ask(Encoder, **GIVEN).texts == ""
    assert ask(Encoder, **FEW).settings()["mining"] is None and ask(Encoder, **FEW).inputs()["miner"] == ""


def test_an_encoder_of_all_languages_may_learn_in_a_few() -> None:
    lira = study_of("config/lira.yaml")
    ask, of_all = asking(lira), {"backbone": "mt5-qwen3", "recipe": "lira", "lang": "mul", "seed": "1"}
    codes = ["amh", "eng", "hau", "mar", "spa"]
    assert {ask(StudyRecipe, name="lira").folder(code) for code in ("tha", "spa")} == {"mul"}
    assert ask(StudyRecipe, name="lira").languages("mul") == codes
    assert ask(Encoder, **of_all).each == {code: f"corpora/{code}/graded.tsv" for code in codes}
    assert ask(Encoder, **of_all).lineage()["languages"] == codes
    assert ask(Encoder, **of_all).weights == "encoders/mt5-qwen3/lira-retrieval/mul/1/seedbed.json"


TOGETHER = {"backbone": "bert", "recipe": "together", "lang": "mul", "seed": "5"}


def test_an_encoder_of_all_languages_learns_from_each(ask, told) -> None:
    assert ask(StudyRecipe, name="together").folder("hau") == ask(StudyRecipe, name="mixed").folder("hin") == "mul"
    of_all = {name: ask(StudyRecipe, name=name).languages("mul") for name in ("together", "mixed")}
    assert of_all == {"together": ["hau", "hin"], "mixed": ["hau", "hin"]}
    assert ask(StudyRecipe, name="xllora").languages("hau") == ["hau"]
    assert ask(StudyRecipe, name="crosslingual").languages("eng") == ["eng"]
    files = {code: f"corpora/{code}/nli_translations.tsv" for code in ("hau", "hin")}
    assert ask(Encoder, **TOGETHER).each == files and ask(Encoder, **TOGETHER).texts == ""
    assert ask(Encoder, **FEW).each == ask(Encoder, **BASE).each == {}
    further = TOGETHER | {"recipe": "mixed"}
    assert ask(Encoder, **further).weights == "encoders/bert/together/mul/5/seedbed.json"
    card = ask(Encoder, **TOGETHER).lineage()
    assert card["languages"] == ["hau", "hin"] and card["language"] == "mul"
    assert [one["origin"][0]["name"] for one in card["data"]] == ["own/hau.human.tsv", "own/hin.human.tsv"]
    assert "languages" not in ask(Encoder, **FEW).lineage()
    given = study_of(
        TOLD, recipes={"published": {"published": {"other": {"file": "own/published"}}}}, classifiers={}, compute=None
    )
    assert asking(given)(Encoder, **GIVEN).published.file == "own/published"


def test_mined_neighbours_come_with_what_they_must_be_of(ask) -> None:
    near = {"backbone": "bare", "recipe": "near", "lang": "hin", "seed": "3"}
    assert ask(Encoder, **near).mining == "fifth" and ask(Encoder, **FEW).mining == ""
    audit = "encoders/bare/neighbours/fifth/hin.audit.json"
    mined, written = ask(Encoder, **near).inputs(), ask(Encoder, **FEW).inputs()
    assert mined["mined"] == audit and written["mined"] == "" == mined["miner"]
    assert ask(Encoder, **near).settings()["mining"].dump() == '{"layer": 5}', "their number may be another"
    recipes = {"vanilla": {}, "near": {"like": "neighxlm-k2", "from": "vanilla", "data": {"neighbours": "fifth"}}}
    further = asking(study_of(TOLD, recipes=recipes, classifiers={}, compute=None))
    assert further(Encoder, **near).inputs()["mined"] == audit
    assert further(Encoder, **near).inputs()["miner"] == "encoders/other/weights/seedbed.json"


def test_nobody_trains_an_endpoint_or_what_fuses_one(ask) -> None:
    names = ("base", "unsupervised", "picks+0.5")
    trained = ["bert", "other", "bare", "coded", "given", "chosen"]
    # An endpoint is used as it is; a pair is for recipes that read translations.
    assert {name: ask(StudyRecipe, name=name).backbones for name in names} == dict(
        zip(names, [[*trained, "api"], trained, ["other"]], strict=True)
    )
    settings = {
        "one": {"source": {"file": "x"}},
        "api": {"endpoint": {"url": "https://host/v1", "model": "m", "dimensions": 8}},
        "both": {"fusion": {"of": {"one": 1, "api": 1}}},
    }
    fused = study_of(TOLD, backbones=settings, recipes={"base": {}, "unsupervised": {}}, classifiers={}, compute=None)
    assert StudyRecipe.get(fused, "unsupervised").backbones == ["one"]


def test_a_pooling_that_needs_token_vectors_is_of_no_endpoint() -> None:
    """An API's vectors would else stand in tables as those of another pooling."""
    api = {"endpoint": {"url": "https://host/v1", "model": "m", "dimensions": 8}}
    settings = {"one": {"source": {"file": "x"}}, "api": api, "both": {"fusion": {"of": {"one": 1, "api": 1}}}}
    recipes = {"base": {}, "plain": {"like": "base", "prefix": ""}, "published": {}, "static": {}}
    recipes["first"] = {"like": "base", "training": {"pooling": "cls"}}
    study = study_of(TOLD, backbones=settings, recipes=recipes, classifiers={}, compute=None)
    assert {name: StudyRecipe.get(study, name).every_backbone for name in recipes} == {
        **dict.fromkeys(("base", "plain", "published"), [*settings]),
        **dict.fromkeys(("static", "first"), ["one"]),
    }


def test_encoders_without_a_transformer_are_scored_on_no_layers_and_not_fine_tuned() -> None:
    recipes = {"base": {}, "static": {}, "unsupervised": {}}
    for way in ("static", "int8", "bfloat16"):
        recipes[f"as-{way}"] = {"from": "unsupervised", "data": {"corpus": "text"}, "copies": way}
    tasks = {"own-bitext": {"protocol": "bitext", "source": {"file": "own/{lang}-eng.tsv"}}}
    tasks["own-layers"] = {"protocol": "layers", "set_of": "own-bitext"}
    study = study_of(TOLD, recipes=recipes, tasks=tasks, classifiers={}, compute=None)
    without = {"static", "as-static", "as-int8"}
    for name in recipes:
        scored = Scores.get(study, "bert", name, "hau", "hau", "all").scored
        assert scored == ["own-bitext", *(["own-layers"] if name not in without else [])]
    systems = {system.recipe: system for system in Available.get(study).recipes}
    assert {name for name, system in systems.items() if not system.transformer} == without
    assert declared("tuned").serves([]) and not declared("tuned").serves([], transformer=False)


def test_an_encoder_is_of_the_asked_seed_or_of_the_first(told, ask) -> None:
    assert ask(StudyBackbone, name="bare").fetched_as == "other"
    assert ask(StudyBackbone, name="bare").weights() == "encoders/other/weights/seedbed.json"
    offered = {seed: Encoder.resolved(told, "bert", "xllora", "hau", seed).path for seed in (None, 5, 7)}
    assert within(offered, told) == {
        None: "encoders/bert/xllora/hau/3/seedbed.json",
        5: "encoders/bert/xllora/hau/5/seedbed.json",
        7: "encoders/bert/xllora/hau/3/seedbed.json",
    }


def test_an_encoder_without_tests_is_trained_if_nothing_speaks_against_it(told) -> None:
    assert Answer.get(told).unchosen() == []
    languages = {"hau": {}, "fra": {"tests": {}}, "swh": {"on_request": True}}
    sts = {"sts": {"protocol": "sts", "source": {"file": "own/{lang}.sts.tsv"}, "languages": ["hau"]}}
    backbones = {name: {"source": {"file": "x"}} for name in ("bert", "other")}
    backbones["rare"] = {"source": {"file": "x"}, "on_request": True}
    recipes = {
        "base": {},
        "unsupervised": {"only": {"seeds": [5]}},
        "more": {"like": "unsupervised", "on_request": True},
    }
    recipes["theirs"] = {"like": "unsupervised", "only": {"languages": ["hau"]}}
    changes = {"languages": languages, "tasks": sts, "backbones": backbones, "recipes": recipes}
    study = study_of(TOLD, **changes, generators={}, classifiers={}, compute=None, best=None)
    assert Answer.get(study).unchosen() == [
        f"{study.results}/encoders/{backbone}/unsupervised/fra/5/seedbed.json" for backbone in ("bert", "other")
    ]


def test_an_encoder_starts_from_its_backbone_or_from_what_another_recipe_made(ask) -> None:
    starts = [ask(Encoder, **job).weights for job in (FEW, TAUGHT, GIVEN, API)]
    assert starts == [
        "encoders/bert/weights/seedbed.json",
        "encoders/bert/xllora/hau/5/seedbed.json",
        "encoders/other+published+mul/weights/seedbed.json",
        "",
    ]
    assert [ask(Encoder, **job).trains for job in (FEW, TAUGHT, GIVEN, API)] == [True, True, False, False]


OF_TWO = {
    "bert": {"source": {"file": "own/backbone"}, "by_language": {"hin": {"file": "own/{lang}", "licence": "MIT"}}}
}
WITHOUT = {"classifiers": {}, "compute": None, "generators": {}}


def test_a_backbone_may_have_other_weights_in_a_language() -> None:
    study = study_of(TOLD, backbones=OF_TWO, recipes={"base": {}, "unsupervised": {}, "vocabulary": {}}, **WITHOUT)
    asked, job = asking(study), {"backbone": "bert", "recipe": "unsupervised", "lang": "hin", "seed": "5"}
    assert asked(Encoder, **job).weights == "encoders/bert+hin/weights/seedbed.json"
    for other in (job | {"lang": "hau"}, BASE):
        assert asked(Encoder, **other).weights == "encoders/bert/weights/seedbed.json"
    own = asked(VocabularyEncoder, **job | {"recipe": "vocabulary"})
    for one in (own, asked(Neighbours, backbone="bert", lang="hin", mining="fifth")):
        assert one.inputs()["weights"] == "encoders/bert+hin/weights/seedbed.json"
    assert Weights.get(study, "encoders", "bert+hin").source.file == "own/hin"
    lineages = [asked(Encoder, **job).lineage(), own.settings()["about"]]
    assert [about["backbone_licence"] for about in lineages] == ["MIT", "MIT"]
    assert StudyBackbone.get(study, "bert").source("hau").file == "own/backbone"
    wrong = {"bert": {"source": {"file": "x"}, "by_language": {"swh": {"file": "x"}}}}
    fewer = {"recipes": {"base": {}}, "tasks": {"sts": {"protocol": "sts", "source": {"file": "x"}}}, "statistics": {}}
    with pytest.raises(ValueError, match=r"backbones\.bert\.by_language:.*'swh'; known:"):
        check(study_of(TOLD, backbones=wrong, **WITHOUT | fewer))
    remote = {"endpoint": {"url": "https://h/v1", "model": "m", "dimensions": 8}}
    with pytest.raises(ValueError, match=r"by_language:.*`source`.*languages"):
        Backbone.model_validate(remote | {"by_language": {"hin": {"file": "x"}}})


def test_an_endpoint_is_told_of_and_nothing_else_has_one(ask) -> None:
    assert ask(Encoder, **API).endpoint.model == "big" and ask(Encoder, **API).endpoint.dimensions == 8
    assert ask(Encoder, **FEW).endpoint is None and ask(Encoder, **FEW).settings()["endpoints"] == []


def test_a_program_is_told_of_the_servers_behind_the_encoders_that_it_opens(ask) -> None:
    """And of no other; of fusions, of theirs."""
    backbones = {
        "one": {"source": {"file": "x"}},
        "api": {"endpoint": {"url": "https://host/v1", "model": "m", "dimensions": 8}},
        "both": {"fusion": {"of": {"one": 1, "api": 1}}},
    }
    teacher = {"teacher": {"backbone": "api", "recipe": "base"}}
    recipes = {"base": {}, "taught": {"data": {"corpus": "parallel"}, "objective": {"distillation": teacher}}}
    study = asking(study_of(TOLD, backbones=backbones, recipes=recipes, classifiers={}, compute=None))
    taught = study(Encoder, backbone="one", recipe="taught", lang="hau", seed="3")
    fused = study(FusedEncoder, backbone="both", recipe="base", lang="mul", seed="0")
    scored = {"recipe": "base", "lang": "mul", "test_lang": "hau", "tasks": "all"}
    for one in (taught, fused, *(study(Scores, backbone=name, **scored) for name in ("both", "api"))):
        (endpoint,) = one.settings()["endpoints"]
        assert endpoint.model == "m"
    base = study(Encoder, backbone="one", recipe="base", lang="mul", seed="0")
    assert base.settings()["endpoints"] == study(Scores, backbone="one", **scored).settings()["endpoints"] == []
    read = {"backbone": "two", "recipe": "paths", "lang": "mul", "seed": "5", "test_lang": "hau", "corpus": "sts"}
    assert ask(ChosenTranslations, **read).settings()["endpoints"] == []


def test_a_teacher_whose_prefix_depends_on_the_language_is_told_the_pivots() -> None:
    backbones = {"one": {"source": {"file": "x"}}, "sonar": {"source": {"file": "y"}, "prefix": "{flores} "}}
    taught = {"data": {"corpus": "parallel"}, "only": {"backbones": ["one"]}}
    recipes = {
        name: taught | {"objective": {"distillation": {"teacher": {"backbone": backbone, "recipe": "base"}}}}
        for name, backbone in (("by-sonar", "sonar"), ("by-one", "one"))
    }
    study = asking(study_of(TOLD, backbones=backbones, recipes={"base": {}} | recipes, classifiers={}, compute=None))
    by_sonar, by_one = (
        study(Encoder, backbone="one", recipe=name, lang="hau", seed="3").settings() for name in recipes
    )
    assert (by_sonar["language"], by_sonar["languages"]) == ("hau", {"pivot": "eng"})
    assert not {"language", "languages"} & {*by_one}


def test_an_objective_has_its_file_and_the_encoders_that_it_refers_to(ask) -> None:
    assert [*ask(Encoder, **TAUGHT).settings()["objective"]] == ["distillation"]
    assert ask(Encoder, **TAUGHT).code().modules == ("seedbed/encoders/objectives/distillation.py",)
    assert ask(Encoder, **TAUGHT).references == {"teacher": "encoders/bert/base/mul/0/seedbed.json"}
    assert ask(Encoder, **FEW).references == {}
    for one in (ask(Encoder, **BASE), ask(Encoder, **GIVEN)):
        used = (one.settings()["objective"], one.code().modules, one.references)
        assert not any(used), "it is used as it is"


@pytest.mark.parametrize(
    ("recipe", "backbone", "plain"),
    [
        ("unsupervised", "bert", True), ("xllora", "bert", True), ("further", "bert", True), ("near", "bert", True),
        ("published", "bert", False), ("taught", "bert", False), ("aligned", "bert", False),
        ("anchored", "two", False), ("paths", "two", False), ("unsupervised", "two", False),
    ],
)  # fmt: skip
def test_a_plain_encoder_never_meets_two_paths_and_integers(ask, recipe: str, backbone: str, plain: bool) -> None:
    found = ask(Encoder, recipe=recipe, backbone=backbone, lang="hau", seed="5").code().without
    assert found == ((TWO_PATHS, INTEGERS) if plain else ())


ALIGNED = {"backbone": "bert", "recipe": "aligned", "lang": "hin", "seed": "5"}
JOINED = ALIGNED | {"recipe": "joined"}


def test_what_is_aligned_learns_from_vectors_of_the_pivots_encoder(ask) -> None:
    vectors = "encoders/bert/unsupervised/pivot/parallel/hin/5/seedbed.json"
    assert ask(Encoder, **ALIGNED).references == {"pivot": vectors}
    assert ask(Encoder, **ALIGNED).pivot_rows == "", "pairs have both sides"
    assert ask(Encoder, **ALIGNED).weights == "encoders/bert/unsupervised/hin/5/seedbed.json"
    job = {"backbone": "bert", "recipe": "unsupervised", "corpus": "parallel", "lang": "hin", "seed": "5"}
    assert ask(PivotVectors, **job).inputs()["encoder"] == "encoders/bert/unsupervised/eng/5/seedbed.json"
    assert ask(PivotVectors, **job).columns == ask(PivotVectors, **job | {"corpus": "seed_pairs"}).columns == ["pivot"]


def test_rows_of_the_pivot_with_the_same_ids_serve_all_languages(ask) -> None:
    vectors = "encoders/coded/xllora/pivot/nli/eng/5/seedbed.json"
    for lang in ("hin", "hau"):
        assert ask(Encoder, **JOINED | {"lang": lang}).references == {"pivot": vectors}
        assert ask(Encoder, **JOINED | {"lang": lang}).pivot_rows == "corpora/eng/nli.tsv"
    job = {"backbone": "other", "recipe": "xllora", "corpus": "nli", "lang": "eng", "seed": "5"}
    assert ask(PivotVectors, **job).columns == ["anchor", "positive", "negative"]
    assert ask(Encoder, **JOINED).pivot_language == "eng" and ask(Encoder, **ALIGNED).pivot_language == "hin"


def test_written_triplets_have_both_sides_where_a_generator_writes_in_the_pivot_language(ask) -> None:
    crossed = ALIGNED | {"recipe": "crossed"}
    vectors = "encoders/bert/unsupervised/pivot/tiny+xllora/hin/5/seedbed.json"
    assert ask(Encoder, **crossed).references == {"pivot": vectors} and ask(Encoder, **crossed).pivot_rows == ""
    job = {"backbone": "bert", "recipe": "unsupervised", "corpus": "tiny+xllora", "lang": "hin", "seed": "5"}
    texts = ask(PivotVectors, **job).inputs()["texts"]
    assert texts == ask(Encoder, **crossed).texts == "triplets/tiny/xllora/hin.tsv"
    assert ask(PivotVectors, **job).columns == ["positive", "negative"]
    assert ask(PivotVectors, **job | {"corpus": "parallel"}).inputs()["texts"] == "corpora/hin/parallel.tsv"
    wrong = {
        "unsupervised": {},
        "aligned": {"like": "multi-mc", "from": "unsupervised", "data": {"written": "prompting"}},
    }
    with pytest.raises(ValueError, match=r"aligned\.data\.written: prompting.*take xllora"):
        check(study_of(TOLD, recipes=wrong, classifiers={}, compute=None))


def test_another_recipes_encoder_of_the_pivot_language_can_be_the_pivot() -> None:
    larger = {"like": "multi-m", "data": {"corpus": "nli"}}
    aligned = {"like": "multi-mc", "objective": {"alignment": {"pivot": {"recipe": "larger"}}}}
    own = {"like": "multi-m", "data": {"corpus": "nli_translations"}}
    study = study_of(TOLD, recipes={"multi-m": own, "larger": larger, "aligned": aligned}, **WITHOUT)
    vectors = "encoders/bert/larger/pivot/parallel/hin/5/seedbed.json"
    ask = asking(study)
    assert ask(Encoder, **ALIGNED).references == {"pivot": vectors}
    job = {"backbone": "bert", "recipe": "larger", "corpus": "parallel", "lang": "hin", "seed": "5"}
    assert ask(PivotVectors, **job).inputs()["encoder"] == "encoders/bert/larger/eng/5/seedbed.json"
    assert ask(Encoder, **ALIGNED).weights == "encoders/bert/multi-m/hin/5/seedbed.json"


def test_the_pivots_encoder_is_that_which_others_are_aligned_with() -> None:
    larger = {"like": "multi-m", "data": {"corpus": "nli"}, "prefix": "q: ", "summary": "Of NLI."}
    aligned = {"like": "multi-mc", "objective": {"alignment": {"pivot": {"backbone": "other", "recipe": "larger"}}}}
    recipes = {"multi-m": {"data": {"corpus": "nli_translations"}}, "larger": larger, "aligned": aligned}
    asked, english = asking(study_of(TOLD, recipes=recipes, **WITHOUT)), ALIGNED | {"lang": "eng"}
    assert not asked(Encoder, **english).trains and asked(Encoder, **english).references == {}
    starts = {lang: asked(Encoder, **ALIGNED | {"lang": lang}).start for lang in ("eng", "hin")}
    assert starts == {"eng": ("other", "larger"), "hin": ("bert", "multi-m")}
    assert asked(Encoder, **english).weights == "encoders/other/larger/eng/5/seedbed.json"
    assert (asked(Encoder, **english).prefix, asked(Encoder, **ALIGNED).prefix) == ("q: ", "")
    card = asked(Encoder, **english).lineage()
    theirs = asked(Encoder, **english | {"backbone": "other", "recipe": "larger"}).lineage()
    assert (card["backbone"], card["recipe"], card["summary"]) == ("bert", "aligned", "Of NLI.")
    assert card["data"] == theirs["data"] and [one["name"] for one in card["data"]] == ["text", "nli"]


def test_the_pivots_encoder_is_aligned_with_nothing(ask) -> None:
    assert ask(StudyRecipe, name="aligned").is_pivot("eng") and not ask(StudyRecipe, name="aligned").is_pivot("hin")
    assert not ask(StudyRecipe, name="taught").is_pivot("eng"), "it refers to an encoder, and to none of the pivot's"
    english = ask(Encoder, **ALIGNED | {"lang": "eng"})
    assert not english.trains and ask(Encoder, **ALIGNED).trains
    assert english.weights == "encoders/bert/unsupervised/eng/5/seedbed.json"
    assert not any((english.texts, english.pivot_rows, english.references, english.settings()["objective"]))


def test_a_card_names_all_that_an_encoder_is_made_of(ask) -> None:
    facts = {
        "backbone": "bert",
        "recipe": "few",
        "method": "xllora",
        "language": "hau",
        "language_name": "Hausa",
        "seed": 3,
    }
    assert ask(Encoder, **FEW).described() == facts
    card = ask(Encoder, **FEW).lineage()
    assert facts.items() <= card.items() and (card["backbone_licence"], card["generator"]) == ("Apache-2.0", "tiny")
    assert [(one["name"], one["licence"]) for one in card["data"]] == [("text", ""), ("tiny", "MIT")]
    given = ask(Encoder, **GIVEN).lineage()
    assert given["data"] == [] and given["summary"] == "" and "generator" not in given
    served = study_of(
        TOLD, recipes={"prompting": {"data": {"by": "server"}}, "unsupervised": {}}, classifiers={}, compute=None
    )
    card = asking(served)(Encoder, **FEW | {"recipe": "prompting"}).lineage()
    assert card["data"][1] == {
        "name": "server",
        "origin": [{"kind": "server", "name": "m", "endpoint": "https://host/v1"}],
        "licence": "",
        "role": "generator",
    }

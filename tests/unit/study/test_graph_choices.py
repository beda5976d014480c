"""Translations in the graph of encoders: whose are learnt, which are chosen, and what scores read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from seedbed import gpu_memory, licences
from seedbed.classifiers.settings import IN_CONTEXT
from seedbed.encoders.settings import Prompts
from seedbed.io import UserError
from seedbed.operations.forecasting.costs import CostSpec
from seedbed.resources import resource
from seedbed.study.backbone import StudyBackbone
from seedbed.study.checks.checkpoints import of_starts
from seedbed.study.checks.translated import of_pairs
from seedbed.study.graph import classifier
from seedbed.study.graph.available import Available
from seedbed.study.graph.chosen import ChosenTranslations
from seedbed.study.graph.classifier import DescribedClassifier, StudyClassifier
from seedbed.study.graph.encoder import Encoder
from seedbed.study.graph.figure import Figure, MapPoints
from seedbed.study.graph.report import Paper
from seedbed.study.graph.score import Scores
from seedbed.study.graph.table import TablePlan
from seedbed.study.model import Study
from seedbed.study.recipe import StudyRecipe, untrained
from seedbed.study.sizes import Sizes
from seedbed.tables.figures.specs import Map
from seedbed.tables.specs import TableSpec
from tests.asking import asking, check
from tests.refusals import tells

PLAIN = yaml.safe_load("""
languages: {hau: {}, swh: {}}
seeds: [5]
corpora:
  text: {file: "own/{lang}.tsv"}
  parallel: {file: "own/{lang}-eng.tsv"}
  others: {graded: {kind: pairs, file: "own/{lang}.sts.tsv"}}
generators: {chat: {source: {file: own/chat}}}
translators: {one: {generator: chat}, human: {given: {file: "own/{lang}.human.tsv"}}}
judges: {likely: {generator: chat}}
backbones:
  bert: {source: {file: own/bert}, prefix: "query: "}
  mini: {source: {file: own/mini}}
  two: {pair: {multilingual: bert, english: mini}}
recipes:
  base: {}
  arca: {english: {translators: [one, human], judge: likely}}
  lira: {english: {translators: [one, human], judge: likely}}
  beside: {from: arca, english: {fusion: none, choose: critic, translators: [one, human], similarity: bert}}
  none: {english: {fusion: none, choose: uniform, translators: [one, human], similarity: none}}
tasks:
  sts: {protocol: sts, source: {file: "own/{lang}.sts.tsv"}}
  knn: {protocol: knn, source: {file: "own/{lang}.knn.tsv"}, train: {file: "own/{lang}.train.tsv"}}
tables: []
figures: []
""")
COSTS = CostSpec.load(resource("forecast.yaml"))
MINI = "encoders/mini/weights/seedbed.json"
ARCA = "encoders/two/arca/mul/5/seedbed.json"


@pytest.fixture(scope="module")
def study() -> Study:
    return Study.model_validate(PLAIN)


@pytest.fixture(scope="module")
def ask(study: Study):
    return asking(study)


def made(recipe: str, lang: str = "hau") -> dict[str, str]:
    return {"backbone": "two", "recipe": recipe, "lang": lang, "seed": "5"}


def test_a_pair_has_the_weights_and_prefix_of_its_sides(study: Study, ask) -> None:
    bodies = {name: StudyBackbone.get(study, name).body.name for name in ("two", "mini")}
    assert bodies == {"two": "bert", "mini": "mini"}
    assert ask(Encoder, **made("arca", "mul")).weights == "encoders/bert/weights/seedbed.json"
    assert ask(Encoder, **made("lira")).weights == ARCA
    assert StudyRecipe.get(study, "lira").prefix("two") == "query: "
    assert StudyRecipe.get(study, "base").backbones == ["bert", "mini"]
    assert StudyRecipe.get(study, "lira").backbones == ["two"]
    assert StudyRecipe.get(study, "lira").anchored == "arca" and StudyRecipe.get(study, "none").anchored == ""
    assert untrained(study) == "base" and StudyRecipe.get(study, "beside").chooser == "arca"


def test_of_a_pair_the_english_has_prompts(ask) -> None:
    asked = {"query": "Find: "}
    found = asking(Study.model_validate(changed({"mini": PLAIN["backbones"]["mini"] | {"prompts": asked}})))
    for recipe, lang in (("beside", "hau"), ("arca", "mul")):
        assert found(Encoder, **made(recipe, lang)).settings()["english_prompts"] == Prompts(**asked)
    assert found(Encoder, **made("beside")).settings()["prefix"] == "query: "
    for recipe, lang in (("beside", "hau"), ("arca", "mul")):
        assert ask(Encoder, **made(recipe, lang)).settings()["english_prompts"] is None
    bert = {"source": {"file": "own/bert"}, "prompts": asked}
    with pytest.raises(ValueError, match=r"two.pair.multilingual: bert has `prompts`, and the English alone is a"):
        of_pairs(Study.model_validate(changed({"bert": bert})))


def changed(backbones: dict[str, Any]) -> dict[str, Any]:
    return PLAIN | {"backbones": PLAIN["backbones"] | backbones}


def test_what_an_encoder_is_trained_with(study: Study, ask) -> None:
    arca, lira = ask(Encoder, **made("arca", "mul")), ask(Encoder, **made("lira"))
    read = arca.inputs()
    wrote = [f"generators/{name}/translations/{{}}/parallel.tsv" for name in ("one", "human")]
    assert read["translations"] == [file.format(code) for code in ("hau", "swh") for file in wrote]
    judged = [f"generators/likely/judgements/{code}/parallel.tsv" for code in ("hau", "swh")]
    assert read["judgements"] == judged
    assert read["english"] == [] and arca.english == MINI
    assert read["refer"] == {"english": MINI}
    assert arca.similarity == ""
    chosen = "encoders/two/lira/choices/mul/5/hau/graded.tsv"
    assert lira.inputs()["english"] == [chosen]
    assert lira.settings()["fusion"] == "concat" and arca.settings()["fusion"] is None
    assert lira.settings()["translations"] == []
    sets = arca.settings()["translations"]
    assert [file for one in sets for file in one.values()] == read["translations"] and len(sets) == len(judged)
    assert ask(Encoder, backbone="bert", recipe="base", lang="mul", seed="0").english == ""


def test_who_chooses(study: Study, ask) -> None:
    texts = {"test_lang": "hau", "corpus": "graded"}
    lira = ask(ChosenTranslations, **made("lira"), **texts)
    assert lira.inputs() == {
        "translations": {name: f"generators/{name}/translations/hau/graded.tsv" for name in ("one", "human")},
        "judgements": "generators/likely/judgements/hau/graded.tsv",
        "actor": ARCA,
        "weights": MINI,
        "similarity": "",
    }
    assert lira.settings()["how"].choose == "actor"
    beside = ask(ChosenTranslations, **made("beside", "mul"), **texts).inputs()
    assert beside["actor"] == "" == beside["weights"]
    assert beside["similarity"] == "encoders/bert/base/mul/0/seedbed.json"
    none = ask(ChosenTranslations, **made("none", "mul"), **texts)
    assert not any(none.inputs()[name] for name in ("judgements", "actor", "weights", "similarity"))
    assert not none.settings()["how"].similarity


def test_a_choice_has_the_table_of_the_english_encoder_in_memory_and_not_the_rest(study: Study, ask) -> None:
    sizes, texts = Sizes(study, COSTS), {"test_lang": "hau", "corpus": "graded"}
    shapes = {"bert": gpu_memory.guessed(278e6, 86e6), "mini": gpu_memory.guessed(8e9, 7e9)}
    sizes.shape = lambda room, name: shapes[name]
    features, critic, none = (
        ask(ChosenTranslations, **made(*names), **texts).load(sizes)
        for names in (("lira", "mul"), ("beside", "mul"), ("none", "mul"))
    )
    assert (features.gpus, features.parameters) == (1, 278e6 + 1e9)
    assert (critic.gpus, critic.parameters) == (1, 278e6), "the encoder of both languages"
    assert features.gpu_mb - critic.gpu_mb == pytest.approx(1.1 * 4e9 / 2**20, abs=2)
    assert none.gpus == none.parameters == 0


def test_english_is_chosen_once_for_all_that_choose_alike() -> None:
    recipes = PLAIN["recipes"] | {
        "again": {"like": "lira", "training": {"epochs": 1}},
        "unjudged": {"like": "lira", "english": {"judge": ""}},
        "near": {"like": "beside", "english": {"fusion": "concat"}},
    }
    ask = asking(Study.model_validate(PLAIN | {"seeds": [5, 7], "recipes": recipes}))

    def read(recipe: str, lang: str = "mul", seed: str = "5") -> str:
        (file,) = ask(Encoder, backbone="two", recipe=recipe, lang=lang, seed=seed).chosen([("sts", "hau")])
        assert file.startswith("encoders/two/") and file.endswith("/hau/sts.tsv")
        return file.removeprefix("encoders/two/").removesuffix("/hau/sts.tsv")

    # Whatever the language and the recipe of the reader: what chooses is one encoder of each seed.
    assert {read("lira", "hau"), read("lira", "swh"), read("again", "hau")} == {"lira/choices/mul/5"}
    assert read("lira", "hau", "7") == read("again", "swh", "7") == "lira/choices/mul/7"
    assert read("unjudged", "hau") == "unjudged/choices/mul/5"
    # An encoder of both languages chooses without a seed, a draw with one alone.
    assert {read("beside"), read("beside", seed="7"), read("near")} == {"beside/choices/mul/0"}
    assert [read("none", "hau"), read("none", "hau", "7")] == ["none/choices/mul/5", "none/choices/mul/7"]


def test_scores_read_the_english_of_test_and_training_sets(study: Study, ask) -> None:
    job = {"backbone": "two", "recipe": "lira", "lang": "hau", "test_lang": "hau", "tasks": "all"}
    files = [f"encoders/two/lira/choices/mul/5/hau/{name}.tsv" for name in ("knn", "knn_train", "sts")]
    assert ask(Scores, **job).inputs()["english"] == {"0/hau": files}
    assert ask(Scores, **job).sets == [("knn", "hau"), ("sts", "hau")]
    assert ask(Scores, **job | {"recipe": "arca"}).english == {}


def test_tasks_of_what_encoders_of_two_texts_alone_have_are_for_them(study: Study) -> None:
    text = {"file": "own/{lang}.txt"}
    tasks = {
        "sts": PLAIN["tasks"]["sts"],
        "whose": {"protocol": "shares", "source": text},
        "far": {"protocol": "deviation", "source": {"file": "own/{lang}-eng.tsv"}},
    }
    english = {"english": {"choose": "first", "translators": ["one", "human"]}}
    recipes = PLAIN["recipes"] | {"translated": english}
    given = Study.model_validate(PLAIN | {"tasks": tasks, "recipes": recipes})
    ask = asking(given)
    job = {"lang": "mul", "test_lang": "hau", "tasks": "all"}
    asked = {
        recipe: ask(Scores, backbone="two" if recipe != "base" else "bert", recipe=recipe, **job).scored
        for recipe in recipes
    }
    alone, both = ["sts"], ["far", "sts", "whose"]
    assert {name: sorted(found) for name, found in asked.items()} == {
        "base": alone, "arca": alone, "lira": both, "beside": both, "none": both, "translated": ["sts", "whose"],
    }  # fmt: skip
    blocks = TablePlan.get(given, "lira_bound").blocks
    shown = {system.recipe for block in blocks for system in block.systems}
    assert shown == {"lira", "beside", "none"} and {block.backbone for block in blocks} == {"two"}
    (files,) = ask(Scores, backbone="two", recipe="none", **job).english.values()
    assert [file.rpartition("/")[2] for file in files] == ["far.tsv", "sts.tsv", "whose.tsv"]


def test_a_papers_tables_without_a_task_are_left_out(study: Study) -> None:
    whose = {"mlqa-shares": {"protocol": "shares", "source": {"file": "own/{lang}.txt"}}}
    given = Study.model_validate(PLAIN | {"tasks": PLAIN["tasks"] | whose})
    made = [Path(file).stem for file in Paper.get(given, "lira").files()]
    assert made == ["lira_figure10", "lira_figure10"], "the table and the figure"
    assert Paper.get(study, "lira").files() == []


@pytest.mark.parametrize(
    ("metric", "changes", "refused"),
    [
        ("share of one", {"recipes": {"lira": "L", "none": "N"}}, ""),
        ("uniform", {"recipes": {"lira": "L", "few": "F"}}, ""),
        ("share of oen", {"recipes": {"lira": "L"}}, "columns.S: lira ... 'oen' ... did you mean 'one'? ... `recipes`"),
        ("share of human", {"recipes": {"lira": "L", "few": "F"}}, "columns.S: few ... 'human' ... known: one"),
        ("share of human", {"recipes": {"lira": "L", "few": "F"}, "partial": True}, "columns.S: few ... 'human'"),
        ("share of human", {"recipes": {"few": "F"}, "partial": True}, ""),
    ],
)
def test_a_share_is_of_a_translator_that_its_recipes_have(metric: str, changes: dict[str, Any], refused: str) -> None:
    """Else the table would end without the number, after all scores."""
    few = {"english": {"fusion": "none", "choose": "first", "translators": ["one"]}}
    tasks = {"whose": {"protocol": "shares", "source": {"file": "own/{lang}.txt"}}}
    given = Study.model_validate(PLAIN | {"tasks": tasks, "recipes": PLAIN["recipes"] | {"few": few}})
    column = {"label": "S", "protocol": "shares", "metric": metric}
    base = next(iter(changes["recipes"]))
    spec = TableSpec.model_validate({"title": "T", "caption": "", "columns": [column], "baseline": base} | changes)
    if not refused:
        assert Available.get(given).blocks(spec)
        return
    with pytest.raises(UserError) as raised:
        Available.get(given).blocks(spec)
    assert tells(str(raised.value), f"table 'T': {refused}")


OF = {
    name: {"backbone": "two", "recipe": recipe} for name, recipe in (("prefixed", "translated"), ("as-it-is", "arca"))
}

LEARNT = {"corpora": PLAIN["corpora"] | {"others": {"graded": {"kind": "pairs", "file": "own/{lang}.graded.tsv"}}}}
"""Graded pairs that are no test's."""
SERVER = {"backend": "openai-chat", "endpoint": "http://host/v1", "served_model": "m"}


def solving(
    of: dict[str, dict[str, str]] = OF, generator: str = "chat", english: str | dict[str, str] = "one"
) -> Study:
    """A study with a language model that is asked after vectors."""
    problems = {"protocol": "math", "source": {"file": "own/{lang}.math.tsv"}, "languages": ["hau"]}
    changed = LEARNT | {
        "recipes": PLAIN["recipes"]
        | {"translated": {"english": {"translators": ["one", "human"], "choose": "actor", "actor": "arca"}}},
        "tasks": PLAIN["tasks"] | {"sums": problems},
        "generators": PLAIN["generators"] | {"server": SERVER},
        "classifiers": {"solver": {"generator": generator, "reasoning": {"english": english, "prefixes": of}}},
    }
    return Study.model_validate(PLAIN | changed)


def test_questions_are_asked_after_an_anchored_encoders_vectors_in_the_english_that_was_chosen() -> None:
    study = solving()
    ask = asking(study)
    assert classifier.variants(study)["prefixed"] == ["solver"] == classifier.variants(study)["as-it-is"]
    described = ask(DescribedClassifier, classifier="solver", variant="prefixed", lang="mul", seed="0")
    assert described.inputs()["retriever"] == ARCA
    assert described.settings()["parts"]["prefix"] == "encoders/two/arca/mul/5/seedbed.json"
    assert described.settings()["system"]["variant"] == "prefixed"
    solver = StudyClassifier.get(study, "solver")
    assert solver.helper("prefixed", "hau").endswith("encoders/two/arca/mul/5/seedbed.json")
    assert solver.helper("source", "hau") == ""
    assert solver.prefixing("as-it-is").recipe == "arca"
    assert solver.helping("as-it-is") == solver.prefixing("as-it-is")
    assert solver.helping("source") is None and solver.prefixing("source") is None
    # Features alone choose nothing; the English path alone has no other path.
    assert [StudyRecipe.get(study, recipe).gives for recipe in ("arca", "translated")] == [[], ["choices"]]
    scored = {"backbone": "solver", "lang": "mul", "test_lang": "hau", "tasks": "all"}
    chosen = "encoders/two/translated/choices/mul/5/hau/sums.tsv"
    assert ask(Scores, **scored, recipe="prefixed").english == {"0/hau": [chosen]}
    assert ask(Scores, **scored, recipe="as-it-is").english == {}
    assert ask(Scores, **scored, recipe="translated").english == {"0/hau": ["generators/one/translations/hau/sums.tsv"]}
    for variant, encoder in {"prefixed": ARCA, "as-it-is": ARCA, "source": "", "translated": ""}.items():
        assert ask(Scores, **scored, recipe=variant).helpers == ([encoder] if encoder else [])
    job = {"backbone": "two", "recipe": "translated", "lang": "mul", "seed": "0", "test_lang": "hau", "corpus": "sums"}
    assert ask(ChosenTranslations, **job).actor == ARCA


def test_variant_translated_is_asked_in_a_translators_english_or_in_what_a_recipe_chooses() -> None:
    study = solving(english={"backbone": "two", "recipe": "translated"})
    check(study)
    scores = asking(study)(Scores, backbone="solver", recipe="translated", lang="mul", test_lang="hau", tasks="all")
    assert scores.english == {"0/hau": ["encoders/two/translated/choices/mul/5/hau/sums.tsv"]}
    assert scores.helpers == [], "no vector stands before its questions"
    for english, message in (
        ("two", "solver.reasoning.english: no translator 'two'"),
        (
            {"backbone": "bert", "recipe": "translated"},
            "solver.reasoning.english: translated is of pairs, and bert is none",
        ),
        ({"backbone": "two", "recipe": "arca"}, "solver.reasoning.english.recipe: arca chooses no translations"),
    ):
        with pytest.raises(ValueError, match=message):
            check(solving(english=english))


@pytest.mark.parametrize(
    ("of", "message"),
    [
        ({"backbone": "bert", "recipe": "arca"}, "solver.reasoning.prefixes.x: arca is of pairs, and bert is none"),
        ({"backbone": "two", "recipe": "arc"}, r"solver.reasoning.prefixes.x.recipe:.*'arc'.*'arca'"),
        ({"backbone": "two", "recipe": "none"}, "solver.reasoning.prefixes.x.recipe: none has no anchored encoder"),
    ],
)  # fmt: skip
def test_vectors_that_nothing_gives_are_told(of: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check(solving({"x": of}))
    check(solving())


def test_a_server_reads_no_vectors() -> None:
    with pytest.raises(ValueError, match=r"vectors.*backend transformers.*openai-chat"):
        check(solving(generator="server"))


def test_a_map_reads_the_english_of_its_texts(study: Study, ask, monkeypatch: pytest.MonkeyPatch) -> None:
    sets = PLAIN["tasks"] | {"bitext": {"protocol": "bitext", "source": {"file": "own/{lang}-eng.tsv"}}}
    for given, corpus in (({"task": "knn"}, "knn_train"), ({"task": "bitext", "pairs": 50}, "bitext")):
        spec = {
            "title": "t",
            "palette": ["#000000"],
            "recipes": {"beside": "b"},
            "map": given,
            "languages": ["swh", "hau"],
        }
        monkeypatch.setattr(Figure, "spec", Map.model_validate(spec))
        drawn = asking(Study.model_validate(PLAIN | {"tasks": sets}))
        job = {"figure": "f", "backbone": "two", "recipe": "beside"}
        files = [f"encoders/two/beside/choices/mul/0/{lang}/{corpus}.tsv" for lang in ("swh", "hau")]
        assert drawn(MapPoints, **job).inputs()["english"] == files
        assert drawn(MapPoints, **job).inputs()["encoder"] == "encoders/two/beside/mul/5/seedbed.json"
        monkeypatch.setattr(Figure, "spec", Map.model_validate(spec | {"recipes": {"base": "b"}}))
        drawn = asking(Study.model_validate(PLAIN | {"tasks": sets}))
        assert drawn(MapPoints, figure="f", backbone="bert", recipe="base").inputs()["english"] == []


def test_the_retriever_of_a_language_model_reads_the_english_of_test_and_training_sets() -> None:
    asked = PLAIN["tasks"]["knn"] | {"protocol": "icl", "languages": ["hau"]}
    models = {
        name: {"generator": "chat", "in_context": {"retriever": {"backbone": backbone, "recipe": recipe}}}
        for name, backbone, recipe in (("both", "two", "beside"), ("one", "bert", "base"), ("anchored", "two", "arca"))
    }
    study = Study.model_validate(PLAIN | LEARNT | {"tasks": PLAIN["tasks"] | {"asked": asked}, "classifiers": models})
    check(study)
    ask, job = asking(study), {"recipe": IN_CONTEXT[1], "lang": "mul", "test_lang": "hau", "tasks": "all"}
    chosen = [f"encoders/two/beside/choices/mul/0/hau/{name}.tsv" for name in ("asked", "asked_train")]
    assert {*chosen} <= {*ask(Scores, **job, backbone="both").english["0/hau"]}
    assert StudyClassifier.get(study, "both").helping(IN_CONTEXT[1]).recipe == "beside"
    sets = [("asked", "hau"), ("asked_train", "hau"), ("asked", "hau")]
    read = {recipe: ask(Encoder, **made(recipe)).chosen(sets) for recipe in ("lira", "arca")}
    assert [Path(file).name for file in read["lira"]] == ["asked.tsv", "asked_train.tsv"] and read["arca"] == []
    assert ask(Scores, **job, backbone="one").english == {} == ask(Scores, **job, backbone="anchored").english


def test_texts_that_a_protocol_makes_are_for_encoders_of_a_text_alone() -> None:
    edited = {"protocol": "stability", "source": {"file": "own/{lang}.txt"}}
    ask = asking(Study.model_validate(PLAIN | {"tasks": PLAIN["tasks"] | {"edited": edited}}))
    job = {"backbone": "two", "test_lang": "hau", "tasks": "all"}
    assert ask(Scores, **job, recipe="lira", lang="hau").scored == ["knn", "sts"]
    assert ask(Scores, **job, recipe="arca", lang="mul").scored == ["edited", "knn", "sts"]
    assert "edited" in ask(Scores, **job | {"backbone": "bert"}, recipe="base", lang="mul").scored


def test_a_recipe_that_trains_a_policy_is_told_no_other_choice() -> None:
    taught = {"taught": {"like": "arca", "english": {"choose": "uniform"}}}
    with pytest.raises(
        ValueError, match=r"^recipes\.taught\.english\.choose: uniform, and the policy that it trains chooses; leave"
    ):
        check(Study.model_validate(PLAIN | LEARNT | {"recipes": PLAIN["recipes"] | taught}))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"backbones": {"fused": {"fusion": {"of": {"two": 1, "bert": 1}}}}},
         "backbones.fused.fusion.of: no backbone that can be fused 'two'"),
        ({"classifiers": {"m": {"generator": "chat", "in_context": {"retriever": {"backbone": "two", "recipe": "base"}}}}},
         r"m.in_context.retriever: base.*translation.*take another recipe"),
        ({"classifiers": {"m": {"generator": "chat", "in_context": {"retriever": {"backbone": "bert", "recipe": "lira"}}}}},
         r"m.in_context.retriever: lira.*pairs.*take another recipe"),
        ({"recipes": {"taught": {
            "data": {"corpus": "parallel"},
            "objective": {"distillation": {"teacher": {"backbone": "two", "recipe": "beside"}}},
        }}}, r"recipes.taught.objective.teacher: beside.*none here"),
    ],
)  # fmt: skip
def test_an_encoder_of_two_texts_is_not_where_it_has_no_english(changes: dict, message: str) -> None:
    found = {key: PLAIN.get(key, {}) | value for key, value in changes.items()}
    with pytest.raises(ValueError, match=message):
        check(Study.model_validate(PLAIN | LEARNT | found))


def test_a_card_names_who_translated_and_judged_what_was_learnt_and_both_sides() -> None:
    licensed = {
        "generators": {
            "nllb": {"source": {"hub": "facebook/nllb-200-3.3B", "licence": "CC-BY-NC-4.0"}},
            "served": {"backend": "openai-chat", "endpoint": "http://host/v1", "served_model": "m"},
            "chat": {"source": {"hub": "google/gemma-2-27b-it", "licence": "Gemma terms of use"}},
        },
        "translators": {
            "one": {"generator": "nllb"}, "other": {"generator": "served"},
            "human": {"given": {"file": "own/{lang}.human.tsv", "licence": "CC0-1.0"}},
        },
        "judges": {"likely": {"generator": "chat"}},
        "backbones": {
            "bert": {"source": {"hub": "a/bert", "licence": "MIT"}},
            "mini": {"source": {"hub": "b/mini", "licence": "Apache-2.0"}},
            "two": {"pair": {"multilingual": "bert", "english": "mini"}},
        },
        "recipes": {
            "base": {},
            "arca": {"english": {"translators": ["one", "other", "human"], "judge": "likely"}},
            "lira": {"english": {"translators": ["one", "human"], "judge": "likely"}},
            "beside": {"from": "arca", "english": {"fusion": "none", "choose": "first", "translators": ["one"]}},
            "translated": {"english": {"choose": "first", "translators": ["one"]}},
        },
    }  # fmt: skip
    ask = asking(Study.model_validate(PLAIN | licensed))
    nllb = {
        "name": "nllb",
        "origin": [{"kind": "hub", "name": "facebook/nllb-200-3.3B"}],
        "licence": "CC-BY-NC-4.0",
        "role": "translator",
    }
    gemma = {
        "name": "chat",
        "origin": [{"kind": "hub", "name": "google/gemma-2-27b-it"}],
        "licence": "Gemma terms of use",
        "role": "judge",
    }
    served = {
        "name": "served",
        "origin": [{"kind": "server", "name": "m", "endpoint": "http://host/v1"}],
        "licence": "",
        "role": "translator",
    }
    human = [
        {"name": "human", "origin": [{"kind": "file", "name": f"own/{lang}.human.tsv"}], "licence": "CC0-1.0"}
        for lang in ("hau", "swh")
    ]
    mini = {"name": "mini", "origin": [{"kind": "hub", "name": "b/mini"}], "licence": "Apache-2.0", "role": "backbone"}
    arca = ask(Encoder, **made("arca", "mul")).lineage()
    assert [one["name"] for one in arca["data"][:2]] == ["parallel", "parallel"]
    assert arca["data"][2:] == [nllb, served, *human, gemma]
    assert licences.of_model(arca) is None, "nobody states the terms of what a server runs"
    stated = arca | {"data": [one for one in arca["data"] if one != served]}
    assert licences.of_model(stated).name == "gemma-terms-of-use"
    lira = ask(Encoder, **made("lira")).lineage()
    assert lira["data"][:7] == arca["data"] and lira["data"][7:] == [
        {"name": "graded", "origin": [{"kind": "file", "name": "own/hau.sts.tsv"}], "licence": ""}, mini,
    ]  # fmt: skip
    beside = ask(Encoder, **made("beside", "mul")).lineage()
    assert beside["data"] == [*arca["data"], mini] and beside["base_model"] == "a/bert"
    translated = ask(Encoder, **made("translated", "mul")).lineage()
    assert translated["data"] == [] and (translated["base_model"], translated["backbone_licence"]) == (
        "b/mini",
        "Apache-2.0",
    )
    assert licences.of_model(translated).id == "apache-2.0"


@pytest.mark.parametrize(
    ("recipe", "fault"),
    [
        ({"from": "beside", "copies": "bfloat16"}, r"from: beside.*copied; take one"),
        ({"from": "beside", "objective": "contrast"}, r"from: beside.*trained by objective contrast; take one"),
        ({"from": "arca", "objective": "contrast"}, r"from: arca is anchored.*`english.fusion`, or take another"),
        ({"like": "beside", "copies": "trimmed"}, r"english.fusion:.*two texts.*copy one"),
        ({"from": "small", "objective": "contrast"}, "from: small has no transformer and cannot be trained"),
        ({"from": "small", "copies": "trimmed"}, "from: small has no transformer and cannot be copied"),
    ],
)
def test_what_nothing_can_start_from_is_told(recipe: dict, fault: str) -> None:
    sentences = {"data": {"corpus": "text"}}
    recipes = PLAIN["recipes"] | {"small": sentences | {"from": "base", "copies": "int8"}}
    of_starts(Study.model_validate(PLAIN | {"recipes": recipes}))
    with pytest.raises(ValueError, match=f"^recipes.new.{fault}"):
        of_starts(Study.model_validate(PLAIN | {"recipes": recipes | {"new": sentences | recipe}}))

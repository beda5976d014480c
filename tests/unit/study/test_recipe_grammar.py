"""What a recipe may say: what it inherits from another, of which kind the corpora are, and what was once called
otherwise."""

from __future__ import annotations

from typing import Any

import pytest

from seedbed.io import UserError
from seedbed.study.checks.recipes import of_recipes
from seedbed.study.graph.corpus import Corpus
from seedbed.study.loading import load
from seedbed.study.model import Study
from seedbed.study.recipe import StudyRecipe
from seedbed.study.variants import with_parents
from tests.asking import within
from tests.refusals import tells

OWN = {
    "wiki": {"file": "own/{lang}.wiki.tsv"},
    "questions": {"kind": "matched_pairs", "file": "own/{lang}.questions.tsv"},
    "graded": {"kind": "pairs", "file": "own/{lang}.graded.tsv"},
    "asked": {"kind": "retrieval", "file": "own/{lang}.asked.tsv"},
    "both": {"kind": "matched_pairs", "sets": {"ours": {"file": "own/ours.tsv"}, "theirs": {"file": "own/theirs.tsv"}}},
    "premises": {"kind": "paraphrases", "file": "own/premises.tsv"},
}


def config(**recipes: Any) -> dict[str, Any]:
    """A study of corpora of several kinds, with these recipes beside `base`."""
    return {
        "languages": {"hau": {"corpora": {"asked": {"file": "own/people.tsv"}}}, "swh": {}},
        "corpora": {"text": {"file": "own/{lang}.tsv"}, "nli": {"file": "own/nli.tsv"}, "others": OWN},
        "generators": {"llm": {"source": {"file": "own/llm"}}, "nllb": {"source": {"file": "own/nllb"}}},
        "backbones": {"bert": {"source": {"file": "own/bert"}}},
        "recipes": {"base": {}} | recipes,
        "tasks": {"sts": {"protocol": "sts", "source": {"file": "own/{lang}.sts.tsv"}}},
    }


def study(**recipes: Any) -> Study:
    return Study.model_validate(config(**recipes))


def fault(**recipes: Any) -> str:
    with pytest.raises(UserError) as caught:
        load(config(**recipes))
    assert "\n" not in str(caught.value)
    return str(caught.value)


OLD = [
    ({"method": "unsupervised"}, "mine.method: is now `like`"),
    ({"text": "wiki"}, "mine.text: is now `data: {corpus: ...}`"),
    ({"rows": 5}, "mine.rows: is now `data: {rows: ...}`"),
    ({"language": "all"}, "mine.language: is now `data: {from_languages: ...}`"),
    ({"generator": "llm"}, "mine.generator: is now `data: {by: ...}`"),
    ({"encoders": {"bert": {"file": "x"}}}, "mine.encoders: is now `published`"),
    ({"translators": ["one"]}, "mine.translators: is now `english: {translators: ...}`"),
    ({"judge": "one"}, "mine.judge: is now `english: {judge: ...}`"),
    ({"similarity": "none"}, "mine.similarity: is now `english: {similarity: ...}`"),
    ({"fusion": "concat"}, "mine.fusion: is now `english: {fusion: ...}`"),
    ({"choose": "first"}, "mine.choose: is now `english: {choose: ...}`"),
    ({"actor": "arca"}, "mine.actor: is now `english: {actor: ...}`"),
    ({"languages": ["hau"]}, "mine.languages: is now `only: {languages: ...}`"),
    ({"backbones": ["bert"]}, "mine.backbones: is now `only: {backbones: ...}`"),
    ({"seeds": [1]}, "mine.seeds: is now `only: {seeds: ...}`"),
    ({"objective": "trimmed"}, "mine.objective.trimmed: is now `copies: trimmed`"),
    ({"objective": {"halved": {}}}, "mine.objective.halved: is now `copies: bfloat16`"),
    ({"data": {"translated": "premises"}}, "mine.data.translated: is now `data: {corpus: ..., by: GENERATOR}`"),
    *(
        ({"data": {key: "asked"}}, f"mine.data.{key}: is now `data: {{corpus: ...}}`; ... `corpora.others` ... `kind`")
        for key in ("sentences", "triplets", "paraphrases", "pairs", "scored_pairs", "queries", "parallel")
    ),
]


@pytest.mark.parametrize(("settings", "message"), OLD, ids=[message.partition(":")[0] for _, message in OLD])
def test_a_key_that_is_called_otherwise_now_is_told(settings: dict[str, Any], message: str) -> None:
    assert tells(fault(mine=settings), f"config.recipes: {message}")


def merged(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """The settings of a recipe with others on top, without the name of that one."""
    return {
        key: value
        for key, value in with_parents({"a": below, "b": {"like": "a"} | above})["b"].items()
        if key != "like"
    }


@pytest.mark.parametrize(
    ("below", "above", "data"),
    [
        # More or less of the same, by the same.
        ({"corpus": "nli", "by": "nllb"}, {"rows": 5}, {"corpus": "nli", "by": "nllb", "rows": 5}),
        ({"corpus": "nli", "by": "nllb"}, {"corpus": "nli", "rows": 5}, {"corpus": "nli", "by": "nllb", "rows": 5}),
        ({"written": "xllora", "rows": 9}, {"by": "llm"}, {"written": "xllora", "by": "llm", "rows": 9}),
        # Another way of writing, by the same generator.
        ({"written": "xllora", "by": "llm"}, {"written": "prompting"}, {"written": "prompting", "by": "llm"}),
        # Another corpus, which nobody translates.
        ({"corpus": "nli", "by": "nllb", "rows": 5}, {"corpus": "mnli"}, {"corpus": "mnli", "rows": 5}),
        ({"corpus": "nli", "by": "nllb"}, {"corpus": "mnli", "by": "nllb"}, {"corpus": "mnli", "by": "nllb"}),
        # Something of another sort, in the place of what there was.
        ({"corpus": "nli", "by": "nllb"}, {"written": "xllora"}, {"written": "xllora"}),
        ({"written": "xllora", "by": "llm", "from_languages": "all"}, {"corpus": "nli"}, {"corpus": "nli", "from_languages": "all"}),
        ({"corpus": "seed_pairs"}, {"neighbours": "layer9"}, {"neighbours": "layer9"}),
    ],
)  # fmt: skip
def test_other_data_take_the_place_of_those_that_there_were(
    below: dict[str, Any], above: dict[str, Any], data: dict[str, Any]
) -> None:
    assert merged({"data": below}, {"data": above}) == {"data": data}


def test_shares_of_batches_are_replaced() -> None:
    below = {"training": {"epochs": 3, "batches": {"translations": 32}}}
    assert merged(below, {"training": {"batches": {"questions": 8}}}) == {
        "training": {"epochs": 3, "batches": {"questions": 8}}
    }


def test_groups_are_merged_and_an_objective_is_replaced() -> None:
    below = {
        "english": {"translators": ["one", "two"], "judge": "likely"},
        "only": {"backbones": ["bert"]},
        "training": {"epochs": 3},
        "objective": {"ranking": {"scale": 20}},
        "prefix": {"choose": ["base", "bare"]},
    }
    above = {
        "english": {"translators": ["three"]},
        "only": {"seeds": [1]},
        "training": {"batch_size": 4},
        "objective": {"ranking": {"cutoff": 0.3}},
        "prefix": "q: ",
    }
    assert merged(below, above) == {
        "english": {"translators": ["three"], "judge": "likely"},
        "only": {"backbones": ["bert"], "seeds": [1]},
        "training": {"epochs": 3, "batch_size": 4},
        "objective": {"ranking": {"cutoff": 0.3}},
        "prefix": "q: ",
    }


def test_what_is_published_of_a_recipe_is_not_of_one_that_varies_it() -> None:
    made = {"published": {"bert": {"file": "x"}}, "data": {"corpus": "nli"}}
    assert merged(made, {}) == {"data": {"corpus": "nli"}} and merged({}, made) == made


def test_a_recipe_of_the_study_goes_before_the_preset_of_its_name() -> None:
    found = study(xllora={"like": "prompting"}, mine={"like": "xllora"}, other={"like": "composition"})
    assert {name: recipe.data.written for name, recipe in found.recipes.items() if recipe.trained} == {
        "xllora": "prompting", "mine": "prompting", "other": "composition",
    }  # fmt: skip
    parts = {name: StudyRecipe.get(found, name) for name in found.recipes}
    assert {name: part.method for name, part in parts.items()} == {
        "base": "base", "xllora": "prompting", "mine": "prompting", "other": "composition",
    }  # fmt: skip
    assert (parts["mine"].varied, parts["other"].varied) == (parts["xllora"], None)


@pytest.mark.parametrize("name", ["base", "unsupervised"])
def test_a_recipe_like_the_preset_of_its_own_name_is_that(name: str) -> None:
    one, other = study(**{name: {"like": name}}), study(**{name: {}})
    assert one.recipes[name].model_dump(exclude={"like"}) == other.recipes[name].model_dump(exclude={"like"})
    assert (
        StudyRecipe.get(one, name).involves_training == (name != "base") and StudyRecipe.get(one, name).method == name
    )


def test_a_corpus_says_its_kind_and_is_text_without() -> None:
    found = study(
        more={"like": "unsupervised", "data": {"corpus": "wiki"}},
        paired={"data": {"corpus": "questions"}, "objective": "ranking"},
        correlated={"data": {"corpus": "graded"}, "objective": "graded"},
        ranked={"data": {"corpus": "asked"}, "objective": "listwise"},
        carried={"data": {"corpus": "premises", "by": "nllb"}, "objective": "ranking"},
        crosslingual={},
    )
    kinds = {name: recipe.data.kind for name, recipe in found.recipes.items() if recipe.trained}
    assert kinds == {
        "more": "text", "paired": "matched_pairs", "correlated": "pairs", "ranked": "retrieval",
        "carried": "paraphrases", "crosslingual": "triplets",
    }  # fmt: skip
    assert [found.roles[name] for name in OWN if name != "both"] == [
        "text",
        "matched_pairs",
        "pairs",
        "retrieval",
        "paraphrases",
    ]
    read = {name: within(StudyRecipe.get(found, name).data("hau"), found) for name in kinds}
    assert read["more"] == "corpora/{lang}/wiki+anchors.tsv", "sentences are drawn"
    assert read["paired"] == "corpora/{lang}/questions.tsv" and read["ranked"] == "corpora/{lang}/asked.tsv"
    assert read["carried"].startswith("triplets/nllb/"), "translated"
    assert [name for name in kinds if found.recipes[name].drawn is not None] == ["more"]


def test_a_corpus_is_fetched_as_its_kind_whosever_source_it_is() -> None:
    found = study()
    jobs = {code: Corpus.get(found, code, "asked").settings() for code in ("hau", "swh")}
    assert {job["kind"] for job in jobs.values()} == {"retrieval"}
    assert [found.corpus("asked", code).file for code in jobs] == ["own/people.tsv", "own/swh.asked.tsv"]
    assert "kind" not in jobs["swh"]["source"].model_dump()


@pytest.mark.parametrize(
    ("data", "objective", "message"),
    [
        (
            {"corpus": "wiki"},
            "ranking",
            "data.corpus has text; ranking reads anchor, positive, ... sentence1, sentence2",
        ),
        ({"corpus": "questions"}, "graded", "data.corpus has sentence1, sentence2; graded reads ... score"),
        (
            {"corpus": "graded"},
            "listwise",
            "data.corpus has sentence1, sentence2, score; listwise reads query, document",
        ),
        (
            {"corpus": "graded"},
            "ranking",
            "data.corpus has pairs with scores; ranking reads none ... kind: matched_pairs",
        ),
        ({"corpus": "nli"}, "distillation", "objective.distillation.teacher: Field required"),
        ({"written": "xllora"}, "listwise", "data.written has anchor, positive, negative; listwise reads query"),
        ({"neighbours": "layer9"}, "graded", "data.neighbours has text, pivot; graded reads sentence1"),
        ({"candidates": "wiki"}, "graded", "data.candidates has text; graded reads sentence1"),
        ({"corpus": "wiki"}, "anchoring", "data.corpus has text; anchoring reads text, candidates"),
    ],
)
def test_an_objective_reads_what_the_data_have(data: dict[str, Any], objective: str, message: str) -> None:
    assert tells(fault(mine={"data": data, "objective": objective}), f"recipes.mine: {message}")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"data": {"corpus": "question"}, "objective": "ranking"}, "recipes.mine.data.corpus: no corpus 'question'; did you mean 'questions'?"),
        ({"data": {"corpus": "nli", "written": "xllora"}, "objective": "contrast"}, "recipes.mine.data: give one of corpus, written, neighbours, candidates; found corpus, written"),
        ({"data": {"written": "xlora"}, "objective": "contrast"}, "recipes.mine.data: written: no way 'xlora' ... 'xllora'"),
        ({"data": {"corpus": "nli"}}, "recipes.mine: give one `objective`, or `copies`, with its `data`"),
        ({"objective": "contrast"}, "recipes.mine: give one `objective`, or `copies`, with its `data`"),
        ({"like": "xllora", "from": "base", "data": {"by": "lm"}}, "recipes.mine.data.by: no generator 'lm'"),
        ({"like": "crosslingual", "data": {"by": "nllb"}}, "recipes.mine.data.by: a generator translates paraphrases, and nli is of triplets"),
        ({"like": "unsupervised", "english": {"judge": "likely"}}, "recipes.mine: english.judge: this recipe reads no translation"),
        ({"like": "xlora"}, "recipes: mine.like: no 'xlora' to start from; did you mean 'xllora'?"),
        ({"from": "base"}, "recipes: mine: no preset of this name; give `like`, or `data` and `objective`"),
        ({"like": "unsupervised", "prefix": {"choose": ["base"]}}, "recipes.mine.prefix.choose: ... at least 2"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_one_line(settings: dict[str, Any], message: str) -> None:
    assert tells(fault(mine=settings), message)


def test_a_kind_that_there_is_not_is_told() -> None:
    given = config()
    given["corpora"]["others"] = OWN | {"mine": {"kind": "sentences", "file": "own/mine.tsv"}}
    with pytest.raises(UserError, match=r"config\.corpora\.others\.mine\.kind: .*'text'.*'paraphrases'"):
        load(given)


@pytest.mark.parametrize(
    ("recipe", "told"),
    [
        ({"like": "base", "data": {"from_languages": "pivot"}}, "data.from_languages: nothing is trained, on data of whatever language; leave it out, or give "),
        ({"like": "base", "only": {"seeds": [1]}}, "only.seeds: nothing is trained, so that its encoders have no seed; leave it out"),
        ({"like": "vocabulary", "only": {"seeds": [1]}}, "only.seeds: objective vocabulary has a seed of its own; set that, or leave it out"),
        ({"like": "unsupervised", "from": "first", "training": {"dropout": 0.1}}, "training.dropout: its encoder has the dropout of first, which it starts from; give that "),
        ({"like": "unsupervised", "training": {"pooling": "static"}}, "training.pooling: of mine, static is not trained; take mean, or leave the objective out"),
        ({"like": "base", "training": {"pooling": "cls_mlp"}}, "training.pooling: of mine, cls_mlp would be a dense layer of random weights; give cls, or train"),
        ({"like": "unsupervised", "training": {"rank": 4}}, "training.rank: of `part: adapter, adapter: low_rank` alone; give these, or leave it out"),
        ({"like": "unsupervised", "training": {"part": "adapter", "scaling": 2.0}}, "training.scaling: of `part: adapter, adapter: parallel` alone"),
        ({"data": {"corpus": "both"}, "objective": "ranking", "training": {"batches": {"asked": 3}}}, "training.batches: no set of both 'asked'; "),
        ({"data": {"corpus": "questions"}, "objective": "ranking", "training": {"temperature": 0.1}}, "training.temperature: objective ranking does not read it; leave it out"),
        ({"like": "adapted", "only": {"seeds": [1]}}, "only.seeds: objective masked has a seed of its own; set that, or leave it out"),
        ({"like": "adapted", "training": {"epochs": 1}}, "training.epochs: objective masked has settings of its own; give those, or leave it out"),
        ({"from": "first", "data": {"corpus": "text"}, "copies": "bfloat16", "training": {"steps": 3}}, "training.steps: copies bfloat16 has settings of its own; "),
        ({"like": "base", "training": {"max_length": 64}}, "training.max_length: nothing is trained; give an `objective`, or leave it out"),
        ({"like": "unsupervised", "training": {"epochs": 2, "steps": 9}}, "training.epochs: of `steps: null` alone; give these, or leave it out"),
        ({"like": "unsupervised", "training": {"layers": 2}}, "training.layers: of poolings last_average, last_weighted and last_weighted_train alone"),
        ({"like": "unsupervised", "training": {"mlm_probability": 0.3}}, "training.mlm_probability: of `mlm_weight` above 0 alone"),
        ({"like": "unsupervised", "training": {"adapter": "parallel"}}, "training.adapter: of `part: adapter` alone"),
        ({"like": "unsupervised", "training": {"part": "adapter", "freeze_word_embeddings": True}}, "training.freeze_word_embeddings: of `part: all` alone"),
    ],
)  # fmt: skip
def test_a_setting_that_has_no_effect_is_refused(recipe: dict[str, Any], told: str) -> None:
    assert f"recipes.mine.{told}" in fault(first={"like": "unsupervised"}, mine=recipe)


PARALLEL = {"like": "unsupervised", "training": {"pooling": "mean", "part": "adapter", "adapter": "parallel"}}
JOINT = {"from": "first", "data": {"corpus": "premises"}, "objective": "joint"}


@pytest.mark.parametrize(
    ("recipe", "told"),
    [
        ({"data": {"corpus": "questions"}, "objective": "ranking", "training": {"mlm_weight": 0.1}}, "recipes.mine.training.mlm_weight: of mine, ranking predicts no masked words; "),
        ({"data": {"corpus": "premises", "from_languages": "all"}, "objective": "ranking", "training": {"distinct": True}}, "recipes.mine.training.distinct: of mine, rows of several languages are laid out"),
        ({"like": "unsupervised", "training": {"part": "head", "pooling": "mean"}}, "recipes.mine.training.part: of mine, head, and pooling mean has no weights to train; "),
        ({"like": "parallel", "training": {"pooling": "cls_mlp"}}, "recipes.mine.training.pooling: of mine, cls_mlp has new weights, and parallel adapters are trained alone; "),
        ({"from": "parallel", "data": {"corpus": "text"}, "copies": "bfloat16"}, "recipes.mine.from: parallel has parallel adapters and cannot be copied; "),
        ({"like": "unsupervised", "from": "parallel", "training": {"pooling": "cls"}}, "recipes.mine.training.pooling: the parallel adapters of parallel are of encoders with their own; "),
        (JOINT | {"training": {"part": "adapter", "adapter": "parallel", "pooling": "cls"}}, "recipes.mine.training.pooling: adapters learn with the pooling of first's encoders; "),
        (JOINT | {"training": {"part": "adapter", "adapter": "parallel", "batches": {"a": 2}}}, "recipes.mine.training.batches: of mine, shares are of batches in one language; "),
        (JOINT | {"training": {"part": "adapter", "adapter": "parallel", "mini_batch": 2}}, "recipes.mine.training.mini_batch: of mine, batches of aligned languages are whole and in order; "),
    ],
)  # fmt: skip
def test_a_training_that_would_fail_is_refused(recipe: dict[str, Any], told: str) -> None:
    assert told in fault(first={"like": "unsupervised"}, parallel=PARALLEL, mine=recipe)


def test_a_setting_of_the_study_that_a_training_cannot_have_is_told_there() -> None:
    of = {"first": {"like": "unsupervised"}, "mine": {"data": {"corpus": "questions"}, "objective": "ranking"}}
    with pytest.raises(UserError, match=r"config: training\.mlm_weight: of mine, ranking predicts no masked words"):
        load(config(**of) | {"training": {"mlm_weight": 0.1}})


def test_settings_that_are_inherited_or_have_an_effect_remain() -> None:
    lora = {"like": "unsupervised", "training": {"part": "adapter", "rank": 4}}
    shares = {"data": {"corpus": "both"}, "objective": "ranking", "training": {"batches": {"theirs": 3, "ours:old": 3}}}
    whole = {"like": "lora", "training": {"part": "all"}}
    cool = {"like": "unsupervised", "training": {"temperature": 0.1}}
    ranked = {"like": "cool", "data": {"corpus": "questions"}, "objective": "ranking"}
    found = Study.model_validate(
        config(lora=lora, whole=whole, shares=shares, cool=cool, ranked=ranked)
        | {"training": {"rank": 8, "temperature": 0.2}}
    )
    of_recipes(found)
    assert StudyRecipe.get(found, "whole").training.rank == 4


def test_an_encoder_keeps_the_dropout_of_what_it_starts_from() -> None:
    """A saved encoder's config has it; a study's own reaches what starts from a backbone."""
    trained = {"like": "unsupervised", "from": "first"}
    given = config(first={"like": "unsupervised"}, on=trained, anew=trained | {"training": {"pooling": "mean"}})
    found = Study.model_validate(given | {"training": {"dropout": 0.1}})
    of_recipes(found)
    has = {name: StudyRecipe.get(found, name).training.dropout for name in ("first", "on", "anew")}
    assert has == {"first": 0.1, "on": None, "anew": 0.1}


def test_a_copy_has_one_of_the_seeds_of_what_it_is_a_copy_of() -> None:
    copied = {"from": "base", "data": {"corpus": "text"}, "copies": "bfloat16", "only": {"seeds": [1]}}
    assert "recipes.mine.only.seeds: base has encoders of seed 0 alone; give it, or leave it out" in fault(mine=copied)


def test_seeds_of_an_encoder_without_any_are_those_of_the_heads_that_are_trained_on_it() -> None:
    tuned = {"protocol": "tuned", "source": {"file": "own/{lang}.tsv"}, "train": {"file": "own/{lang}.train.tsv"}}
    more = {"seeds": [1, 2], "tasks": {"tuned": tuned}}
    found = Study.model_validate(config(base={"only": {"seeds": [2]}}) | more)
    of_recipes(found)
    assert StudyRecipe.get(found, "base").heads == [2]

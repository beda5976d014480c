"""Where sentences and published work come from."""

from __future__ import annotations

from typing import Any

import pytest

from seedbed.io import UserError
from seedbed.study import published
from seedbed.study.checks.sources import of_sources
from seedbed.study.graph.corpus import Anchors, Corpus, SeedPairs, lacking
from seedbed.study.graph.product import Product
from seedbed.study.graph.triplet import Triplets
from seedbed.study.model import Study
from seedbed.study.paths import CORPUS, at
from seedbed.study.settings import is_taken
from tests.asking import TOLD, study_of, within


def test_a_corpus_has_a_source(told: Study) -> None:
    files = {name: Corpus.get(told, "hau", name).source.file for name in ("text", "wiki", "knn", "knn_train")}
    assert files == {
        "text": "own/hau.tsv",
        "wiki": "own/hau.wiki.tsv",
        "knn": "own/hau.test.tsv",
        "knn_train": "own/hau.train.tsv",
    }
    assert Corpus.get(told, "hau", "ready+prompting").source.file == "own/hau.triplets.tsv"
    with pytest.raises(UserError, match=r"no source.*tiny\+prompting corpus of hau"):
        _ = Corpus.get(told, "hau", "tiny+prompting").source


def test_a_persons_files_are_those_that_are_there() -> None:
    corpora = {"text": {"file": "README.md"}, "nli": {"file": "no/such.tsv"}}
    study = study_of(TOLD, corpora=corpora, recipes={"base": {}})
    assert [*map(str, Corpus.get(study, "hau", "text").local_files())] == ["README.md"]
    assert Corpus.get(study, "eng", "nli").local_files() == []


def test_other_bounds_of_sentences_change_a_test_set_only_where_they_clean_it() -> None:
    study = study_of(TOLD, cleaning={"min_words": 1})
    tasks = {"sts": {"protocol": "sts", "source": {"file": "x"}}}
    tasks["own"] = tasks["sts"] | {"clean": True}
    tested = study_of(TOLD, tasks=tasks, cleaning={"min_words": 1}, classifiers={}, compute=None)
    assert Corpus.get(study, "hau", "text").settings()["cleaning"].min_words == 1
    assert "cleaning" not in Corpus.get(tested, "hau", "sts").settings()
    assert Corpus.get(tested, "hau", "own").settings()["cleaning"].min_words == 1


def test_a_test_set_waits_for_what_it_is_apart_from_alone(told: Study) -> None:
    assert Corpus.get(told, "hau", "knn").inputs()["trained"] == []  # test_leakage.py has one that does


def test_a_test_set_is_apart_from_the_corpora_of_its_own_languages() -> None:
    corpora = {"others": {"news": {"kind": "text", "file": "own/{news}.txt"}}}
    languages = {"hau": {"codes": {"news": "one"}}, "swh": {"codes": {"news": ""}}}
    task = {"protocol": "sts", "source": {"file": "README.md"}, "apart_from": ["news"], "pairs": "all"}
    changes = {"languages": languages, "corpora": corpora, "tasks": {"sts": task}, "recipes": {"base": {}}}
    changes |= {"backbones": {"tiny": {"source": {"hub": "a/b"}}}, "statistics": {"baseline": "base"}}
    study = Study.model_validate(changes)
    waits = {code: Corpus.get(study, code, "sts").inputs()["trained"] for code in ("hau", "swh", "hau-swh", "swh-hau")}
    news = at(study, CORPUS, lang="hau", corpus="news")
    assert waits == {"hau": [news], "swh": [], "hau-swh": [news], "swh-hau": [news]}
    with pytest.raises(UserError, match=r"tasks\.sts\.apart_from: the news corpus of hau: no such file own/one\.txt"):
        of_sources(study)
    with pytest.raises(UserError, match=r"tasks\.sts\.apart_from: no news in swh"):
        of_sources(Study.model_validate(changes | {"languages": {"swh": languages["swh"]}}))


def test_anchors_wait_for_no_set_of_two_languages_that_is_apart_from_them() -> None:
    def tests(**changes: Any) -> list[str]:
        task = {"protocol": "sts", "pairs": {"hau-swh": {"file": "README.md"}}} | changes
        alone = {"generators": {}, "classifiers": {}, "compute": None, "recipes": {"base": {}}}
        study = study_of(TOLD, languages={"hau": {}, "swh": {}}, tasks={"sts": task}, **alone)
        return [within(file, study) for file in Anchors.get(study, "hau", "anchors").inputs()["tests"]]

    assert tests() == ["corpora/hau-swh/sts.tsv"] and tests(apart_from=["text"]) == []


def test_a_folder_that_nobody_has_is_said() -> None:
    tasks = {
        name: {"protocol": "sts", "source": {"file": file}} for name, file in (("far", "{far}/x.tsv"), ("sts", "x"))
    }
    others = {"generators": {}, "recipes": {"base": {}}, "classifiers": {}, "compute": None}
    study = study_of(TOLD, tasks=tasks, paths={"far": "none"}, **others)
    assert lacking(study, "far").startswith("paths.far is none; give it with --config")
    assert lacking(study, "sts") == "" == lacking(study, "no-task")


def test_a_fetch_says_what_it_fetches(told: Study) -> None:
    options = {name: Corpus.get(told, "hau", name).form for name in ("text", "ready+prompting", "bitext", "sts")}
    assert options == {
        "text": {"kind": "text"},
        "ready+prompting": {"kind": "triplets"},
        "bitext": {"kind": "parallel", "test": False, "scale": (0, 1)},  # cleaned: it is no benchmark
        "sts": {"kind": "pairs", "test": True, "scale": (1, 5)},
    }


def test_anchors_are_drawn_from_text_or_from_other_text(told: Study) -> None:
    both = [Anchors.get(told, "hau", name) for name in ("anchors", "wiki+anchors")]
    assert [one.other_text for one in both] == ["", "wiki"]
    drawn_from = [within(one.inputs()["corpus"], told) for one in both]
    assert drawn_from == ["corpora/hau/text.tsv", "corpora/hau/wiki.tsv"]
    assert [one.drawing.count for one in both] == [40, 60]


def test_a_language_is_told_from_the_pivot_unless_nothing_asks(told: Study) -> None:
    assert within(Anchors.get(told, "hau", "anchors").inputs()["pivot"], told) == "corpora/eng/text.sample.tsv"
    assert Anchors.get(told, "eng", "anchors").inputs()["pivot"] == ""
    unchecked = study_of(TOLD, anchors={"language_id": False})
    assert Anchors.get(unchecked, "hau", "anchors").inputs()["pivot"] == ""
    assert Anchors.get(told, "hin", "anchors").settings()["script"] == "Deva"


def test_a_task_shares_the_sets_of_another_and_learns_in_its_language(told: Study) -> None:
    assert within(Corpus.of_test(told, "icl-xl", "hau"), told) == "corpora/hau/knn.tsv"
    trains = {task: within(Corpus.of_training(told, task, "hau"), told) for task in ("knn", "knn-xl", "sts")}
    assert trains == {"knn": "corpora/hau/knn_train.tsv", "knn-xl": "corpora/hin/knn_train.tsv", "sts": ""}


def test_every_test_set_of_encoders_is_held_out_and_none_of_classifiers(told: Study) -> None:
    names = ("asked", "bitext", "dev", "knn", "news", "sts", "sums")
    turned = "corpora/hin-hau/turned.tsv"  # the set of a pair with it
    expected = [*(f"corpora/hau/{name}.tsv" for name in names), turned]
    assert held_out_of(Anchors.get(told, "hau", "anchors")) == expected
    assert held_out_of(SeedPairs.get(told, "hau")) == expected
    assert held_out_of(Anchors.get(told, "swh", "anchors")) == [], "it is read, and no language of the study"


def held_out_of(product: Product) -> list[str]:
    """The test sets whose texts a product may not contain."""
    return within(product.inputs()["tests"], product.study)


NEAR = {"like": "neighxlm-k2", "data": {"neighbours": "fifth"}}
LEARNERS = {
    "sentences": (Anchors, ("anchors",), {"like": "unsupervised"}),
    "other sentences": (Anchors, ("wiki+anchors",), {"like": "unsupervised", "data": {"corpus": "wiki"}}),
    "anchors of triplets": (Anchors, ("anchors",), {"like": "prompting"}),
    "triplets": (Triplets, ("tiny", "prompting"), {"like": "prompting"}),
    "pairs": (SeedPairs, (), {"like": "vanilla"}),
    "pairs with neighbours": (SeedPairs, (), NEAR),
    "neighbours": (Anchors, ("anchors",), NEAR),
}


@pytest.mark.parametrize(("kind", "names", "recipe"), LEARNERS.values(), ids=[*LEARNERS])
def test_what_an_encoder_learns_repeats_no_test_of_any_language_that_has_it(
    kind: type[Product], names: tuple[str, ...], recipe: dict[str, Any]
) -> None:
    """English sentences of a Hausa test set may be in English text."""

    def tests(lang: str, from_languages: str, **more: Any) -> list[str]:
        mine = recipe | {"data": recipe.get("data", {}) | {"from_languages": from_languages}} | more
        study = study_of(TOLD, recipes={"base": {}, "mine": mine})
        fields = (*names, lang) if kind is Triplets else (lang, *names)
        return held_out_of(kind.get(study, *fields))

    own = {lang: tests(lang, "own") for lang in ("hau", "hin", "eng")}
    every = sorted({*own["hau"], *own["hin"]})
    assert own["eng"] == [] and own["hau"] != own["hin"] != every
    assert tests("eng", "pivot") == tests("hau", "all") == every
    assert tests("hau", "pivot") == own["hau"]
    assert tests("eng", "pivot", only={"languages": ["hau"]}) == own["hau"], "the others get no such encoder"


def test_what_an_encoder_started_from_counts_too() -> None:
    recipes = {"base": {}, "first": {"like": "unsupervised"}, "then": {"like": "crosslingual", "from": "first"}}
    study = study_of(TOLD, recipes=recipes)
    assert held_out_of(Anchors.get(study, "eng", "anchors")) == [
        *held_out_of(Anchors.get(study, "hau", "anchors"))[:-1],
        *held_out_of(Anchors.get(study, "hin", "anchors")),
    ]


def test_what_is_drawn_or_audited_repeats_no_test_text_without_being_told(told: Study) -> None:
    assert Corpus.get(told, "hau", "text").kept_apart() == [], (
        "tests/unit/corpora/select/test_leakage.py has the others"
    )


def test_the_sides_of_a_pair_are_told_apart_by_sentences_and_script(told: Study) -> None:
    known = within(SeedPairs.get(told, "hin").inputs()["known"], told)
    assert known == ["corpora/hin/text.sample.tsv", "corpora/eng/text.sample.tsv"]
    assert SeedPairs.get(study_of(TOLD, seed_pairs={"language_id": False}), "hin").inputs()["known"] == []
    assert SeedPairs.get(told, "hin").settings()["scripts"] == ["Deva", "Latn"]


def test_published_work_is_taken_from_where_the_study_begins() -> None:
    work = {"file": "own/{lang}.made"}
    changes = {
        "generators": {
            "g": {"source": work, "adapters": {"xllora": {"positive": work}}, "triplets": {"xllora": work}},
            "ready": {"source": work, "backend": "published", "triplets": {"prompting": work}},
        },
        "recipes": {"xllora": {"published": {"bert": work}}, "published": {"published": {"other": work}}},
        "classifiers": {},
        "compute": None,
    }
    taken = {}
    for start in ("scratch", "adapters", "triplets", "encoders"):
        study = study_of(TOLD, **changes, start=start)
        found = {
            "adapter": published.adapter(study, "g", "xllora", "positive", "hau"),
            "triplets": published.triplets(study, "g", "xllora", "hau"),
            "encoder": published.encoder(study, "bert", "xllora", "hau"),
        }
        taken[start] = [what for what, source in found.items() if source and source.file == "own/hau.made"]
        assert [is_taken(start, step) for step in ("scratch", start)] == [True, True]
        # What nobody here could make is taken wherever the study begins.
        assert published.triplets(study, "ready", "prompting", "hau") and published.encoder(
            study, "other", "published", "hau"
        )
        assert not published.adapter(study, "g", "xllora", "negative", "hau")
    assert taken == {
        "scratch": [],
        "adapters": ["adapter"],
        "triplets": ["adapter", "triplets"],
        "encoders": ["adapter", "triplets", "encoder"],
    }

"""Where sentences and published work come from."""

from __future__ import annotations

import pytest

from seedbed.io import UserError
from seedbed.study.graph import corpora, published
from tests.asking import TOLD, asking, study_of


def test_a_corpus_has_a_source(ask) -> None:
    files = {name: ask(corpora.source, lang="hau", corpus=name).file for name in ("text", "wiki", "knn", "knn_train")}
    assert files == {
        "text": "own/hau.tsv",
        "wiki": "own/hau.wiki.tsv",
        "knn": "own/hau.test.tsv",
        "knn_train": "own/hau.train.tsv",
    }
    assert ask(corpora.source, lang="hau", corpus="ready+prompting").file == "own/hau.triplets.tsv"
    with pytest.raises(UserError, match=r"no source.*tiny\+prompting corpus of hau"):
        ask(corpora.source, lang="hau", corpus="tiny+prompting")


def test_a_persons_files_are_those_that_are_there() -> None:
    here = asking(study_of(TOLD, corpora={"text": {"file": "README.md"}, "nli": {"file": "no/such.tsv"}}))
    assert [*map(str, here(corpora.local_files, lang="hau", corpus="text"))] == ["README.md"]
    assert here(corpora.local_files, lang="eng", corpus="nli") == []


def test_a_test_set_waits_for_what_it_is_apart_from_alone(ask) -> None:
    assert ask(corpora.trained_before, lang="hau", corpus="knn") == []  # test_leakage.py has one that does


def test_a_folder_that_nobody_has_is_said() -> None:
    tasks = {
        name: {"protocol": "sts", "source": {"file": file}} for name, file in (("far", "{far}/x.tsv"), ("sts", "x"))
    }
    others = {"generators": {}, "recipes": {"base": {}}, "classifiers": {}, "compute": None}
    study = study_of(TOLD, tasks=tasks, paths={"far": "none"}, **others)
    assert corpora.lacking(study, "far").startswith("paths.far is none; give it with --config")
    assert corpora.lacking(study, "sts") == "" == corpora.lacking(study, "no-task")


def test_a_fetch_says_what_it_fetches(ask) -> None:
    options = {name: ask(corpora.form, corpus=name) for name in ("text", "ready+prompting", "bitext", "sts")}
    assert options == {
        "text": {"kind": "text"},
        "ready+prompting": {"kind": "triplets"},
        "bitext": {"kind": "parallel", "test": False, "scale": (0, 1)},  # cleaned: it is no benchmark
        "sts": {"kind": "pairs", "test": True, "scale": (1, 5)},
    }


def test_anchors_are_drawn_from_text_or_from_other_text(ask) -> None:
    own, wiki = {"lang": "hau", "anchors": "anchors"}, {"lang": "hau", "anchors": "wiki+anchors"}
    assert [ask(corpora.other_text, **one) for one in (own, wiki)] == ["", "wiki"]
    assert [ask(corpora.drawn_corpus, **one) for one in (own, wiki)] == ["corpora/hau/text.tsv", "corpora/hau/wiki.tsv"]
    assert [ask(corpora.drawn, **one).count for one in (own, wiki)] == [40, 60]


def test_a_language_is_told_from_the_pivot_unless_nothing_asks(ask) -> None:
    assert ask(corpora.pivot_sample, lang="hau") == "corpora/eng/text.sample.tsv"
    assert ask(corpora.pivot_sample, lang="eng") == []
    unchecked = asking(study_of(TOLD, anchors={"language_id": False}))
    assert unchecked(corpora.pivot_sample, lang="hau") == []
    assert ask(corpora.script, lang="hin") == "Deva"


def test_a_task_shares_the_sets_of_another_and_learns_in_its_language(ask) -> None:
    assert ask(corpora.test_set, "icl-xl", "hau") == "corpora/hau/knn.tsv"
    trains = {task: ask(corpora.training_set, task, "hau") for task in ("knn", "knn-xl", "sts")}
    assert trains == {"knn": "corpora/hau/knn_train.tsv", "knn-xl": "corpora/hin/knn_train.tsv", "sts": ""}


def test_every_test_set_of_encoders_is_held_out_and_none_of_classifiers(ask) -> None:
    names = ("asked", "bitext", "dev", "knn", "news", "sts", "sums")
    turned = "corpora/hin-hau/turned.tsv"  # the set of a pair with it
    assert ask(corpora.tests, lang="hau") == [*(f"corpora/hau/{name}.tsv" for name in names), turned]
    assert ask(corpora.tests, lang="swh") == [], "it is read, and no language of the study"


def test_pairs_keep_clear_of_all_test_sets_that_their_encoders_meet(ask) -> None:
    names = ("asked", "bitext", "dev", "knn", "news", "sts")
    hau, hin = ([f"corpora/{code}/{name}.tsv" for name in names] for code in ("hau", "hin"))
    hau = [*hau, "corpora/hau/sums.tsv"]
    hin = ["corpora/hin-hau/turned.tsv", *hin, "corpora/hin/told.tsv"]
    assert ask(corpora.every_test, lang="hau") == [*hau, hin[0]] and ask(corpora.every_test, lang="hin") == hin
    assert ask(corpora.every_test, lang="eng") == hau + hin, "a recipe learns the pivot's data for all languages"


def test_what_is_drawn_or_audited_repeats_no_test_text_without_being_told(ask) -> None:
    assert ask(corpora.kept_apart, lang="hau", corpus="text") == [], "tests/unit/corpora/test_leakage.py has the others"


def test_the_sides_of_a_pair_are_told_apart_by_sentences_and_script(ask) -> None:
    assert ask(corpora.known, lang="hin") == ["corpora/hin/text.sample.tsv", "corpora/eng/text.sample.tsv"]
    assert asking(study_of(TOLD, seed_pairs={"language_id": False}))(corpora.known, lang="hin") == []
    assert ask(corpora.scripts, lang="hin") == ["Deva", "Latn"]


def test_published_work_is_taken_from_where_the_study_begins() -> None:
    work = {"file": "own/{lang}.made"}
    changes = {
        "generators": {
            "g": {"source": work, "adapters": {"xllora": {"positive": work}}, "triplets": {"xllora": work}},
            "ready": {"source": work, "backend": "published", "triplets": {"prompting": work}},
        },
        "recipes": {"xllora": {"encoders": {"bert": work}}, "published": {"encoders": {"other": work}}},
        "classifiers": {},
        "compute": None,
    }
    taken = {}
    for start in ("scratch", "adapters", "triplets", "encoders"):
        ask = asking(study_of(TOLD, **changes, start=start))
        found = {
            "adapter": ask(published.adapter, "g", "xllora", "positive", "hau"),
            "triplets": ask(published.triplets, "g", "xllora", "hau"),
            "encoder": ask(published.encoder, "bert", "xllora", "hau"),
        }
        taken[start] = [what for what, source in found.items() if source and source.file == "own/hau.made"]
        assert [ask(published.begins, step) for step in ("scratch", start)] == [True, True]
        # What nobody here could make is taken wherever the study begins.
        assert ask(published.triplets, "ready", "prompting", "hau") and ask(
            published.encoder, "other", "published", "hau"
        )
        assert not ask(published.adapter, "g", "xllora", "negative", "hau")
    assert taken == {
        "scratch": [],
        "adapters": ["adapter"],
        "triplets": ["adapter", "triplets"],
        "encoders": ["adapter", "triplets", "encoder"],
    }

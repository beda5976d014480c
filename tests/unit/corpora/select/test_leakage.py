"""What is learnt whole repeats no test: rows are left out and counted, a split of a test is refused."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from scripts import fetch_corpus
from seedbed.corpora.select.contamination import IN_TESTS, IN_TRAINING, EvaluationTexts, without_tests
from seedbed.corpora.settings import Source
from seedbed.io import UserError, read_json, read_table, write_table
from seedbed.study.graph.corpus import Anchors, Corpus
from seedbed.study.leakage import share_rows
from seedbed.study.model import Study
from tests.asking import check, within
from tests.programs import call
from tests.refusals import pattern

LONG = "one two three four five six seven eight nine ten"
TESTS = EvaluationTexts(["A cat.", f"Before: {LONG}"])
ROWS = pd.DataFrame(
    {
        "id": list("abcd"),
        "query": ["Who?", "a CAT", "Why?", ""],
        "document": ["A dog.", "It sleeps.", f"{LONG} and more", "A fish."],
        "relevance": ["1", "1", "0", "0"],
    }
)


def test_rows_whose_query_or_passage_is_tested_are_left_out_and_counted() -> None:
    counts: Counter[str] = Counter()
    kept = pd.concat(without_tests(iter([ROWS[:2], ROWS[2:]]), ["query", "document"], TESTS, counts))
    assert list(kept["id"]) == ["a", "d"]
    assert counts == {IN_TESTS: 2}
    with pytest.raises(UserError, match=r"2 rows.*test sets; train"):
        list(without_tests(iter([ROWS[1:3]]), ["query", "document"], TESTS, Counter()))


def test_the_english_of_a_test_text_is_test_text_too(tmp_path: Path) -> None:
    write_table(ROWS, tmp_path / "train.tsv")
    write_table(pd.DataFrame({"id": ["x"], "query": ["Paka?"], "document": ["Samaki."]}), tmp_path / "test.tsv")
    rows = {"id": ["1", "2"], "text": ["Paka?", "Samaki."], "english": ["A cat.", "A FISH"], "finish": ["stop"] * 2}
    write_table(pd.DataFrame(rows), tmp_path / "english.tsv")
    source = f'{{"file": "{tmp_path / "train.tsv"}"}}'
    command = ["--source", source, "--kind", "retrieval", "--downloads", str(tmp_path), "--lock", str(tmp_path / "l")]
    command += ["--tests", str(tmp_path / "test.tsv"), str(tmp_path / "english.tsv")]
    call(fetch_corpus, [*command, "--output", str(tmp_path / "x.tsv"), "--record", str(tmp_path / "x.json")])
    assert list(read_table(tmp_path / "x.tsv", ["id"])["id"]) == ["a", "c"]
    counts = read_json(tmp_path / "x.json")["counts"]
    assert (counts["read"], counts["kept"], counts[IN_TESTS]) == (4, 2, 2)


def study(train: dict[str, Any], test: dict[str, Any], **changes: Any) -> Study:
    return Study.model_validate(
        {
            "languages": {"hau": {}, "swh": {}},
            "backbones": {"b": {"source": {"file": "own/b"}}},
            "corpora": {"others": {"asked": {"kind": "retrieval"} | train}},
            "recipes": {"base": {}, "ranked": {"from": "base", "data": {"corpus": "asked"}, "objective": "listwise"}},
            "tasks": {"found": {"protocol": "retrieval", "source": test}},
            "statistics": {"baseline": "base"},
        }
        | changes
    )


FILE = {"file": "own/{lang}.tsv"}


@pytest.mark.parametrize(
    ("train", "refused"),
    [
        (FILE, True),
        ({"file": "own/{lang}.train.tsv"}, False),
        ({**FILE, "buckets": [0, 50], "buckets_by": "document_id"}, False),
        ({**FILE, "buckets": [0, 50]}, True),
        ({**FILE, "buckets": [0, 51], "buckets_by": "document_id"}, True),
        ({**FILE, "skip": 60}, False),
        ({**FILE, "skip": 59}, True),
        ({"file": "own", "member": "{lang}.tsv", "skip": 60}, False),
        ({"file": "own", "member": "*.tsv", "skip": 60}, True),  # rows of several files count from the first
    ],
)
def test_a_study_that_learns_from_its_tests_is_refused(train: dict[str, Any], refused: bool) -> None:
    parted = study(train, {**FILE, "buckets": [50, 100], "buckets_by": "document_id", "first": 60})
    if not refused:
        check(parted)
        return
    with pytest.raises(ValueError, match=r"recipes.ranked.data: asked of hau.*test set of found"):
        check(parted)


@pytest.mark.parametrize(
    ("kind", "objective"),
    [("triplets", "contrast"), ("paraphrases", "ranking"), ("parallel", "alignment"), ("matched_pairs", "ranking")],
)
def test_so_is_one_that_learns_the_rows_of_a_test_as_they_are(kind: str, objective: str) -> None:
    """Of these kinds rows with texts of tests remain, or are left out: none is read from the place of a test."""
    learnt = {"base": {}, "learnt": {"from": "base", "data": {"corpus": "asked"}, "objective": objective}}
    check(study({"kind": kind, "file": "own/{lang}.train.tsv"}, FILE, recipes=learnt))
    with pytest.raises(ValueError, match=r"recipes.learnt.data: asked of hau has rows of the test set of found; train"):
        check(study({"kind": kind, **FILE}, FILE, recipes=learnt))


def test_built_in_corpora_are_no_exception_and_tests_of_other_languages_count() -> None:
    aligned = {"base": {}, "aligned": {"from": "base", "data": {"corpus": "parallel"}, "objective": "alignment"}}
    corpora = {"corpora": {"parallel": FILE, "others": {"asked": FILE}}, "recipes": aligned}
    with pytest.raises(ValueError, match=r"recipes.aligned.data: parallel of hau.*test set of found;"):
        check(study({}, FILE, **corpora))
    of_swahili = {"aligned": aligned["aligned"] | {"only": {"languages": ["swh"]}}}
    own = {"hau": {"tests": {"found": {"file": "own/swh.tsv"}}}, "swh": {}}
    with pytest.raises(ValueError, match=r"recipes.aligned.data: parallel of swh.*test set of found in hau;"):
        check(
            study(
                {},
                FILE,
                **corpora | {"recipes": aligned | of_swahili},
                languages=own,
                tasks={"found": {"protocol": "retrieval"}},
            )
        )


def test_sentences_that_are_sampled_may_lie_beside_a_test() -> None:
    """Those of tests are left out of the sample."""
    sampled = {"base": {}, "sampled": {"like": "unsupervised", "data": {"corpus": "asked"}}}
    check(study({"kind": "text", **FILE}, FILE, recipes=sampled))


WRITER = {
    "g": {"source": {"file": "own/g"}, "language_data": "text", "xllora": {"languages": ["hau"], "parts": ["human"]}}
}
OTHER = {"file": "own/{lang}.other.tsv"}


@pytest.mark.parametrize(
    ("method", "learnt", "refused"),
    [
        ("composition", {"text": FILE}, "text of hau"),
        ("composition", {"nli": {"file": "own/hau.tsv"}}, "nli of eng ... found in hau"),
        ("composition", {"nli_translations": FILE}, ""),  # that xllora learns from
        ("xllora", {"nli_translations": FILE}, "nli_translations of hau"),
        ("xllora", {"text": FILE}, ""),
        ("prompting", {"text": FILE}, ""),  # without adapters
    ],
)
def test_what_writes_triplets_learns_no_test_either(method: str, learnt: dict[str, Any], refused: str) -> None:
    corpora = {"text": OTHER, "nli": {"file": "own/nli.tsv"}, "nli_translations": OTHER} | learnt
    recipes = {"base": {}, method: {"only": {"languages": ["hau"]}}}
    one = study({}, FILE, generators=WRITER, corpora=corpora, recipes=recipes)
    if not refused:
        check(one)
        return
    with pytest.raises(ValueError, match=pattern(f"generators.g: ... {refused} ... separate them by `where`")):
        check(one)


def test_a_test_of_classifiers_alone_is_no_test_of_what_writes_triplets_but_of_what_trains_classifiers() -> None:
    """As XL-LoRA learns from XNLI's human translations, on which no encoder is scored."""
    corpora = {"nli": {"file": "own/nli.tsv"}, "nli_translations": FILE, "nli_pairs": OTHER, "text": OTHER}
    labelled = {"labelled": {"protocol": "classification", "source": FILE}}
    classified = {"generators": WRITER, "recipes": {"base": {}, "xllora": {}}, "tasks": labelled}
    classified["classifiers"] = {"c": {"generator": "g"}}
    check(study({}, FILE, corpora=corpora, **classified))
    for name in ("nli_pairs", "text"):
        with pytest.raises(ValueError, match=rf"classifiers.c: {name} of hau has rows of the test set of labelled;"):
            check(study({}, FILE, corpora=corpora | {name: FILE}, **classified))


@pytest.mark.parametrize(
    ("train", "refused"),
    [
        (FILE, True),
        ({"file": "own/{lang}.train.tsv"}, False),
        ({**FILE, "where": {"part": ["train"]}}, False),
        ({"file": "own/swh.tsv"}, True),
    ],
)
def test_nor_does_a_task_learn_from_its_own_test(train: dict[str, Any], refused: bool) -> None:
    test = {**FILE, "where": {"part": ["test"]}} if "where" in train else FILE
    task = {"topics": {"protocol": "knn", "source": test, "train": train}}
    one = study({"file": "own/{lang}.asked.tsv"}, FILE, tasks=task)
    if not refused:
        check(one)
        return
    with pytest.raises(ValueError, match=r"tasks.topics.train: in \w+ it has rows of the test set in \w+; train on"):
        check(one)


X, Y = {"file": "x.tsv"}, {"file": "y.tsv"}
BOTH = {"sets": {"x": X, "y": Y}}
TWO = X | {"columns": {"pivot": "e", "text": "t"}}
PIVOT = {"pivot": {"file": "english.tsv"}}
HAUSA = X | {"columns": {"text": "text"}, "join": PIVOT}
PAIR = X | {"columns": {"query": "a", "document": "b"}}
SIDES = X | {"columns": {"sentence1": "a", "sentence2": "b"}}
LINES = {"file": "x.txt"}
TRAINED, TESTED, BY = {"buckets": [0, 90]}, {"buckets": [90, 100]}, {"buckets_by": "sentence1"}
ENGLISH = X | {"buckets_by": "a", "join": {"a": {"file": "english.tsv", "columns": {"a": "text"}}}}
"""As HAUSA, the same pairs in the same buckets under other names."""


@pytest.mark.parametrize(
    ("train", "test", "shared"),
    [
        ({"sets": {"a": X}}, {"sets": {"a": Y}}, False),
        ({"sets": {"a": X}}, X, True),
        (BOTH, {"sets": {"z": Y}}, True),
        (X | {"top_up": Y}, Y, True),
        ({"sets": {"a": X | {"top_up": Y}}}, Y, True),
        (X | {"join": PIVOT}, Y | {"join": PIVOT}, False),
        (BOTH | {"where": {"lang": ["hau"]}}, X | {"where": {"lang": ["swh"]}}, False),
        (BOTH | {"where": {"lang": ["hau"]}}, X | {"where": {"lang": ["ha*"]}}, True),
        (BOTH | {"buckets": [0, 50]}, Y | {"buckets": [50, 100]}, False),
        ({"sets": {"a": X, "y": Y | {"buckets": [0, 50]}}}, Y | {"buckets": [50, 100]}, False),
        ({"sets": {"a": X, "y": Y | {"buckets": [0, 50]}}}, X | {"buckets": [50, 100]}, True),
        ({"sets": {"a": ENGLISH | {"buckets": [0, 50]}}}, HAUSA | {"buckets": [50, 100]}, False),
        ({"sets": {"a": ENGLISH | {"buckets": [0, 51]}}}, HAUSA | {"buckets": [50, 100]}, True),
        ({"sets": {"a": X | {"buckets": [0, 50], "buckets_by": "b"}}}, HAUSA | {"buckets": [50, 100]}, True),
        (TWO | {"buckets": [0, 50]}, X | {"columns": {"text": "t"}, "buckets": [50, 100]}, True),  # hash other columns
        (PAIR | TRAINED, X | {"columns": {"text": "b"}} | TESTED, True),
        (PAIR | TRAINED, X | {"columns": {"text": "a"}} | TESTED, False),
        (PAIR | TRAINED, X | {"columns": {"query": "b", "document": "a"}} | TESTED, True),
        (SIDES | TRAINED, X | {"columns": {"sentence1": "b", "sentence2": "a"}} | TESTED, True),
        (SIDES | TRAINED, SIDES | TESTED, False),
        (SIDES | TRAINED | BY, X | {"columns": {"sentence1": "b"}} | TESTED | BY, True),
        (SIDES | TRAINED, SIDES | TESTED | {"replace": {"sentence1": {"x": "y"}}}, True),
        (SIDES | TRAINED, SIDES | TESTED | {"replace": {"sentence2": {"x": "y"}}}, False),
        (SIDES | TRAINED, SIDES | TESTED | {"explode": {"sentence1": "x"}}, True),
        (SIDES | TRAINED, SIDES | TESTED | {"transliterate": {"sentence1": "uig-Cyrl-Arab"}}, True),
        (X | TRAINED, X | TESTED | {"replace": {"text": {"x": "y"}}}, True),
        (X | TRAINED, X | TESTED, False),
        (X | TRAINED, X | {"columns": {"sentence1": "pivot", "sentence2": "text"}} | TESTED, False),
        (X | TRAINED, X | {"columns": {"sentence1": "text", "sentence2": "pivot"}} | TESTED, True),
        (LINES | TRAINED, LINES | {"columns": {"sentence1": "text"}} | TESTED, False),
        (X | {"divide": {"c": ["sentence1", "d"]}} | TRAINED, X | {"divide": {"c": ["d", "text"]}} | TESTED, True),
        ({"sets": {"a": PAIR}} | TRAINED, PAIR | TESTED, False),
        ({"sets": {"a": PAIR}} | TRAINED, X | {"columns": {"text": "b"}} | TESTED, True),
        (
            {"sets": {"a": PAIR}, "columns": {"text": "document"}} | TRAINED,
            X | {"columns": {"text": "b"}} | TESTED,
            False,
        ),
        (X | {"where": {"c": ["e\u0301"]}}, X | {"where": {"c": ["\u00e9"]}}, True),
        (BOTH | {"skip": 60}, BOTH | {"first": 60}, False),
        ({"sets": {"x": X, "y": X | TESTED}, "skip": 9}, {"sets": {"x": X, "y": X | TESTED}, "first": 9}, True),
        (X | {"skip": 9}, X | {"first": 9, "columns": {"text": "a"}}, False),
        (X | {"skip": 9, "columns": {"text": 0}}, X | {"first": 9}, True),  # the header is its first row
        ({"sets": {"x": PAIR}, "where": {"query": ["a"]}}, X | {"where": {"query": ["b"]}}, True),  # another column
        ({"sets": {"x": PAIR}, "where": {"query": ["a"]}}, X | {"where": {"a": ["b"]}}, False),
        ({"sets": {"x": X | {"replace": {"c": {"a": "b"}}}}, "where": {"c": ["b"]}}, X | {"where": {"c": ["a"]}}, True),
        (BOTH | {"skip": 60}, Y | {"first": 60}, True),  # rows of several sets count from the first
    ],
)
def test_sets_and_top_ups_are_read_too(train: dict[str, Any], test: dict[str, Any], shared: bool) -> None:
    one, other = Source.model_validate(train), Source.model_validate(test)
    assert share_rows(one, other) == share_rows(other, one) == shared


HUB = {"hub": "org/sts", "split": "test"}
CONVERTED = {"hub": "org/sts", "revision": "refs/convert/parquet"}
ZIP = {"archive": "https://host.org/a.zip", "member": "test.tsv"}


@pytest.mark.parametrize(
    ("train", "test", "shared"),
    [
        ({"file": "own", "member": "*.sts.tsv"}, {"file": "own", "member": "hau.*"}, True),
        ({"file": "own", "member": "hau*.tsv"}, {"file": "own/hau.sts.tsv"}, True),
        ({"file": "own", "member": "train-*.tsv"}, {"file": "own", "member": "test-*.tsv"}, False),
        ({"file": "own", "member": "*/train.tsv"}, {"file": "own", "member": "*/test.tsv"}, False),
        ({"file": "own[1]", "member": "*.tsv"}, {"file": "own[1]/hau.tsv"}, True),
        ({"file": "own[1]", "member": "*.tsv"}, {"file": "own1/hau.tsv"}, False),
        ({"file": "own/hau[1].tsv"}, {"file": "own/hau1.tsv"}, False),
        ({"file": "own.zip"}, {"file": "own.zip", "member": "hau.tsv"}, True),
        (HUB, HUB | {"config": "en"}, True),
        (HUB | {"config": "de"}, HUB | {"config": "en"}, False),
        (HUB | {"config": "en", "split": "train"}, HUB, False),
        (HUB, HUB | {"hub": "Org/STS"}, True),
        (HUB, HUB | {"hub": "org/sts2"}, False),
        ({"hub": "Org/sts", "member": "data/test-0.parquet"}, HUB, True),
        ({"hub": "org/sts", "member": "data/*.parquet"}, HUB, True),
        ({"hub": "org/sts", "member": "data/train-*.parquet"}, HUB, False),
        ({"hub": "org/sts", "member": "dev.tsv"}, HUB | {"split": "validation"}, True),
        ({"hub": "org/sts", "member": "hau.tsv"}, HUB, False),
        ({"hub": "org/sts", "member": "hau.tsv"}, HUB | {"split": "train"}, True),
        ({"hub": "org/sts", "member": "hau.tsv"}, HUB | {"split": "hau"}, True),
        (CONVERTED | {"member": "fr/test/0000.parquet"}, HUB | {"config": "en"}, False),
        (CONVERTED | {"member": "fr/test/0000.parquet"}, HUB | {"config": "fr"}, True),
        (CONVERTED | {"member": "fr/test/0000.parquet"}, HUB, True),
        (CONVERTED | {"member": "f*/0000.parquet"}, HUB | {"config": "en"}, False),
        (CONVERTED | {"member": "*/test/0000.parquet"}, HUB | {"config": "en"}, True),
        ({"hub": "org/sts", "member": "fr/test/0000.parquet"}, HUB | {"config": "en"}, True),  # which may have it
        (ZIP, ZIP | {"archive": "http://host.org/a.zip"}, True),
        (ZIP, ZIP | {"archive": "https://host.org/b.zip"}, False),
        (ZIP, {"archive": "https://host.org/a.zip"}, True),
        (ZIP, ZIP | {"member": "train.tsv"}, False),
        (X | {"where": {"c": ["[ab]"]}}, X | {"where": {"c": ["a"]}}, False),
        (X | {"where": {"c": ["[ab]*"]}}, X | {"where": {"c": ["[ab]c"]}}, True),
        (X | {"where": {"c": ["a?"]}}, X | {"where": {"c": ["ab"]}}, False),
        (X | {"where": {"c": ["a*"]}}, X | {"where": {"c": ["ab*"]}}, True),
        (X | {"where": {"c": ["a*"]}}, X | {"where": {"c": ["b*"]}}, False),
    ],
)
def test_one_place_has_several_names(train: dict[str, Any], test: dict[str, Any], shared: bool) -> None:
    one, other = Source.model_validate(train), Source.model_validate(test)
    assert share_rows(one, other) == share_rows(other, one) == shared


def test_a_test_set_that_comes_later_loses_what_was_trained_on(tmp_path: Path) -> None:
    """And nothing that was trained on waits for it: its rows are left out instead, and counted."""
    task = {"found": {"protocol": "retrieval", "source": FILE, "apart_from": ["asked"]}}
    later = study({"file": "own/{lang}.train.tsv"}, FILE, tasks=task)
    check(later)
    asked, found = (Corpus.get(later, "hau", name) for name in ("asked", "found"))
    assert asked.kept_apart() == asked.inputs()["trained"] == []
    assert within(found.inputs()["trained"], later) == ["corpora/hau/asked.tsv"]
    assert Anchors.get(later, "hau", "asked+anchors").inputs()["tests"] == []
    assert within(Anchors.get(later, "hau", "anchors").inputs()["tests"], later) == ["corpora/hau/found.tsv"]
    with pytest.raises(ValueError, match=r"tasks\.found\.apart_from:.*'aksed'.*'asked'"):
        check(study({"file": "own/x"}, FILE, tasks={"found": task["found"] | {"apart_from": ["aksed"]}}))
    write_table(ROWS, tmp_path / "test.tsv")
    trained = pd.DataFrame({"id": ["x"], "query": ["Who?"], "document": [LONG]})
    write_table(trained, tmp_path / "train.tsv")
    command = ["--source", f'{{"file": "{tmp_path / "test.tsv"}"}}', "--kind", "retrieval", "--test"]
    command += ["--downloads", str(tmp_path), "--lock", str(tmp_path / "l"), "--trained", str(tmp_path / "train.tsv")]
    call(fetch_corpus, [*command, "--output", str(tmp_path / "x.tsv"), "--record", str(tmp_path / "x.json")])
    assert list(read_table(tmp_path / "x.tsv", ["id"])["id"]) == ["b", "d"]
    counts = read_json(tmp_path / "x.json")["counts"]
    assert (counts["read"], counts["kept"], counts[IN_TRAINING]) == (4, 2, 2)


GIVEN = {"human": {"given": {"file": "own/{lang}-eng.tsv"}}}


def test_training_data_wait_for_the_tests_of_all_languages_and_their_english() -> None:
    one = study({"file": "own/{lang}.train.tsv"}, FILE, translators=GIVEN)
    tests = [f"corpora/{code}/found.tsv" for code in ("hau", "swh")]
    english = [f"generators/human/translations/{code}/found.tsv" for code in ("hau", "swh")]
    assert within(Corpus.get(one, "hau", "asked").kept_apart(), one) == sorted(tests + english)
    assert Corpus.get(one, "hau", "found").kept_apart() == []


def test_so_do_texts_whose_candidates_are_learnt_and_tests_of_two_languages_count() -> None:
    recipe = {
        "english": {"fusion": "none", "translators": ["human"]},
        "data": {"candidates": "asked"},
        "objective": "anchoring",
    }
    graded = {
        "protocol": "sts",
        "source": {"file": "own/{lang}.sts.tsv"},
        "languages": ["hau"],
        "pairs": {"hau-swh": {}},
    }
    text = {"kind": "text", "file": "own/{lang}.txt"}
    one = study(text, FILE, translators=GIVEN, recipes={"base": {}, "arca": recipe}, tasks={"sts": graded})
    found = within(Corpus.get(one, "hau", "asked").kept_apart(), one)
    tests = ["corpora/hau-swh/sts.tsv", "corpora/hau/sts.tsv"]
    assert found == sorted([*tests, *(file.replace("corpora", "generators/human/translations") for file in tests)])


def test_candidates_from_a_built_in_corpus_are_no_exception() -> None:
    """But for the translations of tests, which a generator may write only after it was trained on the corpus."""
    arca = {"english": {"translators": ["human"]}, "data": {"candidates": "parallel"}, "objective": "anchoring"}
    corpora = {"parallel": {"file": "own/{lang}-eng.tsv"}}
    one = study({}, FILE, translators=GIVEN, corpora=corpora, recipes={"base": {}, "arca": arca})
    tests = [f"corpora/{code}/found.tsv" for code in ("hau", "swh")]
    assert within(Corpus.get(one, "hau", "parallel").kept_apart(), one) == tests
    assert Corpus.get(one, "hau", "text").kept_apart() == []


def test_a_study_whose_candidates_are_a_test_is_refused() -> None:
    recipe = {"data": {"candidates": "asked"}, "objective": "anchoring", "english": {"translators": ["human", "other"]}}
    with pytest.raises(ValueError, match=r"recipes.arca.data: asked of hau.*test set of found"):
        check(study(FILE, FILE, recipes={"base": {}, "arca": recipe}))

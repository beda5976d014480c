"""Seed pairs: both sides in their languages, in no test set, unequal; and a pool that has none of them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from scripts import fetch_corpus, select_pairs
from seedbed.blocks import concatenate
from seedbed.corpora.select import pairs
from seedbed.corpora.select.contamination import EvaluationTexts
from seedbed.corpora.select.language_id import LanguageId
from seedbed.corpora.settings import SeedPairs
from seedbed.io import UserError, read_json, read_table, write_table
from tests import tiny
from tests.programs import call

HAUSA, ENGLISH = tiny.sentences("hau", 80), tiny.sentences("eng", 80)
LATIN = ("Latn", "Latn")


def table(texts: list[str], pivots: list[str]) -> pd.DataFrame:
    return pd.DataFrame({"id": [f"r{n}" for n in range(len(texts))], "text": texts, "pivot": pivots})


def select(
    rows: pd.DataFrame, tests: list[str], scripts: tuple[str, str] = LATIN, **settings: Any
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Read in blocks of twenty rows."""
    drawn, audit = pairs.select(
        lambda: (rows[start : start + 20] for start in range(0, len(rows), 20)),
        LanguageId(HAUSA, ENGLISH),
        EvaluationTexts(tests),
        scripts,
        SeedPairs(**settings),
    )
    return concatenate(drawn), audit


def test_pairs_are_drawn_in_order_and_by_seed() -> None:
    rows = table(HAUSA, ENGLISH)
    chosen, audit = select(rows, [], count=10)
    assert audit == {"read": 80, "dropped": {}, "not drawn": 70, "kept": 10}
    assert list(chosen.columns) == ["id", "text", "pivot"]
    assert chosen["id"].str[1:].astype(int).is_monotonic_increasing
    assert chosen.merge(rows).shape == chosen.shape, "a text keeps its translation"
    pd.testing.assert_frame_equal(chosen, select(rows, [], count=10)[0])
    assert list(select(rows, [], count=10, seed=1)[0]["id"]) != list(chosen["id"])


def test_each_fault_of_a_pair_is_found_on_its_side_and_counted() -> None:
    texts, pivots = list(HAUSA), list(ENGLISH)
    tests = [HAUSA[0].upper() + "!", ENGLISH[1].lower(), *tiny.sentences("swh", 3)]
    texts[2] = ENGLISH[2].upper() + "."  # untranslated
    texts[3] = ENGLISH[70]
    pivots[4] = HAUSA[70]
    texts[5], pivots[6] = "यह हिंदी में एक वाक्य है", "यह हिंदी में एक वाक्य है"
    chosen, audit = select(table(texts, pivots), tests, count=73)
    assert audit["dropped"] == {
        "equal sides": 1,
        "text: in an evaluation set": 1,
        "pivot: in an evaluation set": 1,
        "text: other language": 1,
        "pivot: other language": 2,  # Hindi is none of both, and here more like Hausa
        "text: script": 1,
    }
    assert list(chosen["id"]) == [f"r{n}" for n in range(7, 80)]


def test_scripts_are_those_of_the_sides() -> None:
    rows = table(HAUSA, ENGLISH)
    for scripts, reason in ((("Deva", "Latn"), "text: script"), (("Latn", "Deva"), "pivot: script")):
        with pytest.raises(UserError, match=f"0 of 80 pairs are left, and count is 5 .*'{reason}': 80"):
            select(rows, [], scripts, count=5)
        assert len(select(rows, [], scripts, count=5, language_id=False)[0]) == 5


def test_fewer_pairs_than_wanted_are_an_error_that_counts_them() -> None:
    message = r"seed_pairs: 79 of 80 pairs are left, and count is 80 \(dropped: {'text: in an evaluation set': 1}\)"
    with pytest.raises(UserError, match=message):
        select(table(HAUSA, ENGLISH), HAUSA[:1], count=80)


def test_a_pool_has_no_sentence_of_a_pair() -> None:
    pool = pd.DataFrame({"id": ["1", "2", "3"], "text": ["Ina zuwa!", "yara suna gona", "ina zuwa yau"]})
    counts: Counter[str] = Counter()
    left = concatenate(pairs.without(iter([pool[:2], pool[2:]]), ["INA ZUWA", "ruwa"], counts))
    assert list(left["id"]) == ["2", "3"]
    assert counts == {pairs.IN_PAIRS: 1}


def test_planted_test_sentences_are_found_on_either_side_from_the_files_to_the_audit(tmp_path: Path) -> None:
    """Parallel text as it comes, fetched and cleaned; sentences of two test sets are in it, in capitals or without."""
    texts, pivots = list(HAUSA), list(ENGLISH)
    bitext = table(tiny.sentences("hau", 6, seed=1), tiny.sentences("eng", 6, seed=1))
    labelled = pd.DataFrame({"id": ["1"], "text": tiny.sentences("hau", 1, seed=2), "label": ["x"]})
    write_table(bitext, tmp_path / "bitext.tsv")
    write_table(labelled, tmp_path / "knn.tsv")
    planted = {"text": [0, 20, 40], "pivot": [10, 30]}
    texts[0], texts[20] = bitext["text"][0].upper(), bitext["text"][1].lower() + " ?"
    texts[40] = labelled["text"][0]
    pivots[10], pivots[30] = bitext["pivot"][2].upper(), bitext["pivot"][3] + "!!"
    texts[50], pivots[51] = texts[52].upper(), pivots[53] + "."  # said twice, on one side
    texts[60] = "gona"  # too short
    (tmp_path / "a.txt").write_text("\n".join(texts))
    (tmp_path / "b.txt").write_text("\n".join(pivots))
    source = {"file": str(tmp_path / "a.txt"), "join": {"pivot": {"file": str(tmp_path / "b.txt")}}}
    places = {name: str(tmp_path / name) for name in ("parallel.tsv", "parallel.json", "pairs.tsv", "audit.json")}
    call(
        fetch_corpus,
        [
            *("--kind", "parallel", "--source", json.dumps(source)),
            *("--output", places["parallel.tsv"], "--record", places["parallel.json"]),
        ],
    )
    for code, known in (("hau", HAUSA), ("eng", ENGLISH)):
        write_table(pd.DataFrame({"id": [str(n) for n in range(80)], "text": known}), tmp_path / f"{code}.tsv")
    arguments = [
        *("--corpus", places["parallel.tsv"], "--record", places["parallel.json"]),
        *("--known", str(tmp_path / "hau.tsv"), str(tmp_path / "eng.tsv"), "--scripts", "Latn", "Latn"),
        *("--tests", str(tmp_path / "bitext.tsv"), str(tmp_path / "knn.tsv")),
        *("--output", places["pairs.tsv"], "--audit", places["audit.json"]),
    ]
    call(select_pairs, [*arguments, "--seed-pairs", json.dumps({"count": 72})])
    audit = read_json(places["audit.json"])
    assert audit == {
        "corpus": {"read": 80, "out of bounds": 1, "repeated": 2, "kept": 77},
        "read": 77,
        "dropped": {"text: in an evaluation set": 3, "pivot: in an evaluation set": 2},
        "not drawn": 0,
        "kept": 72,
    }
    chosen = read_table(places["pairs.tsv"], ["id", "text", "pivot"])
    gone = {*planted["text"], *planted["pivot"], 52, 53, 60}
    assert list(chosen["id"]) == [str(n + 1) for n in range(80) if n not in gone]
    Path(places["pairs.tsv"]).unlink()
    with pytest.raises(UserError, match="72 of 77 pairs are left"):
        call(select_pairs, [*arguments, "--seed-pairs", json.dumps({"count": 73})])
    assert not Path(places["pairs.tsv"]).exists()

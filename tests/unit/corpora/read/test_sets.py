"""Sources of several sets, paraphrases with and without negatives, documents in parts, compressed by xz, and scripts."""

from __future__ import annotations

import gzip
import json
import lzma
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import huggingface_hub
import pandas as pd
import pytest
from pydantic import ValidationError

from scripts import fetch_corpus
from seedbed.corpora.read.assets import Store
from seedbed.corpora.read.fetch import origin
from seedbed.corpora.settings import Cleaning, Source
from seedbed.evaluation.settings import Task
from seedbed.io import UserError, read_json
from seedbed.study.graph import records
from tests.asking import TOLD, study_of
from tests.programs import call
from tests.whole import fetch, read

LOOSE = Cleaning(min_characters=1, min_words=1)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "downloads", tmp_path / "lock.json")


@pytest.fixture
def sets(tmp_path: Path) -> dict:
    """Two sets: the second, by name, has no negatives and repeats an anchor of the first."""
    (tmp_path / "n.tsv").write_text("a\tp\tn\nOne sleeps\tOne naps\tNone\nTwo walk\tTwo go\t\nX\t\tY\n")
    (tmp_path / "p.tsv").write_text("left\tright\nThree eat\tThree dine\ntwo walk!\tTwo move\n")
    return {
        "pairs": {"file": str(tmp_path / "p.tsv"), "columns": {"anchor": "left", "positive": "right"}, "licence": "MIT"},
        "nli": {"file": str(tmp_path / "n.tsv"), "columns": {"anchor": "a", "positive": "p", "negative": "n"}, "licence": "CC0"},
    }  # fmt: skip


def test_sets_are_one_corpus_whose_ids_and_counts_name_them(sets: dict, store: Store) -> None:
    table, record = fetch(Source(sets=sets), "paraphrases", store, LOOSE)
    assert table.to_numpy().tolist() == [
        ["nli:1", "One sleeps", "One naps", "None"],
        ["nli:2", "Two walk", "Two go", ""],
        ["pairs:1", "Three eat", "Three dine", ""],
    ]
    assert list(table.columns) == ["id", "anchor", "positive", "negative"]
    assert record["counts"] == {
        "read": 5, "nli: read": 3, "pairs: read": 2, "blank": 1, "out of bounds": 0, "repeated": 1, "kept": 3, "nli: kept": 2,
        "pairs: kept": 1,
    }  # fmt: skip
    assert record["licence"] == "MIT; CC0"
    assert [(one["set"], one["kind"]) for one in record["origin"]] == [("pairs", "file"), ("nli", "file")]
    again, _ = fetch(Source(sets=dict(reversed(sets.items()))), "paraphrases", store, LOOSE)
    pd.testing.assert_frame_equal(again, table)


def test_what_holds_of_a_source_holds_of_its_sets(sets: dict, store: Store) -> None:
    whole = Source(sets=sets, rows=2, replace={"anchor": {"^": "> "}}, licence="own")
    table, record = fetch(whole, "paraphrases", store, LOOSE)
    assert len(table) <= 2 and table["anchor"].str.startswith("> ").all() and record["licence"] == "own"
    assert [one.file for one in whole.first_choices()] == [sets["pairs"]["file"], sets["nli"]["file"]]
    assert len(whole.local_files()) == 2
    named = Source(sets={"a": {"file": "{lang}.tsv"}}).resolved({"lang": "kaz"})
    assert named.sets["a"].file == "kaz.tsv" and origin(named) == [{"kind": "file", "name": "kaz.tsv", "set": "a"}]
    assert Source(sets={"a": {"file": "{lang}.tsv"}}).resolved({"lang": ""}) is None


def test_what_a_test_takes_of_sets_is_counted_by_set(tmp_path: Path) -> None:
    for name in ("m", "n", "test"):
        (tmp_path / f"{name}.tsv").write_text("id\ttext\n" + "".join(f"{n}\tline {n} of {name}\n" for n in range(4)))
    (tmp_path / "test.tsv").write_text("id\ttext\n1\tLine 1 of m\n2\tline 2 of m\n3\tline 0 of n\n")
    source = {"sets": {name: {"file": str(tmp_path / f"{name}.tsv")} for name in ("m", "n")}}
    command = ["--source", json.dumps(source), "--kind", "text", "--tests", str(tmp_path / "test.tsv")]
    command += ["--downloads", str(tmp_path), "--lock", str(tmp_path / "lock.json")]
    call(fetch_corpus, [*command, "--output", str(tmp_path / "x.tsv"), "--record", str(tmp_path / "x.json")])
    counts = read_json(tmp_path / "x.json")["counts"]
    assert (counts["kept"], counts["m: kept"], counts["n: kept"]) == (5, 2, 3)


@pytest.mark.parametrize("skip", [0, 1, 3, 5])
@pytest.mark.parametrize("first", [None, 1, 2, 4])
def test_skip_and_first_count_the_rows_of_all_sets(sets: dict, store: Store, skip: int, first: int | None) -> None:
    """And the record accounts for each row that was read."""
    every = read(Source(sets=sets), store)
    counts: Counter[str] = Counter()
    found = read(Source(sets=sets, skip=skip, first=first), store, counts=counts)
    assert list(found["id"]) == list(every["id"][skip:][:first])
    assert counts["read"] == counts["nli: read"] + counts["pairs: read"] == len(found) + counts["skipped"]


def test_what_where_leaves_out_of_sets_is_counted(sets: dict, store: Store) -> None:
    where = {"anchor": ["One*", "Three*"]}
    _, record = fetch(Source(sets=sets, where=where, skip=1), "paraphrases", store, LOOSE)
    assert {name: record["counts"][name] for name in ("read", "skipped", "kept")} == {
        "read": 5,
        "skipped": 4,
        "kept": 1,
    }


def test_sets_with_different_columns_are_one_corpus_only_where_it_says_the_same(tmp_path: Path, store: Store) -> None:
    (tmp_path / "judged.tsv").write_text("query\tdocument\trelevance\nWho?\tNobody\t0\n")
    (tmp_path / "found.tsv").write_text("query\tdocument\nWhere?\tHere\n")
    both = Source(sets={name: {"file": str(tmp_path / f"{name}.tsv")} for name in ("judged", "found")})
    with pytest.raises(UserError, match=r"only some of its files or sets have a column 'relevance'; give it to all"):
        fetch(both, "retrieval", store, LOOSE)
    assert (
        len(fetch(both.updated({"columns": {"query": "query", "document": "document"}}), "retrieval", store, LOOSE)[0])
        == 2
    )
    (tmp_path / "read.tsv").write_text("passage\tquestion\tanswer_1\tanswer_2\tcorrect\nA cat.\tWho?\tcat\tdog\t1\n")
    (tmp_path / "known.tsv").write_text("question\tanswer_1\tanswer_2\tcorrect\nWhy?\tso\tno\t1\n")
    both = Source(sets={name: {"file": str(tmp_path / f"{name}.tsv")} for name in ("read", "known")})
    assert list(fetch(both, "choices", store, LOOSE, test=True)[0]["passage"]) == ["", "A cat."]


def test_placeholders_beside_sets_are_filled_in_too() -> None:
    source = Source(
        sets={"a": {"file": "{lang}.tsv"}},
        where={"language": ["{flores}"]},
        licence="{lang}",
        otherwise={"file": "other.tsv"},
    )
    found = source.resolved({"lang": "hau", "flores": "hau_{lang}"})
    assert found == Source(sets={"a": {"file": "hau.tsv"}}, where={"language": ["hau_{lang}"]}, licence="hau")
    for facts in ({"lang": "", "flores": "x"}, {"lang": "hau", "flores": ""}):
        assert source.resolved(facts) == Source(file="other.tsv")


@pytest.mark.parametrize("given", [{"sets": {}}, {"file": "x", "sets": {"a": {"file": "y"}}}])
def test_sets_stand_for_a_place(given: dict) -> None:
    with pytest.raises(ValidationError, match=r"hub, file, archive, package.*`sets`"):
        Source(**given)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        *(({"file": "x", name: "y"}, f"{name}: of hub alone, not of file; leave") for name in ("config", "split")),
        ({"archive": "https://host/x", "revision": "main"}, "revision: of hub alone, not of archive; leave"),
        ({"hub": "a/b", "member": "x.tsv", "config": "hau"}, "config: of a hub data set .*`member`.* one of both"),
        ({"hub": "a/b", "member": "x.tsv", "split": "test"}, "split: of a hub data set .*`member`.* one of both"),
        (
            {"file": "x.tsv", "delimiter": ";"},
            r"delimiter: of csv alone, not of tsv \(x\.tsv\); give `format: csv`, or",
        ),
        ({"file": "x", "member": "a/*.TXT.gz", "delimiter": ";"}, r"delimiter: .* not of text \(a/\*\.TXT\);"),
        ({"archive": "https://host/x.jsonl", "delimiter": ";"}, r"delimiter: .* not of jsonl"),
        ({"hub": "a/b", "format": "parquet", "delimiter": ";"}, r"delimiter: .* not of parquet; give"),
        (
            {"file": "x.tsv", "columns": {"text": 0, "label": "b"}},
            r"columns: by position .* such as 'b'; give the file a",
        ),
        ({"file": "x.tsv", "columns": {"text": 0}, "where": {"b": ["c"]}}, r"columns: by position .*'b'"),
        ({"file": "x.tsv", "columns": {"text": 0}, "divide": {"b": ["c", "d"]}}, r"columns: by position .*'b'"),
        ({"file": "x.tsv", "divide": {"b": ["b", "c"]}}, r"divide: two columns would be called 'b'; give"),
        ({"file": "x.tsv", "divide": {"a": ["c", "d"], "b": ["e", "c"]}}, r"divide: two columns .*'c'"),
        ({"hub": "a/b", "sha256": "0" * 64}, "sha256: of file or archive alone, not of hub; leave"),
        ({"sets": {"a": {"file": "x"}}, "member": "*.tsv"}, "member: of .*, not of sets; give it to each set"),
        ({"sets": {"a": {"file": "x"}}, "format": "tsv"}, "format: of .*, not of sets; give it to each set"),
        ({"sets": {"a": {"file": "x"}}, "delimiter": ";"}, "delimiter: of .*, not of sets; give it to each set"),
        ({"sets": {"a": {"file": "x"}}, "sha256": "0" * 64}, "sha256: of .*, not of sets; give it to each set"),
    ],
)
def test_a_setting_that_a_source_would_not_read_is_refused(given: dict, told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        Source(**given)


def test_a_second_reading_elsewhere_leaves_the_settings_of_the_first_place() -> None:
    one = Source(hub="a/b", config="hau", split="test", format="tsv", top_up={"hub": None, "file": "y"})
    assert one.topped_up() == Source(file="y", format="tsv")
    several = one.updated({"top_up": {"hub": None, "sets": {"a": {"file": "y"}}}})
    assert several.topped_up() == Source(sets={"a": {"file": "y"}})
    with pytest.raises(ValidationError, match=r"top_up: split: of hub alone"):
        one.updated({"top_up": {"hub": None, "file": "y", "split": "dev"}})


def test_a_file_that_is_read_second_takes_the_place_of_the_split_that_is_read_first() -> None:
    one = Source(hub="a/b", config="hau", split="test", top_up={"member": "x.tsv"}, join={"pivot": {"member": "y.tsv"}})
    assert one.topped_up() == Source(hub="a/b", member="x.tsv", join=one.join)
    assert one.joined("pivot")[0] == Source(hub="a/b", member="y.tsv")
    orders = {"hau-swh": {"member": "z.tsv"}, "swh-hau": {"config": "swh"}}
    task = Task(protocol="sts", source={"hub": "a/b", "config": "hau", "split": "test"}, pairs=orders)
    assert task.of_order("hau-swh") == Source(hub="a/b", member="z.tsv")
    assert task.of_order("swh-hau") == Source(hub="a/b", config="swh", split="test")
    with pytest.raises(ValidationError, match=r"top_up: split: of a hub data set"):
        one.updated({"top_up": {"member": "x.tsv", "split": "dev"}})


def test_a_file_that_is_read_second_has_the_delimiter_of_the_first_if_it_is_a_csv_too() -> None:
    one = Source(file="x.csv", delimiter=";", top_up={"file": "y.csv"}, join={"pivot": {"file": "z.txt"}})
    assert one.topped_up() == Source(file="y.csv", delimiter=";", join=one.join)
    assert one.joined("pivot")[0] == Source(file="z.txt")
    with pytest.raises(ValidationError, match=r"top_up: delimiter: of csv alone, not of tsv \(y\.tsv\)"):
        one.updated({"top_up": {"file": "y.tsv", "delimiter": ";"}})


def test_a_cards_data_has_the_licence_of_all_sets(sets: dict) -> None:
    study = study_of(TOLD, corpora={"others": {"both": {"sets": sets}}}, recipes={"base": {}})
    assert records.data("both", study.corpus("both", "hau"))["licence"] == "MIT; CC0"


LABELLED = """id,key,premise,hypothesis,label
1,a,Ana ba,Yana da,entailment
2,a,Ana  ba!,Babu,contradiction
3,b,Suna,Su ne,entailment
4,c,Ana ba,Wani,entailment
5,c,Ana ba,Ba wani,neutral
"""


def test_an_entailment_without_a_contradiction_is_a_paraphrase_too(tmp_path: Path, store: Store) -> None:
    (tmp_path / "nli.csv").write_text(LABELLED)
    columns = {name: name for name in ("id", "premise", "hypothesis", "label")}
    source = {"file": str(tmp_path / "nli.csv"), "columns": columns}
    table, _ = fetch(Source(**source), "paraphrases", store, LOOSE)
    assert table.to_numpy().tolist() == [["1", "Ana ba", "Yana da", ""], ["3", "Suna", "Su ne", ""]]
    # Premises are told by a column where their texts differ.
    source["columns"] = {**columns, "premise_id": "key"}
    table, record = fetch(Source(**source), "paraphrases", store, LOOSE)
    assert table.to_numpy().tolist() == [["1", "Ana ba", "Yana da", "Babu"], ["3", "Suna", "Su ne", ""]]
    assert record["counts"]["triplets"] == 3 and record["counts"]["repeated"] == 1
    table, _ = fetch(Source(**source), "triplets", store, LOOSE)
    assert list(table["id"]) == ["1"]


@pytest.mark.parametrize("kind", ["paraphrases", "triplets"])
def test_labels_of_triplets_are_known_or_refused(tmp_path: Path, store: Store, kind: str) -> None:
    """Or else contradictions under another name would be no negatives."""
    path = tmp_path / "nli.csv"
    source = Source(file=str(path), columns={name: name for name in ("id", "premise", "hypothesis", "label")})
    path.write_text("id,premise,hypothesis,label\n1,Ana ba,Yana da,Entailment\n2,Ana ba,Babu,contradictory\n")
    assert fetch(source, kind, store, LOOSE)[0].to_numpy().tolist() == [["1", "Ana ba", "Yana da", "Babu"]]
    path.write_text("id,premise,hypothesis,label\n1,Ana ba,Yana da,entailment\n2,Ana ba,Babu,opposite\n")
    with pytest.raises(UserError, match=r"nli.csv: id '2'.*'opposite'; .*`where:`"):
        fetch(source, kind, store, LOOSE)


def documents(count: int) -> str:
    """What MADLAD-400 has: line breaks as a backslash and an n."""
    return "".join(json.dumps({"text": f"Document {n}.\\nIts second line {n}.\\n\\n"}) + "\n" for n in range(count))


@pytest.mark.parametrize(("form", "pack"), [("jsonl.gz", gzip.compress), ("jsonl.xz", lzma.compress)])
def test_documents_become_their_lines(tmp_path: Path, store: Store, form: str, pack) -> None:
    (tmp_path / f"d.{form}").write_bytes(pack(documents(3000).encode()))
    source = Source(file=str(tmp_path / f"d.{form}"), explode={"text": r"\\n|\n"}, first=2500)
    table = read(source, store)
    assert list(table["id"][:3]) == ["1.1", "1.2", "2.1"] and len(table) == 5000
    assert list(table["text"][-2:]) == ["Document 2499.", "Its second line 2499."]
    assert len(read(source.updated({"rows": 100}), store)) == 100


@pytest.mark.parametrize("name", ["x.txt.xz", "x.txt.gz"])
def test_a_file_that_is_cut_short_or_no_archive_is_told(tmp_path: Path, store: Store, name: str) -> None:
    pack = lzma.compress if name.endswith("xz") else gzip.compress
    form = "xz" if name.endswith("xz") else "gzip"
    for content in (pack(b"a b c\n" * 5000)[:-9], b"plain text\n"):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(UserError, match=rf"^{name}: not {form}.*again"):
            read(Source(file=str(tmp_path / name)), store)


def test_what_follows_the_first_rows_is_not_read(tmp_path: Path, store: Store) -> None:
    """Broken UTF-8 far behind them, and a header that a later row would change."""
    lines = [json.dumps({"text": f"Line {n}"}).encode() for n in range(40_000)]
    (tmp_path / "x.jsonl").write_bytes(b"\n".join([*lines, b"\xff\xfe", b'{"other": 1}']))
    with pytest.raises(UserError):
        read(Source(file=str(tmp_path / "x.jsonl")), store)
    assert list(read(Source(file=str(tmp_path / "x.jsonl"), first=7), store)["text"]) == [f"Line {n}" for n in range(7)]
    assert len(read(Source(file=str(tmp_path / "x.jsonl"), first=30_000), store)) == 30_000
    for skip, first in ((5, 7), (19_999, 2), (20_001, 1)):
        found = read(Source(file=str(tmp_path / "x.jsonl"), skip=skip, first=first), store)["text"]
        every = list(read(Source(file=str(tmp_path / "x.jsonl"), first=skip + first), store)["text"])
        assert [*found] == every[skip:]


def test_blank_lines_of_json_are_no_rows(tmp_path: Path, store: Store) -> None:
    (tmp_path / "x.jsonl").write_text("\n \u3000\n\n".join(f'{{"text": "Line {n}"}}' for n in range(8)) + "\n{")
    source = Source(file=str(tmp_path / "x.jsonl"), skip=2, first=4)
    assert list(read(source, store)["text"]) == [f"Line {n}" for n in range(2, 6)]
    with pytest.raises(UserError, match="line 23:"):
        read(source.updated({"first": None}), store)


def test_groups_of_an_expression_are_no_parts(tmp_path: Path, store: Store) -> None:
    (tmp_path / "x.txt").write_text("One sleeps. Two walk; three eat! Four dine")
    table = read(Source(file=str(tmp_path / "x.txt"), explode={"text": r"([.!]) |(;) "}), store)
    assert table.to_numpy().tolist() == [
        ["1.1", "One sleeps"],
        ["1.2", "Two walk"],
        ["1.3", "three eat"],
        ["1.4", "Four dine"],
    ]


@pytest.mark.parametrize(("first", "fetched"), [(None, 3), (25, 3), (20, 2), (11, 2), (10, 1), (5, 1)])
def test_files_of_a_repository_are_fetched_as_they_are_needed(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch, first: int | None, fetched: int
) -> None:
    asked = []
    for part in range(3):
        (tmp_path / f"clean_{part}.jsonl.gz").write_bytes(gzip.compress(documents(10).encode()))

    def download(repository: str, name: str, **place: str) -> str:
        asked.append(name)
        return str(tmp_path / name.rpartition("/")[2])

    names = [f"data/kk/{kind}_{part}.jsonl.gz" for part in (2, 0, 1) for kind in ("noisy", "clean")]
    listing = SimpleNamespace(list_repo_files=lambda *given, **place: names)
    monkeypatch.setattr(huggingface_hub, "HfApi", lambda: listing)
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", download)
    source = Source(hub="a/b", member="data/kk/clean_*.jsonl.gz", revision="0" * 40, first=first)
    assert len(read(source, store)) == min(first or 30, 30)
    assert asked == [f"data/kk/clean_{part}.jsonl.gz" for part in range(fetched)]
    with pytest.raises(UserError, match=r"a/b:.*'data/rw/\*'; it has data/kk/noisy_2"):
        read(source.updated({"member": "data/rw/*"}), store)


def test_uyghur_is_written_in_arabic_script(tmp_path: Path, store: Store) -> None:
    (tmp_path / "ug.tsv").write_text(
        "text\tother\nКишиләр қара чекәткә (крикәт) ойнаватиду.\tКишиләр\n", encoding="utf-8"
    )
    table = read(Source(file=str(tmp_path / "ug.tsv"), transliterate={"text": "uig-Cyrl-Arab"}), store)
    assert table.loc[0, ["text", "other"]].tolist() == ["كىشىلەر قارا چېكەتكە (كرىكەت) ئويناۋاتىدۇ.", "Кишиләр"]
    with pytest.raises(ValidationError, match="uig-Cyrl-Arab"):
        Source(file="x", transliterate={"text": "uig-Latn-Arab"})
    with pytest.raises(ValidationError, match=r"explode.text: '\(': missing \)"):
        Source(file="x", explode={"text": "("})

"""One way of reading for every origin and form; real files, a real archive, a real wheel-like zip."""

import gzip
import json
import tarfile
import zipfile

import pandas as pd
import pytest

from seedbed.corpora.assets import Store
from seedbed.corpora.fetch import check_scores, fetch, triplets_from_labels
from seedbed.corpora.settings import Cleaning, Source
from seedbed.corpora.sources import bucket, pin, read
from seedbed.io import UserError, read_json, sha256

ROWS = ["Ina zuwa kasuwa yau da safe", "Yara suna wasa a waje", "Ruwa ya zubo jiya da dare"]


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "downloads", tmp_path / "lock.json")


@pytest.mark.parametrize("form", ["tsv", "csv", "jsonl", "parquet", "text", "txt.gz"])
def test_every_form_gives_the_same_rows(tmp_path, store, form):
    path = tmp_path / f"corpus.{form}"
    table = pd.DataFrame({"sentence": ROWS})
    match form:
        case "tsv":
            table.to_csv(path, sep="\t", index=False)
        case "csv":
            table.to_csv(path, index=False)
        case "jsonl":
            table.to_json(path, orient="records", lines=True, force_ascii=False)
        case "parquet":
            table.to_parquet(path)
        case "text":
            path.write_text("\n".join(ROWS) + "\n", encoding="utf-8")
        case "txt.gz":
            path.write_bytes(gzip.compress("\n".join(ROWS).encode()))
    columns = {} if form in ("text", "txt.gz") else {"text": "sentence"}
    found = read(Source(file=str(path), columns=columns), store)
    assert list(found["text"]) == ROWS
    assert list(found["id"]) == ["1", "2", "3"]


def test_a_headerless_table_is_read_by_position(tmp_path, store):
    path = tmp_path / "afr-sentences.tsv"
    path.write_text("7\teen sin hier\n9\tnog 'n sin\n", encoding="utf-8")
    found = read(Source(file=str(path), columns={"id": 0, "text": 1}), store)
    assert found.to_dict("list") == {"id": ["7", "9"], "text": ["een sin hier", "nog 'n sin"]}


@pytest.mark.parametrize("kind", ["zip", "tar.gz"])
def test_members_of_an_archive_are_joined_line_by_line(tmp_path, store, kind):
    files = {"OPUS.en-ha.ha": "\n".join(ROWS), "OPUS.en-ha.en": "one\ntwo\nthree", "README": "x"}
    path = tmp_path / f"opus.{kind}"
    if kind == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in files.items():
                archive.writestr(name, content)
    else:
        with tarfile.open(path, "w:gz") as archive:
            for name, content in files.items():
                (tmp_path / name).write_text(content)
                archive.add(tmp_path / name, arcname=name)
    source = Source(archive=path.as_uri(), member="*.ha", format="text", join={"pivot": {"member": "*.en"}})
    found = read(source, store)
    assert list(found["pivot"]) == ["one", "two", "three"]
    assert read_json(store.lock)[path.as_uri()]["sha256"] == sha256(path)


def test_a_changed_download_is_refused(tmp_path, store):
    path = tmp_path / "corpus.txt"
    path.write_text("\n".join(ROWS))
    source = Source(archive=path.as_uri(), format="text")
    read(source, store)
    next((store.folder / "archives").rglob("corpus.txt")).write_text("other")
    with pytest.raises(UserError, match=r"sha256 is .* says"):
        read(source, store)


def test_a_wrong_digest_removes_the_download(tmp_path, store):
    path = tmp_path / "corpus.txt"
    path.write_text("\n".join(ROWS))
    with pytest.raises(UserError, match="the config says 000"):
        read(Source(archive=path.as_uri(), format="text", sha256="0" * 64), store)
    assert not list((store.folder / "archives").rglob("*.txt"))


def test_messages_join_by_id_and_drop_placeholders(tmp_path, store):
    for locale, catalogue in {
        "ha": {"a": "Barka da zuwa", "b": "Ka ga {count}", "c": "Fita daga nan"},
        "en": {"c": "Leave this place", "a": "Welcome to you", "b": "See {count}"},
    }.items():
        (tmp_path / f"{locale}.json").write_text(json.dumps(catalogue))
    source = Source(
        file=str(tmp_path),
        member="ha.json",
        format="messages",
        columns={"text": "text"},
        join={"pivot": {"member": "en.json"}},
    )
    found = read(source, store)
    assert found.to_dict("list") == {
        "id": ["a", "c"], "text": ["Barka da zuwa", "Fita daga nan"], "pivot": ["Welcome to you", "Leave this place"],
    }  # fmt: skip


def test_buckets_split_without_overlap_and_by_text_alone(tmp_path, store):
    texts = [f"sentence number {n} of many" for n in range(500)]
    path = tmp_path / "corpus.txt"
    path.write_text("\n".join(texts))
    parts = [read(Source(file=str(path), format="text", buckets=span), store) for span in ((0, 70), (70, 100))]
    assert sorted([*parts[0]["text"], *parts[1]["text"]]) == sorted(texts)
    assert 0.6 < len(parts[0]) / 500 < 0.8
    assert bucket("A  b") == bucket("a b")


def test_rows_are_filtered_and_topped_up(tmp_path, store):
    path = tmp_path / "aya.csv"
    pd.DataFrame({"code": ["hau", "eng", "hau"], "text": ["a", "b", "c"]}).to_csv(path, index=False)
    more = tmp_path / "more.csv"
    pd.DataFrame({"code": ["hausa"] * 3, "text": ["d", "e", "f"]}).to_csv(more, index=False)
    source = Source(
        file=str(path), where={"code": ["hau*"]}, columns={"text": "text"}, rows=4, top_up={"file": str(more)}
    )
    assert sorted(read(source, store)["text"])[:2] == ["a", "c"]
    assert len(read(source, store)) == 4


def test_a_language_without_rows_stops_with_one_line(tmp_path, store):
    path = tmp_path / "aya.tsv"
    path.write_text("code\tinputs\ttargets\nhau\tIna kwana?\tLafiya lau\n")
    source = Source(file=str(path), where={"code": ["afr*"]}, columns={"prompt": "inputs", "response": "targets"})
    with pytest.raises(UserError, match=r"^instructions corpus from file .*: no row is left .*; check the columns"):
        fetch(source, "instructions", store, Cleaning())


def test_labelled_nli_becomes_triplets():
    labelled = pd.DataFrame(
        {
            "id": list("123456"),
            "premise": ["p"] * 3 + ["q"] * 3,
            "hypothesis": ["yes", "maybe", "no", "ja", "vielleicht", "ach"],
            "label": ["entailment", "neutral", "contradiction", "0", "1", "1"],
        }
    )
    assert triplets_from_labels(labelled).to_dict("records") == [
        {"id": "1", "anchor": "p", "positive": "yes", "negative": "no"}
    ]


def test_a_corpus_is_cleaned_bounded_and_deduplicated(tmp_path, store):
    path = tmp_path / "corpus.txt"
    path.write_text("Ina  zuwa kasuwa\u200b yau\nina zuwa kasuwa yau!\nx\n" + "la " * 300, encoding="utf-8")
    corpus, record = fetch(Source(file=str(path), format="text", licence="CC0-1.0"), "text", store, Cleaning())
    assert list(corpus["text"]) == ["Ina zuwa kasuwa yau"]
    assert record["counts"] == {"read": 4, "out of bounds": 2, "repeated": 1, "kept": 1}
    assert record["licence"] == "CC0-1.0"


def test_a_test_set_keeps_every_row(tmp_path, store):
    path = tmp_path / "sts.csv"
    pd.DataFrame({"a": ["x", "x"], "b": ["y\ty", "y"], "s": ["0.5", "1"]}).to_csv(path, index=False)
    columns = {"sentence1": "a", "sentence2": "b", "score": "s"}
    pairs, _ = fetch(Source(file=str(path), columns=columns), "pairs", store, Cleaning(), test=True)
    assert list(pairs["sentence2"]) == ["y y", "y"]
    check_scores(pairs, (0, 1), "here")
    with pytest.raises(UserError, match="here: id '2' has score '1'; expected a number from 0 to 0.7"):
        check_scores(pairs, (0, 0.7), "here")


def test_a_pinned_revision_needs_no_network(store):
    source = Source(hub="some/data", revision="f5146bf724c55899ca20502851dc98c5405b67f9")
    assert pin(store, source, kind="dataset") == source.revision


def test_a_locked_revision_is_kept_and_a_moved_one_refused(store):
    store.verify("hub:dataset:some/data", {"revision": "abc", "licence": "MIT"})
    assert pin(store, Source(hub="some/data"), kind="dataset") == "abc"
    with pytest.raises(UserError, match="revision is def"):
        store.verify("hub:dataset:some/data", {"revision": "def"})


def test_an_unreachable_hub_is_one_line(store):
    with pytest.raises(UserError, match="no-such/repository: cannot be had from the hub") as caught:
        pin(store, Source(hub="no-such/repository"), kind="model")
    assert "\n" not in str(caught.value)


def test_placeholders_come_from_the_registry():
    source = Source(archive="https://x/{leipzig}.tar.gz", member="*-sentences.txt")
    assert source.resolved({"leipzig": "afr_mixed"}).archive == "https://x/afr_mixed.tar.gz"
    assert source.resolved({"leipzig": ""}) is None
    with pytest.raises(UserError, match="no registry column 'leipzig'"):
        source.resolved({"name": "x"})

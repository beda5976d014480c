"""One way of reading for every origin and form; real files, a real archive, a real wheel-like zip."""

import gzip
import io
import json
import lzma
import resource
import tarfile
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from scripts import fetch_corpus
from seedbed import yamls
from seedbed.corpora.read import forms
from seedbed.corpora.read.assets import Store
from seedbed.corpora.read.columns import bucket
from seedbed.corpora.read.fetch import triplets_from_labels
from seedbed.corpora.read.sources import pin
from seedbed.corpora.settings import Cleaning, Source
from seedbed.corpora.shape.labels import check_scores
from seedbed.io import UserError, read_json, read_table, sha256
from seedbed.study.loading import load
from seedbed.study.model import Study
from tests.programs import call
from tests.whole import fetch, read

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


@pytest.fixture(scope="module", params=["gz", "xz"])
def packed(request):
    """An ending, rows compressed so, and 80 MiB of blanks, which take seconds."""
    pack = {"gz": gzip.compress, "xz": lzma.compress}[request.param]
    return request.param, pack("\n".join(ROWS).encode()), pack(b" " * (80 << 20))


@pytest.mark.parametrize("kind", ["zip", "stored.zip", "whl", "tar", "tar.gz", "folder"])
def test_a_compressed_file_is_read_in_whatever_holds_it(tmp_path, store, kind, packed):
    """And is a bomb in whatever holds it."""
    ending, good, bomb = packed
    files = {f"in/good.txt.{ending}": good, f"in/bomb.txt.{ending}": bomb}
    place = tmp_path / f"a.{kind}"
    if kind == "folder":
        for name, content in files.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_bytes(content)
    elif "tar" in kind:
        with tarfile.open(place, "w:gz" if kind.endswith("gz") else "w") as archive:
            for name, content in files.items():
                entry = tarfile.TarInfo(name)
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))
    else:
        with zipfile.ZipFile(place, "w", zipfile.ZIP_STORED if "stored" in kind else zipfile.ZIP_DEFLATED) as archive:
            for name, content in files.items():
                archive.writestr(name, content)
    assert list(read(Source(file=str(place), member="in/good*"), store)["text"]) == ROWS
    with pytest.raises(UserError, match=rf"in/bomb.txt.{ending}: .*at most 67108864"):
        read(Source(file=str(place), member="in/bomb*"), store)


@pytest.mark.parametrize("kind", ["folder", "zip"])
def test_more_files_than_a_process_may_open_are_read(tmp_path, store, kind):
    number = 300
    names = [f"in/{place:04}.txt" for place in range(number)]
    (tmp_path / "a" / "in").mkdir(parents=True)
    for name in names:
        (tmp_path / "a" / name).write_text(f"line {name}\n")
    place = tmp_path / "a"
    if kind == "zip":
        with zipfile.ZipFile(place := tmp_path / "a.zip", "w") as archive:
            for name in names:
                archive.write(tmp_path / "a" / name, name)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (len([*Path("/proc/self/fd").iterdir()]) + 50, hard))
        found = read(Source(file=str(place), member="in/*.txt"), store)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert list(found["text"]) == [f"line {name}" for name in names]


def bomb(shape: str) -> pa.Table:
    """A long text in 20,000 rows, which a file of Parquet holds once."""
    text, rows = "a b c " * 200_000, 20_000
    once = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), [text])
    return pa.table(
        {
            "text": once if shape == "text" else pa.array([str(place) for place in range(rows)]),
            "of": {
                "text": pa.array([""] * rows),
                "list": pa.ListArray.from_arrays(pa.array(range(rows + 1), pa.int32()), once),
                "struct": pa.StructArray.from_arrays([once], names=["t"]),
            }[shape],
        }
    )


@pytest.mark.parametrize("shape", ["text", "list", "struct"])
def test_a_parquet_file_that_grows_is_left_before_it_fills_the_memory(tmp_path, store, shape):
    pyarrow.parquet.write_table(bomb(shape), tmp_path / "x.parquet", store_schema=False)
    assert (tmp_path / "x.parquet").stat().st_size < 200_000
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(UserError, match=r"x.parquet:.*compressed.*67108864"):
        read(Source(file=str(tmp_path / "x.parquet")), store)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400 << 10, "KiB"


def test_long_texts_of_parquet_are_read_in_parts(tmp_path, store, monkeypatch):
    """Cells of every kind are those of a reading at once."""
    rows = [
        {"text": f"{place} {'long ' * 50}", "n": place, "of": [f"a{place}", "b"], "s": {"t": "x"}} for place in range(9)
    ]
    table = pa.Table.from_pylist([*rows, {"text": None, "n": None, "of": None, "s": None}])
    pyarrow.parquet.write_table(table, tmp_path / "x.parquet")
    source = Source(file=str(tmp_path / "x.parquet"), columns={"text": "text", "n": "n", "of": "of", "t": "s.t"})
    whole = read(source, store)
    monkeypatch.setattr(forms, "PART", 300)
    pd.testing.assert_frame_equal(read(source, store), whole)
    assert list(whole["of"])[:2] == ["a0 b", "a1 b"] and list(whole["text"])[-1] == ""


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


@pytest.mark.parametrize("given", ["0" * 64, ""], ids=["of the config", "of the lock file"])
def test_a_package_of_another_digest_is_not_read(store, given):
    wheel = store.folder / "wheels" / "corpus==1.0" / "corpus-1.0-py3-none-any.whl"
    wheel.parent.mkdir(parents=True)
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("corpus/a.txt", "\n".join(ROWS))
    source = Source(package={"corpus==1.0": sha256(wheel)}, member="corpus/a.txt", format="text")
    assert len(read(source, store)) == len(ROWS)
    if not given:
        store.verify("corpus==1.0", {"sha256": "0" * 64})
    with pytest.raises(UserError, match="corpus==1.0: .*000"):
        read(source.updated({"package": {"corpus==1.0": given}}), store)
    assert wheel.exists() == (given == "")


def test_packages_are_read_in_the_order_in_which_they_stand(store):
    """Also after the journey to a job as JSON with sorted keys: a model of ten parts has its tenth last."""
    for number in (2, 10):
        wheel = store.folder / "wheels" / f"part{number}==1.0" / f"part{number}-1.0-py3-none-any.whl"
        wheel.parent.mkdir(parents=True)
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr("a.txt", f"{number}\n")
    source = Source(package={"part2==1.0": "", "part10==1.0": ""}, member="a.txt")
    assert list(read(Source.load(source.dump()).updated({"rows": 9}), store)["text"]) == ["2", "10"]
    assert Source.load(source.dump()) == source.resolved({}) == source
    ascending = Source(package={"part1==1.0": "", "part2==1.0": ""}, member="a.txt")
    assert json.loads(ascending.dump())["package"] == ascending.package, "as jobs were recorded before"


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


def test_a_file_without_rows_among_others_joins_and_splits_like_them(tmp_path, store):
    catalogues = {"1": {"a": "Barka da zuwa"}, "2": {"b": "Ka ga {count}"}, "3": {"c": "Fita daga nan"}}
    for number, catalogue in catalogues.items():
        (tmp_path / f"ha-{number}.json").write_text(json.dumps(catalogue))
        (tmp_path / f"en-{number}.json").write_text(json.dumps({key: f"English {key}" for key in catalogue}))
    options = {"columns": {"text": "text"}, "join": {"pivot": {"member": "en-*.json"}}, "buckets": (0, 99)}
    found = read(Source(file=str(tmp_path), member="ha-*.json", format="messages", **options), store)
    assert found.columns.tolist() == ["id", "text", "pivot"] and found["id"].tolist() == ["a", "c"]


def test_all_questions_of_a_passage_lie_on_one_side_in_every_language(tmp_path, store):
    rows = [f"{place % 5}\t{place}" for place in range(20)]
    for lang in ("hau", "ind"):
        lines = ["link\tquestion", *(f"{row} {lang}" for row in rows)]
        (tmp_path / f"{lang}.tsv").write_text("\n".join(lines), encoding="utf-8")
    sides = [
        [set(read(Source(file=str(tmp_path / f"{lang}.tsv"), buckets=span, buckets_by="link"), store)["link"])
         for lang in ("hau", "ind")]
        for span in ((0, 50), (50, 100))
    ]  # fmt: skip
    for one, other in sides:
        assert one == other, "the same passages in both languages"
        assert one, "on either side"
    assert not sides[0][0] & sides[1][0]
    with pytest.raises(UserError, match="no column 'lnk'; it has"):
        read(Source(file=str(tmp_path / "hau.tsv"), buckets=(0, 50), buckets_by="lnk"), store)
    with pytest.raises(ValueError, match=r"buckets_by:.*says.*`buckets`"):
        Source(file="x.tsv", buckets_by="link")


def test_buckets_split_without_overlap_and_by_text_alone(tmp_path, store):
    texts = [f"sentence number {n} of many" for n in range(500)]
    path = tmp_path / "corpus.txt"
    path.write_text("\n".join(texts))
    parts = [read(Source(file=str(path), format="text", buckets=span), store) for span in ((0, 70), (70, 100))]
    assert sorted([*parts[0]["text"], *parts[1]["text"]]) == sorted(texts)
    assert 0.6 < len(parts[0]) / 500 < 0.8
    assert bucket("A  b") == bucket("a b")
    assert bucket("e\u0301") == bucket("é"), "two encodings of a letter"


def test_translations_of_one_sentence_lie_on_one_side_of_a_split(tmp_path, store):
    pivot = [f"sentence number {n} of many" for n in range(50)]
    found = []
    for lang in ("hau", "swh"):
        texts = [f"{lang} {n}" for n in range(50)]
        pd.DataFrame({"text": texts, "pivot": pivot}).to_csv(tmp_path / f"{lang}.csv", index=False)
        found.append(list(read(Source(file=str(tmp_path / f"{lang}.csv"), buckets=(0, 50)), store)["pivot"]))
    assert found[0] == found[1] and 10 < len(found[0]) < 40


@pytest.mark.parametrize(
    ("columns", "key"),
    [
        ({"label": "l", "text": "t"}, "text"),
        ({"score": "l", "sentence1": "t", "sentence2": "u"}, "sentence1"),
        ({"document": "u", "query": "t"}, "query"),
        ({"hypothesis": "u", "label": "l", "premise": "t"}, "premise"),
        ({"answer": "l", "question": "t"}, "question"),
        ({"answers": "l", "correct": "l", "passage": "t", "question": "u"}, "passage"),
    ],
)
def test_a_text_and_no_label_or_score_says_the_side_of_a_split(tmp_path, store, columns, key):
    """A job gets the columns by name, in the alphabet's order, whatever order a study has."""
    rows = pd.DataFrame({"l": ["yes", "no"] * 50, "u": "the same", "t": [f"sentence {n}" for n in range(100)]})
    rows.to_csv(tmp_path / "rows.csv", index=False)
    sides = [
        read(Source(file=str(tmp_path / "rows.csv"), columns=columns, buckets=span), store)
        for span in ((0, 50), (50, 100))
    ]
    assert [set(side[key].map(bucket) < 50) for side in sides] == [{True}, {False}]
    assert len(sides[0]) + len(sides[1]) == 100


def test_rows_are_filtered_and_topped_up(tmp_path, store):
    path = tmp_path / "aya.csv"
    pd.DataFrame({"code": ["hau", "eng", "hau"], "text": ["a", "b", "c"]}).to_csv(path, index=False)
    more = tmp_path / "more.csv"
    pd.DataFrame({"code": ["hausa"] * 3, "text": ["d", "e", "f"]}).to_csv(more, index=False)
    source = Source(
        file=str(path), where={"code": ["hau*"]}, columns={"text": "text"}, rows=4, top_up={"file": str(more)}
    )
    found = read(source, store)
    assert sorted(found["text"])[:2] == ["a", "c"] and len(found) == 4
    assert list(found["id"]) == ["1", "2", *sorted(found["id"][2:])]
    assert set(found["id"][2:]) < {"+1", "+2", "+3"}, "a row of the second reading has the id of one of the first"


@pytest.mark.parametrize("settings", [{"where": {"code": ["eng"]}}, {"skip": 2049}], ids=["where", "skip"])
def test_columns_are_joined_where_a_block_has_no_row(tmp_path, store, settings):
    codes = ["hau"] * 2049 + ["eng"]
    rows = pd.DataFrame({"code": codes, "title": "Labari", "body": [f" na {n} " for n in range(2050)]})
    rows.to_csv(tmp_path / "x.csv", index=False)
    source = Source(file=str(tmp_path / "x.csv"), columns={"text": ["title", "body", "code"]}, **settings)
    assert list(read(source, store)["text"]) == ["Labari  na 2049  eng"]


def test_a_source_with_rows_enough_is_not_topped_up(tmp_path, store):
    (tmp_path / "a.txt").write_text("a\nb\n")
    (tmp_path / "more.txt").write_text("c\nd\n")
    top_up = {"file": str(tmp_path / "more.txt")}
    assert list(read(Source(file=str(tmp_path / "a.txt"), rows=2, top_up=top_up), store)["text"]) == ["a", "b"]
    assert list(read(Source(file=str(tmp_path / "a.txt"), top_up=top_up), store)["text"]) == ["a", "b", "c", "d"]


def test_a_top_up_of_many_rows_displaces_none_of_the_first(tmp_path, store):
    """Aya has some hundred human rows of a language and tens of thousands of translated ones."""
    for name, count in (("human", 500), ("machine", 20_000)):
        pd.DataFrame({"text": [f"{name} {n}" for n in range(count)]}).to_csv(tmp_path / f"{name}.csv", index=False)
    source = Source(file=str(tmp_path / "human.csv"), rows=1000, top_up={"file": str(tmp_path / "machine.csv")})
    table = read(source, store)
    assert list(table["text"][:500]) == [f"human {n}" for n in range(500)] and len(table) == 1000
    assert table["id"].str.startswith("+").sum() == 500 and table["text"].str.contains("machine").sum() == 500
    assert len(read(source.updated({"rows": 300}), store)) == 300


def test_a_language_is_no_test_of_itself():
    study = load(yamls.read("config.yaml"))
    assert study.test("flores-bitext", "hau") is not None
    assert study.test("flores-bitext", "eng") is None and "flores-bitext" not in study.tests_by_language["eng"]


def test_a_language_without_rows_stops_with_one_line(tmp_path, store):
    path = tmp_path / "aya.tsv"
    path.write_text("code\tinputs\ttargets\nhau\tIna kwana?\tLafiya lau\n")
    source = Source(file=str(path), where={"code": ["afr*"]}, columns={"prompt": "inputs", "response": "targets"})
    with pytest.raises(
        UserError, match=r"^instructions corpus.*no row is left \(none was read\); check `where:`, `columns:`"
    ):
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
    (made,) = triplets_from_labels(iter([labelled]))
    assert made.to_dict("records") == [{"id": "1", "anchor": "p", "positive": "yes", "negative": "no"}]


def test_a_block_without_an_entailment_makes_no_triplet():
    """Rows that are sorted by their labels come in such blocks."""
    rows = pd.DataFrame(
        {"id": ["1", "2"], "premise": "p", "hypothesis": ["y", "n"], "label": ["entailment", "contradiction"]}
    )
    made = pd.concat(triplets_from_labels(iter([rows[:1], rows[1:]])))
    assert made.to_numpy().tolist() == [["1", "p", "y", "n"]]


def test_a_premise_without_an_id_is_told_by_its_text():
    labels = ["entailment", "contradiction"]
    rows = pd.DataFrame({"id": list("1234"), "premise": list("ppqq"), "hypothesis": list("abcd"), "label": labels * 2})
    made = pd.concat(triplets_from_labels(iter([rows.assign(premise_id=" ")])))
    assert made.to_numpy().tolist() == [["1", "p", "a", "b"], ["3", "q", "c", "d"]]


def test_of_graded_pairs_of_one_first_sentence_all_are_kept(tmp_path, store):
    """Each has a score of its own; the same pair twice is one."""
    rows = [
        ("Ina zuwa kasuwa", "Zan tafi kasuwa"),
        ("Ina zuwa kasuwa", "Yara suna gida"),
        ("ina zuwa kasuwa!", "Yara suna gida"),
    ]
    pd.DataFrame(rows, columns=["sentence1", "sentence2"]).assign(score="1").to_csv(tmp_path / "pairs.csv", index=False)
    source = Source(file=str(tmp_path / "pairs.csv"))
    assert list(fetch(source, "pairs", store, Cleaning())[0]["id"]) == ["1", "2"]
    assert list(fetch(source, "matched_pairs", store, Cleaning())[0]["id"]) == ["1"]


def test_a_corpus_is_cleaned_bounded_and_deduplicated(tmp_path, store):
    path = tmp_path / "corpus.txt"
    path.write_text("Ina  zuwa kasuwa\u200b yau\nina zuwa kasuwa yau!\nx\n" + "la " * 300, encoding="utf-8")
    corpus, record = fetch(Source(file=str(path), format="text", licence="CC0-1.0"), "text", store, Cleaning())
    assert list(corpus["text"]) == ["Ina zuwa kasuwa yau"]
    assert record["counts"] == {"read": 4, "out of bounds": 2, "repeated": 1, "kept": 1}
    assert record["licence"] == "CC0-1.0"


def test_a_sentence_has_one_translation_either_way(tmp_path, store):
    """Else one of two right ones would count as wrong."""
    rows = [("Ina zuwa kasuwa", "I am going"), ("Ina zuwa kasuwa!", "I go there"), ("Zan tafi kasuwa", "i am going.")]
    rows.append(("Yara suna gida", "The children are home"))
    pd.DataFrame(rows, columns=["text", "pivot"]).to_csv(tmp_path / "pairs.csv", index=False)
    corpus, record = fetch(Source(file=str(tmp_path / "pairs.csv")), "parallel", store, Cleaning())
    assert list(corpus["id"]) == ["1", "4"] and record["counts"]["repeated"] == 2


def test_a_test_set_keeps_every_row(tmp_path, store):
    path = tmp_path / "sts.csv"
    pd.DataFrame({"a": ["x", "x"], "b": ["y\ty", "y"], "s": ["0.5", "1"]}).to_csv(path, index=False)
    columns = {"sentence1": "a", "sentence2": "b", "score": "s"}
    pairs, _ = fetch(Source(file=str(path), columns=columns), "pairs", store, Cleaning(), test=True)
    assert list(pairs["sentence2"]) == ["y y", "y"]
    check_scores(pairs, (0, 1), "here")
    with pytest.raises(UserError, match=r"here: id '2'.*'1'; expected.*0 to 0.7"):
        check_scores(pairs, (0, 0.7), "here")


def test_the_program_writes_graded_pairs_and_refuses_a_score_beyond_its_scale(tmp_path):
    pairs = pd.DataFrame({"id": ["1", "2"], "sentence1": ["x", "y"], "sentence2": ["v", "w"], "score": ["0.5", "3"]})
    pairs.to_csv(tmp_path / "sts.csv", index=False)
    arguments = ["--source", json.dumps({"file": str(tmp_path / "sts.csv")}), "--kind", "pairs", "--test"]
    arguments += ["--output", str(tmp_path / "sts.tsv"), "--record", str(tmp_path / "sts.json")]
    call(fetch_corpus, [*arguments, "--scale", "0", "5"])
    assert read_table(tmp_path / "sts.tsv", [*pairs]).to_dict("list") == pairs.to_dict("list")
    assert read_json(tmp_path / "sts.json")["counts"] == {"read": 2, "kept": 2}
    (tmp_path / "sts.tsv").unlink()
    with pytest.raises(UserError, match=r"id '2'.*'3'; expected.*0 to 1"):
        call(fetch_corpus, arguments)
    assert not (tmp_path / "sts.tsv").exists()


def test_a_pinned_revision_needs_no_network(store):
    source = Source(hub="some/data", revision="f5146bf724c55899ca20502851dc98c5405b67f9")
    assert pin(store, source, kind="dataset") == source.revision


def test_a_split_that_a_data_set_lacks_is_one_line(store, monkeypatch):
    """News without training texts in a language, say."""
    found = SimpleNamespace(config=SimpleNamespace(data_files={"validation": [], "test": []}))
    monkeypatch.setattr("datasets.load_dataset_builder", lambda *args, **options: found)
    source = Source(hub="some/data", revision="f5146bf724c55899ca20502851dc98c5405b67f9", split="train")
    with pytest.raises(UserError, match=r"^some/data:.*'train'.*validation"):
        read(source, store)


def test_a_locked_revision_is_kept_and_a_moved_one_refused(store):
    store.verify("hub:dataset:some/data", {"revision": "abc", "licence": "MIT"})
    assert pin(store, Source(hub="some/data"), kind="dataset") == "abc"
    with pytest.raises(UserError, match="revision is def"):
        store.verify("hub:dataset:some/data", {"revision": "def"})


def test_a_branch_is_locked_as_the_commit_that_it_was(store):
    source = Source(hub="some/data", revision="refs/convert/parquet")
    store.verify("hub:dataset:some/data", {"revision": "abc"})
    store.verify("hub:dataset:some/data@refs/convert/parquet", {"revision": "def"})
    assert pin(store, source, kind="dataset") == "def"


def test_an_unreachable_hub_is_one_line(store):
    with pytest.raises(UserError, match=r"no-such/repository:.*hub") as caught:
        pin(store, Source(hub="no-such/repository"), kind="model")
    assert "\n" not in str(caught.value)


def test_placeholders_come_from_the_registry():
    source = Source(archive="https://x/{leipzig}.tar.gz", member="*-sentences.txt")
    assert source.resolved({"leipzig": "afr_mixed"}).archive == "https://x/afr_mixed.tar.gz"
    assert source.resolved({"leipzig": ""}) is None
    with pytest.raises(UserError, match="no registry column 'leipzig'"):
        source.resolved({"name": "x"})


LABELS = ["Positive ", "Mixed_feelings ", "not-Tamil ", "unknown_state ", "not-malayalam "]
CHANGES = {"Mixed_feelings": "Mixed", "^(not-([Tt]amil|malayalam)|unknown_state)": "Unknown", r"\s{1,9}$": ""}


def labelled(tmp_path, **settings):
    path = tmp_path / "labelled.tsv"
    path.write_text("text\tcategory\n" + "".join(f" line\t{label}\n" for label in LABELS))
    return Source(file=str(path), columns={"text": "text", "label": "category"}, **settings)


def test_expressions_replace_what_they_match(tmp_path, store):
    source = labelled(tmp_path, replace={"label": CHANGES})
    assert list(read(source, store)["label"]) == ["Positive", "Mixed", "Unknown", "Unknown", "Unknown"]
    assert source.resolved({}) == source == Source.load(source.dump())


def test_expressions_are_applied_in_the_order_in_which_they_stand(tmp_path, store):
    """Also after the journey to a job as JSON with sorted keys; the alphabet has the second first."""
    source = Source.load(labelled(tmp_path, replace={"text": {"l": "k", "k": "a", "i(n)": r"\1o"}}).dump())
    assert list(source.replace["text"]) == ["l", "k", "i(n)"]
    assert read(source, store)["text"][0] == " anoe"


def test_a_joined_column_is_replaced_too(tmp_path, store):
    (tmp_path / "a").write_text("one\ntwo\n")
    (tmp_path / "b").write_text("eins\nzwei\n")
    source = Source(
        file=str(tmp_path / "a"),
        format="text",
        join={"pivot": {"file": str(tmp_path / "b")}},
        replace={"pivot": {"ei": "EI"}},
    )
    assert list(read(source, store)["pivot"]) == ["EIns", "zwEI"]
    with pytest.raises(UserError, match=r"column 'pivto'.*id, text, pivot"):
        read(source.updated({"replace": {"pivto": {"a": "b"}}}), store)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"(": ""}, r"replace: label: '\(' -> '': missing \)"),
        ({"a": r"\1"}, "-> .*: invalid group reference 1"),
        ({"a": r"\g<x>"}, "-> .*: unknown group name 'x'"),
        (["a"], "source.replace.*Input should be a valid tuple"),
        ("a", "source.replace.label: expected names"),
    ],
)
def test_a_wrong_expression_is_named(changes, message):
    with pytest.raises(UserError, match=message) as caught:
        Source.load(json.dumps({"file": "x", "replace": {"label": changes}}))
    assert "\n" not in str(caught.value)


def test_a_quoted_field_may_hold_the_delimiter(tmp_path, store):
    path = tmp_path / "pairs.tsv"
    path.write_text('a\tb\n"one\ttwo, three"\t"four ""five""\nsix"\n')
    found = read(Source(file=str(path), format="csv", delimiter="\t", columns={"text": "a", "pivot": "b"}), store)
    assert found.to_dict("records") == [{"id": "1", "text": "one\ttwo, three", "pivot": 'four "five"\nsix'}]


def test_a_delimiter_of_what_is_no_csv_is_refused_when_its_name_is_known(tmp_path, store):
    (tmp_path / "a.csv").write_text("id;text\n1;a\n")
    source = Source(file=str(tmp_path), member="*.?sv", delimiter=";")
    assert list(read(source, store)["text"]) == ["a"]
    (tmp_path / "b.tsv").write_text("id;text\n2;b\n")
    with pytest.raises(UserError, match=r"^delimiter: of csv alone, not of tsv \(.*b\.tsv\); give `format: csv`"):
        read(source, store)
    assert list(read(source.updated({"format": "csv"}), store)["text"]) == ["a", "b"]


@pytest.mark.parametrize("form", ["parquet", "jsonl"])
def test_a_list_of_words_is_a_text(tmp_path, store, form):
    table = pd.DataFrame({"words": [["vamos", "a", "party"], ["sí"]], "sa": ["positive", "neutral"]})
    path = tmp_path / f"words.{form}"
    table.to_parquet(path) if form == "parquet" else table.to_json(path, orient="records", lines=True)
    found = read(Source(file=str(path), columns={"text": "words", "label": "sa"}), store)
    assert list(found["text"]) == ["vamos a party", "sí"]


def test_sentences_with_ids_are_paired_by_gold_ids(tmp_path, store):
    """BUCC: sentences of two languages, some of them translations of each other."""
    (tmp_path / "zh-en.dev.gold").write_text("zh-3\ten-1\nzh-1\ten-4\n")
    (tmp_path / "zh-en.dev.zh").write_text("zh-1\t一\nzh-2\t二\nzh-3\t三\n")
    (tmp_path / "zh-en.dev.en").write_text("en-1\tthree\nen-2\tfive\nen-4\tone\n")
    sides = {
        "text": {"file": f"{tmp_path}/zh-en.dev.zh", "columns": {"id": 0, "text": 1}, "by": {"zh": "id"}},
        "pivot": {"file": f"{tmp_path}/zh-en.dev.en", "columns": {"id": 0, "pivot": 1}, "by": {"en": "id"}},
    }
    gold = Source(file=f"{tmp_path}/zh-en.dev.gold", format="tsv", columns={"zh": 0, "en": 1}, join=sides)
    pairs, _ = fetch(gold, "parallel", store, Cleaning(), test=True)
    assert pairs.to_dict("records") == [
        {"id": "1", "text": "三", "pivot": "three"},
        {"id": "2", "text": "一", "pivot": "one"},
    ]


def test_paths_are_placeholders_too(tmp_path):
    config = yamls.read("config/demo.yaml")
    config["paths"] = {"mine": str(tmp_path)}
    config["corpora"]["text"] = {"file": "{mine}/{lang}.txt"}
    assert Study.model_validate(config).corpus("text", "hau").file == f"{tmp_path}/hau.txt"
    with pytest.raises(ValueError, match=r"'script'.*language registry"):
        Study.model_validate({**config, "paths": {"script": "x"}})
    with pytest.raises(UserError, match=r"^paths.mine:.*nowhere.*--config"):
        load({**config, "paths": {"mine": "nowhere"}})
    assert Study.model_validate({**config, "paths": {"mine": "none"}}).corpus("text", "hau") is None, "nobody has it"


def pairs_file(tmp_path, cells):
    path = tmp_path / "pairs.csv"
    pd.DataFrame({"Text": cells, "Score": "0.5", "PairID": [f"p{n}" for n in range(len(cells))]}).to_csv(
        path, index=False
    )
    columns = {"id": "PairID", "score": "Score"}
    return Source(file=str(path), divide={"Text": ["sentence1", "sentence2"]}, columns=columns)


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        (["a b\nc d", "e\tf"], [("a b", "c d"), ("e", "f")]),
        (["a \r\n b\n", "c\n\nd"], [("a", "b"), ("c", "d")]),
        (['"a"\n"b"', '"c "d" e"\n"f"'], [("a", "b"), ('c "d" e', "f")]),
        (['"a"\n"b"', "c\nd"], [('"a"', '"b"'), ("c", "d")]),
    ],
    ids=["newline or tab", "blank lines", "quotes of the format", "quotes of the text"],
)
def test_a_cell_is_divided_into_texts(tmp_path, store, cells, found):
    table = read(pairs_file(tmp_path, cells), store)
    assert list(zip(table["sentence1"], table["sentence2"], strict=True)) == found
    assert list(table["id"]) == ["p0", "p1"] and list(table["score"]) == ["0.5", "0.5"]


@pytest.mark.parametrize(("cell", "count"), [("a", 1), ("a\nb\nc", 3)])
def test_a_cell_with_another_number_of_texts_is_named(tmp_path, store, cell, count):
    with pytest.raises(UserError, match=f"row 2, column 'Text': {count} texts .* expects 2"):
        read(pairs_file(tmp_path, ["a\nb", cell]), store)


def test_a_part_of_a_cell_has_no_name_of_a_column(tmp_path, store):
    with pytest.raises(UserError, match=r"pairs\.csv: divide: there is a column 'Score'; give another name"):
        read(pairs_file(tmp_path, ["a\nb"]).updated({"divide": {"Text": ["sentence1", "Score"]}}), store)


def test_a_join_by_key_has_all_rows_of_the_other_reading_and_its_columns_in_every_file(tmp_path, store):
    (tmp_path / "asked.tsv").write_text("id\tof\n1\t9\n2\t8\n")
    (tmp_path / "a.jsonl").write_text('{"of": "8", "document": "eight"}\n')
    (tmp_path / "b.jsonl").write_text('{"of": "9", "document": "nine"}\n')
    join = {"found": {"file": str(tmp_path), "member": "*.jsonl", "by": {"of": "of"}}}
    source = Source(file=str(tmp_path / "asked.tsv"), first=1, join=join)
    assert list(read(source, store)["document"]) == ["nine"]
    assert source.updated({"skip": 1, "first": None}).joined("found")[0].skip == 0
    (tmp_path / "a.jsonl").write_text('{"of": "8", "document": "eight", "more": "x"}\n')
    with pytest.raises(UserError, match=r"no column 'more'; a file of '\*\.jsonl' has id, of, document"):
        read(source, store)


JUDGEMENTS = pd.DataFrame(
    {"query-id": ["q1", "q1", "q2", "q9"], "corpus-id": ["d1", "d2", "d1", "d1"], "score": [1, 0, 1, 1]}
)
QUERIES = pd.DataFrame({"_id": ["q2", "q1", "q3"], "text": ["second?", "first?", "unjudged?"]})
DOCUMENTS = pd.DataFrame(
    {"_id": ["d1", "d2", "d3"], "title": ["One", "", "Three"], "text": ["body 1", "body 2", "body 3"]}
)


@pytest.mark.parametrize("form", ["parquet", "jsonl", "tsv"])
def test_three_tables_become_one_row_per_judgement(tmp_path, store, form):
    """Queries, documents and judgements joined by pandas' own row-by-row look-up."""
    for name, table in {"qrels": JUDGEMENTS, "queries": QUERIES, "corpus": DOCUMENTS}.items():
        path = tmp_path / f"{name}.{form}"
        match form:
            case "parquet":
                table.to_parquet(path)
            case "jsonl":
                table.to_json(path, orient="records", lines=True)
            case "tsv":
                table.to_csv(path, sep="\t", index=False)
    source = Source(
        file=str(tmp_path),
        member=f"qrels.{form}",
        columns={"query_id": "query-id", "document_id": "corpus-id", "relevance": "score"},
        join={
            "queries": {
                "member": f"queries.{form}",
                "columns": {"id": "_id", "query": "text"},
                "by": {"query_id": "id"},
            },
            "documents": {
                "member": f"corpus.{form}",
                "columns": {"id": "_id", "document": ["title", "text"]},
                "by": {"document_id": "id"},
                "keep": "all",
            },
        },
    )
    table = read(Source.load(source.dump()), store)  # as a job is told it: what is joined stands in the order of names
    texts = {"d1": "One body 1", "d2": "body 2", "d3": "Three body 3"}
    assert table.to_dict("records") == [
        {"id": "1", "query_id": "q1", "document_id": "d1", "relevance": "1", "query": "first?", "document": texts["d1"]},
        {"id": "2", "query_id": "q1", "document_id": "d2", "relevance": "0", "query": "first?", "document": texts["d2"]},
        {"id": "3", "query_id": "q2", "document_id": "d1", "relevance": "1", "query": "second?", "document": texts["d1"]},
        {"id": "+d3", "query_id": "", "document_id": "d3", "relevance": "", "query": "", "document": texts["d3"]},
    ]  # fmt: skip


def test_the_first_of_several_matches_is_joined(tmp_path, store):
    """Questions in one language over passages in another, which stand once per question there (Belebele)."""
    for name, rows in {
        "hau": [("l1", "tambaya ta 1", "x"), ("l1", "tambaya ta 2", "x"), ("l2", "tambaya ta 3", "y")],
        "eng": [("l1", "q1", "passage 1"), ("l1", "q2", "passage 1b"), ("l2", "q3", "passage 2")],
    }.items():
        pd.DataFrame(rows, columns=["link", "question", "passage"]).to_json(
            tmp_path / f"{name}.jsonl", orient="records", lines=True
        )  # fmt: skip
    source = Source(
        file=str(tmp_path / "hau.jsonl"),
        columns={"query": "question", "document_id": "link"},
        join={
            "passages": {
                "file": str(tmp_path / "eng.jsonl"),
                "columns": {"document": "passage", "link": "link"},
                "by": {"document_id": "link"},
            }
        },
    )
    assert list(read(source, store)["document"]) == ["passage 1", "passage 1", "passage 2"]


@pytest.mark.parametrize(
    ("join", "message"),
    [
        ({"a": {"fil": "x"}}, r"join.a.fil: unknown.*'file'"),
        ({"a": {"keep": "all"}}, "`keep: all` needs `by:"),
        ({"a": {"by": {"x": "y"}, "keep": "some"}}, r"join.a.keep:.*'matched'.*'all'"),
    ],
)
def test_a_join_is_checked_with_the_configuration(join, message):
    with pytest.raises(UserError, match=message):
        Source.load(json.dumps({"file": "x", "join": join}))


@pytest.mark.parametrize(
    ("join", "message"),
    [
        ({"by": {"txt": "text"}}, r"column 'txt'.*id, text"),
        ({"by": {"text": "txt"}}, r"column 'txt'.*id, text"),
        ({"by": {"id": "id"}}, "two columns 'text' after the join"),
    ],
)
def test_a_join_by_a_column_that_is_not_there_is_one_line(tmp_path, store, join, message):
    path = tmp_path / "corpus.txt"
    path.write_text("\n".join(ROWS))
    with pytest.raises(UserError, match=message):
        read(Source(file=str(path), format="text", join={"more": join}), store)


@pytest.mark.parametrize("name", ["dev.json", "dev.json.gz"])
def test_squad_gives_questions_with_their_paragraphs(tmp_path, store, name):
    paragraphs = [{"context": "Kano birni ne.", "qas": [{"id": "a", "question": "Mene ne Kano?", "answers": []},
                                                         {"id": "b", "question": "Ina birnin?", "answers": []}]},
                  {"context": "Ruwa.", "qas": [{"id": "c", "question": "Me?", "answers": []}]}]  # fmt: skip
    content = json.dumps({"data": [{"paragraphs": paragraphs[:1]}, {"paragraphs": paragraphs[1:]}]}).encode()
    path = tmp_path / name
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    table = read(Source(file=str(path), format="squad"), store)
    assert table.to_dict("list") == {
        "id": ["a", "b", "c"],
        "query": ["Mene ne Kano?", "Ina birnin?", "Me?"],
        "document": ["Kano birni ne.", "Kano birni ne.", "Ruwa."],
    }


def test_squad_ids_that_repeat_lose_no_question(tmp_path, store):
    articles = [{"paragraphs": [{"context": text, "qas": [{"id": "1", "question": "Me?"}]}]} for text in ROWS]
    (tmp_path / "train.json").write_text(json.dumps({"data": articles}))
    table = read(Source(file=str(tmp_path / "train.json"), format="squad"), store)
    assert list(table["document"]) == ROWS and list(table["id"]) == ["1", "2", "3"]


@pytest.mark.parametrize("content", ["[]", '{"data": [{}]}', "{", '{"paragraphs": []}'])
def test_what_is_no_squad_is_one_line(tmp_path, store, content):
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(UserError, match="x.json: not squad"):
        read(Source(file=str(tmp_path / "x.json"), format="squad"), store)


def test_a_source_of_other_languages_is_read_where_the_first_has_none():
    other = {"package": {"b==1": ""}, "member": "{iso1}/*", "columns": {"text": 0}}
    source = Source(package={"a==1": ""}, member="{kolibri}.txt", otherwise=other)
    assert source.resolved({"kolibri": "ha", "iso1": "ha"}) == Source(package={"a==1": ""}, member="ha.txt")
    found = source.resolved({"kolibri": "", "iso1": "af"})
    assert found == Source(package={"b==1": ""}, member="af/*", columns={"text": 0})
    assert source.resolved({"kolibri": "ha", "iso1": ""}) == source.resolved({"kolibri": "ha", "iso1": "ha"})
    assert source.resolved({"kolibri": "", "iso1": ""}) is None


@pytest.mark.parametrize("inside", ["top_up", "join"])
def test_what_stands_in_for_a_source_stays_with_an_archive_inside_of_it(inside):
    archive = {"hub": None, "archive": "https://host/{iso1}.txt"}
    within = {"top_up": archive, "join": {"pivot": archive}}[inside]
    source = Source(hub="a/b", member="{iso1}", otherwise={"file": "{lang}.txt"}, **{inside: within})
    assert source.resolved({"iso1": "rw", "lang": "kin"}).otherwise == Source(file="kin.txt")
    assert source.without(inside).resolved({"iso1": "rw", "lang": "kin"}).otherwise is None


def test_what_stands_in_for_an_archive_that_is_not_there_stays_with_it():
    source = Source(archive="https://host/{iso1}.txt", otherwise={"archive": "https://host/{lang}.txt"})
    found = source.resolved({"iso1": "rw", "lang": "kin"})
    assert (found.archive, found.otherwise.archive) == ("https://host/rw.txt", "https://host/kin.txt")

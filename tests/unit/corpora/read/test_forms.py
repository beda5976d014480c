"""Files of every form: what is right in them is read, and what is wrong is told in one line."""

import gettext
import gzip
import io
import json
import random
import tarfile
import zipfile

import datasets
import pandas as pd
import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo

from seedbed.corpora.read import sources
from seedbed.corpora.read.assets import Store
from seedbed.corpora.settings import COLUMNS, Cleaning, Source
from seedbed.io import UserError, read_table, write_table
from tests.whole import fetch, read


@pytest.fixture
def rows_of(tmp_path):
    """The rows of a file of this name and content."""

    def reading(name, content, **settings):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read(Source(file=str(path), **settings), Store(tmp_path / "downloads", tmp_path / "lock.json"))

    return reading


def parquet(**columns):
    buffer = io.BytesIO()
    pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in columns.items()}).to_parquet(buffer)
    return buffer.getvalue()


def archive(content, kind):
    buffer = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(buffer, "w") as file:
            file.writestr("a.txt", content)
    else:
        with tarfile.open(fileobj=buffer, mode="w:gz") as file:
            member = tarfile.TarInfo("a.txt")
            member.size = len(content)
            file.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


TSV = "id\ttext\n1\tIna zuwa kasuwa\n2\tƙaramin yaro\n"
TEXTS = ["Ina zuwa kasuwa", "ƙaramin yaro"]
RECORDS = [{"id": 1, "text": TEXTS[0]}, {"id": 2, "text": TEXTS[1]}]
LINES = "\n".join(json.dumps(record, ensure_ascii=False) for record in RECORDS)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("plain.tsv", TSV),
        ("mark.tsv", "\ufeff" + TSV),
        ("windows.tsv", TSV.replace("\n", "\r\n")),
        ("old-mac.tsv", TSV.replace("\n", "\r")),
        ("LOUD.TSV", TSV),
        ("ƙauye न.tsv", TSV),
        ("spreadsheet.tab", TSV),
        ("packed.tsv.gz", gzip.compress(TSV.encode(), mtime=0)),
        ("LOUD.TSV.GZ", gzip.compress(TSV.encode(), mtime=0)),
        ("mark.csv", "\ufeff" + TSV.replace("\t", ",")),
        ("windows.jsonl", LINES.replace("\n", "\r\n")),
        ("packed.jsonl.gz", gzip.compress(LINES.encode(), mtime=0)),
        ("list.json", json.dumps(RECORDS)),
        ("pages.json.gz", gzip.compress(json.dumps(RECORDS).encode(), mtime=0)),
        ("table.parquet", parquet(id=[1, 2], text=TEXTS)),
        ("bytes.parquet", parquet(id=[1, 2], text=[text.encode() for text in TEXTS])),
    ],
)
def test_files_that_differ_in_form_alone_are_read_alike(rows_of, name, content):
    assert rows_of(name, content).to_dict("list") == {"id": ["1", "2"], "text": TEXTS}


@pytest.mark.parametrize("name", ["windows.txt", "packed.txt.gz"])
def test_lines_of_plain_text_are_rows(rows_of, name):
    content = "\ufeffIna zuwa kasuwa\r\nƙaramin yaro\r\n".encode()
    found = rows_of(name, gzip.compress(content, mtime=0) if name.endswith("gz") else content)
    assert found.to_dict("list") == {"id": ["1", "2"], "text": TEXTS}


@pytest.mark.parametrize("name", ["corpus.hau", "corpus", "corpus.json5", "corpus.gz", "corpus.zip", "a.b/corpus"])
def test_a_name_that_says_no_form_asks_for_one(rows_of, tmp_path, name):
    (tmp_path / "a.b").mkdir()
    content = gzip.compress(b"a\n", mtime=0) if name.endswith("gz") else b"a\n"
    with pytest.raises(UserError, match=r"known: \.tsv, .*`format:`"):
        rows_of(name, content)
    assert list(rows_of(name, content, format="text")["text"]) == ["a"]


def test_a_form_of_models_is_no_form_of_rows(rows_of):
    with pytest.raises(UserError, match=r"gguf.*models;.*tsv"):
        rows_of("x.gguf", b"GGUF", format="gguf")


@pytest.mark.parametrize("break_", ["\u2028", "\u2029", "\x85", "\x0b", "\x1e"])
def test_only_a_line_feed_ends_a_line_of_json(rows_of, break_):
    text = f"first{break_}second"
    found = rows_of("x.jsonl", json.dumps({"text": text}, ensure_ascii=break_ in "\x0b\x1e") + '\n{"text": "third"}\n')
    assert list(found["text"]) == [text, "third"]


CELLS = {"whole": [1, None, 0], "part": [1, None, 0.5], "truth": [True, None, False], "text": ["a", None, "b"]}
STRINGS = {
    "whole": ["1", "", "0"], "part": ["1.0", "", "0.5"], "truth": ["True", "", "False"], "text": ["a", "", "b"],
}  # fmt: skip


@pytest.mark.parametrize("form", ["jsonl", "json", "parquet"])
def test_a_null_is_an_empty_cell_and_changes_no_other(rows_of, form):
    records = [dict(zip(CELLS, row, strict=True)) for row in zip(*CELLS.values(), strict=True)]
    del records[1]["part"]
    content = {"jsonl": "\n".join(map(json.dumps, records)), "json": json.dumps(records)}
    found = rows_of(f"x.{form}", parquet(**CELLS) if form == "parquet" else content[form])
    # Of a column's type only Parquet knows.
    assert found.drop(columns="id").to_dict("list") == STRINGS | (
        {} if form == "parquet" else {"part": ["1", "", "0.5"]}
    )


def test_a_null_of_the_hub_is_an_empty_cell_too():
    (found,) = sources.of_tables(datasets.Dataset.from_dict(CELLS).to_iterable_dataset(), Source(hub="some/data"))
    assert found.to_dict("list") == STRINGS


def test_words_in_a_list_are_joined_wherever_they_stand(rows_of):
    found = rows_of(
        "x.jsonl", '{"text": null}\n{"text": "one two"}\n{"text": ["three", "four"]}\n{"text": {"en": "a"}}'
    )
    assert list(found["text"]) == ["", "one two", "three four", ""]  # an object is no text


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
@pytest.mark.parametrize(
    ("cells", "found"), [(["x", None], "x"), ([None], ""), ([1, None], "1"), ([0.5, None, 2.5], "0.5 2.5")]
)
def test_a_null_in_a_list_is_no_word(rows_of, form, cells, found):
    content = parquet(text=[cells]) if form == "parquet" else json.dumps({"text": cells})
    assert list(rows_of(f"x.{form}", content)["text"]) == [found]


def test_the_text_of_a_time_does_not_hang_on_the_other_rows(rows_of):
    midnight, morning = pd.Timestamp("1970-01-01"), pd.Timestamp("1970-01-02 05:00")
    texts = ["1970-01-01 00:00:00", "1970-01-02 05:00:00"]
    assert list(rows_of("a.parquet", parquet(text=[midnight]))["text"]) == texts[:1]
    assert list(rows_of("b.parquet", parquet(text=[midnight, morning, None]))["text"]) == [*texts, ""]
    lengths = parquet(text=[pd.Timedelta(days=1)]), parquet(text=[pd.Timedelta(days=1), pd.Timedelta(hours=1)])
    alone, beside = (list(rows_of("c.parquet", content)["text"]) for content in lengths)
    assert alone == beside[:1] == ["1 days 00:00:00"]


def test_rows_of_json_may_be_lists_of_one_length(rows_of):
    assert list(rows_of("x.jsonl", '["1", "a"]\n["2", "b"]', columns={"text": 1})["text"]) == ["a", "b"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.jsonl", '["1", "a"]\n["2"]', r"not jsonl.*objects"),
        ("x.jsonl", '{"text": "a"}\n["b"]', r"not jsonl.*objects"),
        ("x.jsonl", '{"text": "a"}\n\n3', r"not jsonl.*objects"),
        ("x.jsonl", '{"text": "a"}\n{"text": ', r"not jsonl \(line 2: Expecting value"),
        ("x.jsonl", "", r"not jsonl \(no rows\)"),
        ("x.jsonl", '{"text": "a\\ud800"}', r"not jsonl \('utf-8' codec can't encode"),
        ("x.jsonl", "[" * 100_000, "not jsonl"),
        ("x.json", '{"1": "a"}', r"not json .*`format:`"),
        ("x.json", "[1, 2]", r"not json .*objects"),
        ("x-messages.json", '{"home": {"title": "Hello"}}', r"not messages .*'home' is no text; .*id -> text"),
        ("x-messages.json", '{"home": ["Hello"]}', r"not messages .*'home' is no text"),
        ("x.parquet", b"PAR1", "not parquet"),
        ("x.parquet", parquet(text=["a"] * 99)[:-50], "not parquet"),
        ("x.tsv.gz", gzip.compress(b"text\na\n", mtime=0)[:-4], r"not gzip.*again"),
        ("x.tsv.gz", b"text\na\n", "not gzip, or cut short"),
        ("x.tsv", "id\ttext\ttext\n1\ta\tb\n", r"columns.*'text'; rename"),
        ("x.csv", "id,text,text\n1,a,b\n", r"columns.*'text'; rename"),
        ("x.csv", "id,text\n1,a,b\n", r"row 2 has 3 fields, the first 2; .*quote"),
        ("x.csv", "id,text\n1,a\n2", r"x\.csv: row 3 has 1 fields, the first 2; write every cell"),
        ("x.csv", 'id,text\n1,"a\n2,b\n', r"x\.csv: ends within a quotation, in row 2; close it"),
        ("x.csv", "", r"x\.csv: empty; expected"),
        ("x.tsv", TSV.encode("utf-16"), r"byte 0.*UTF-8;.*convert"),
        ("x.txt", "Ina zuwa kasuwa yau\nda safe ne\n".encode("utf-16-le"), r"NUL.*UTF-16.*convert"),
        ("x.txt", "मैं घर जा रहा हूँ\nहाँ घर\n".encode("utf-16-le"), "not UTF-8|are NUL"),
    ],
)
def test_what_is_no_file_of_its_form_is_one_line(rows_of, name, content, message):
    with pytest.raises(UserError, match=message) as caught:
        form = {"format": "messages"} if "messages" in name else {}
        rows_of(name, content, columns={"text": 0} if "[" in str(content)[:2] else {}, **form)
    assert "\n" not in str(caught.value)


def test_columns_without_a_name_are_left_alone(rows_of):
    """As spreadsheets write them, at the end of every row."""
    assert list(rows_of("x.csv", "text,,\na,,\n")) == ["id", "text", "Unnamed: 1", "Unnamed: 2"]
    assert list(rows_of("x.tsv", "text\t\t\na\t\t\n")) == ["id", "text"]


@pytest.mark.parametrize("text", ["one\rtwo", "one\r", 'a "b"\rc', "one\n\rtwo"])
def test_a_lone_carriage_return_is_a_part_of_its_cell(rows_of, text):
    """As pandas writes it: in quotation marks only where something else asks for them."""
    content = pd.DataFrame({"text": [text, "next"], "label": ["x", "y"]}).to_csv(index=False)
    assert rows_of("x.csv", content).to_dict("list") == {"id": ["1", "2"], "text": [text, "next"], "label": ["x", "y"]}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\r\r\n"])
def test_lines_of_a_csv_may_end_in_any_way(rows_of, end):
    content = end.join(["text,label", "", 'a,"x"', "  ", '"b",y', ""])
    assert rows_of("x.csv", content).to_dict("list") == {"id": ["1", "2"], "text": ["a", "b"], "label": ["x", "y"]}


def test_a_row_of_a_csv_with_empty_cells_is_no_blank_line(rows_of):
    assert list(rows_of("x.csv", 'text\na\n""\n\nb\n')["text"]) == ["a", "", "b"]
    assert list(rows_of("x.csv", "text,label\n,\nb,y\n")["text"]) == ["", "b"]


def test_a_cell_of_a_csv_may_be_long(rows_of):
    text = "kalma " * 50_000
    assert list(rows_of("x.csv", f"text,label\n{text},x\n")["text"]) == [text]


def test_a_folder_asks_for_the_file_in_it(tmp_path):
    with pytest.raises(UserError, match=f"{tmp_path}: a folder.*`member:`"):
        read(Source(file=str(tmp_path), format="text"), Store(tmp_path, tmp_path / "lock.json"))


@pytest.mark.parametrize("kind", ["zip", "tar.gz"])
def test_a_damaged_archive_is_one_line(rows_of, kind):
    content = bytearray(archive(b"Ina zuwa kasuwa\n" * 5000, kind))
    content[len(content) // 2] ^= 0xFF
    with pytest.raises(UserError, match=r"unpacked.*again"):
        rows_of(f"x.{kind}", bytes(content), member="*.txt")


def test_a_column_that_one_of_several_files_lacks_is_told(tmp_path):
    (tmp_path / "a.csv").write_text("text,label\nx,good\n")
    (tmp_path / "b.csv").write_text("text\ny\n")
    source = Source(file=str(tmp_path), member="*.csv", columns={"text": "text"})
    store = Store(tmp_path / "downloads", tmp_path / "lock.json")
    assert list(read(source, store)["text"]) == ["x", "y"]
    with pytest.raises(UserError, match=r"'label'.*'\*.csv' has text"):
        read(source.updated({"columns": {"text": "text", "label": "label"}}), store)


def test_long_lines_and_odd_characters_pass(tmp_path):
    """A megabyte in a line, NUL, writing from the right, zero width: texts are cleaned, and no row is lost."""
    long = "kalma " * 170_000
    texts = [long, "da\0 dare", "\u202eda dare\u202c", "da\u200b dare", "da\u2028dare", "da\tdare"]
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join(json.dumps({"text": text}, ensure_ascii=False) for text in texts))
    store = Store(tmp_path / "downloads", tmp_path / "lock.json")
    found, _ = fetch(Source(file=str(path)), "text", store, Cleaning(), test=True)
    assert list(found["text"]) == [long.strip(), *["da dare"] * 5]


# ------------------------------------------------------------------------------------------------------------- damage

ODD = [
    "",
    " ",
    "\0",
    "\t",
    "\n",
    "\r",
    "\u2028",
    "\x85",
    "\u200b",
    "\ud800",
    None,
    True,
    1,
    2**70,
    1.5,
    ["a"],
    {},
    "+1",
]
BYTES = [b"\0", b"\t", b"\n", b"\r\n", b"\xff", b'"', b",", b"{", b"[", b"\xe2\x80\xa8", b"\xef\xbb\xbf"]


def drawn(kind, form, dice):
    """A file of a few rows with odd cells."""
    columns = ["id", *COLUMNS[kind]]
    rows = [
        {name: f"a few words {name} {number}" for name in columns} | {"id": str(number)}
        for number in range(dice.randrange(6))
    ]
    for row in rows:
        row |= {"score": 0.5, "label": 1} if dice.random() < 0.8 else {}
        if dice.random() < 0.3:
            row[dice.choice(columns)] = dice.choice(ODD)
    if form == "jsonl":
        return "\n".join(map(json.dumps, rows)).encode()
    if form == "parquet":
        return parquet(**{name: [str(row.get(name)).replace("\ud800", "") for row in rows] for name in columns})
    gap = {"tsv": "\t", "csv": ",", "txt": " "}[form]
    lines = [columns, *([str(row.get(name, "")) for name in columns] for row in rows)]
    return "\n".join(gap.join(line) for line in lines).encode("utf-8", "replace")


def damaged(content, dice):
    """Bytes cut off, changed, put in and taken out."""
    content = bytearray(content)
    for _ in range(dice.choice([0, 1, 1, 3]) if content else 0):
        place = dice.randrange(len(content) + 1)
        content[place : place + dice.choice([0, 0, 1, 5])] = dice.choice([b"", dice.randbytes(1), dice.choice(BYTES)])
    return bytes(content)[: dice.choice([None, None, len(content) // 2])]


@pytest.mark.parametrize("form", ["tsv", "csv", "jsonl", "parquet", "txt"])
def test_a_damaged_file_gives_a_corpus_or_one_line(tmp_path, form):
    """What is read can be written and read again, and its rows are accounted for."""
    dice, told, read_well = random.Random(7), 0, 0
    for round_ in range(120):
        kind, test = dice.choice(list(COLUMNS)), dice.random() < 0.5
        path = tmp_path / f"x.{form}{dice.choice(['', '.gz'])}"
        content = damaged(drawn(kind, form, dice), dice)
        path.write_bytes(damaged(gzip.compress(content, mtime=0), dice) if path.suffix == ".gz" else content)
        store = Store(tmp_path / "downloads", tmp_path / "lock.json")
        try:
            table, record = fetch(Source(file=str(path)), kind, store, Cleaning(min_words=1), test=test)
        except UserError as error:
            assert "\n" not in str(error), (round_, kind)
            told += 1
            continue
        write_table(table, tmp_path / "out.tsv")
        assert read_table(tmp_path / "out.tsv", ["id"]).equals(table.reset_index(drop=True)), (round_, kind)
        counts = record["counts"]
        dropped = sum(counts.get(reason, 0) for reason in ("repeated id", "blank", "out of bounds", "repeated"))
        assert "triplets" in counts or counts["read"] - dropped == counts["kept"] == len(table), (round_, kind)
        read_well += 1
    assert told > 10 and read_well > 2 - 2 * (form == "txt")


def test_compiled_translations_are_pairs_without_what_is_no_sentence(rows_of):
    catalogue = Catalog(locale="af")
    catalogue.add("Save the page", "Stoor die bladsy")
    catalogue.add("Open", "Maak oop", context="a door")
    catalogue.add("%(count)s pages", "%(count)s bladsye")
    catalogue.add("Press <b>here</b>", "Druk hier")
    catalogue.add("Hello {name}", "Hallo {name}")
    catalogue.add(("one page", "pages"), ("een bladsy", "bladsye"))
    catalogue.add("Not sure", "Onseker", flags=["fuzzy"])
    catalogue.add("Not yet", "")
    buffer = io.BytesIO()
    write_mo(buffer, catalogue)
    buffer.seek(0)
    assert gettext.GNUTranslations(buffer).gettext("Save the page") == "Stoor die bladsy"
    rows = rows_of("af.mo", buffer.getvalue(), columns={"text": "text", "pivot": "pivot"})
    assert sorted(zip(rows["pivot"], rows["text"], strict=True)) == [
        ("Open", "Maak oop"), ("Save the page", "Stoor die bladsy"),
    ]  # fmt: skip


@pytest.mark.parametrize("content", [b"", b"nothing", b"\xde\x12\x04\x95", b"\xde\x12\x04\x95" + b"\xff" * 40])
def test_what_is_no_compiled_translation_is_one_line(rows_of, content):
    with pytest.raises(UserError, match=r"af\.mo: not gettext") as caught:
        rows_of("af.mo", content, columns={"text": "text"})
    assert "\n" not in str(caught.value)

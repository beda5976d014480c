"""No row is lost without a word: ids, labels, and the counts of a record."""

import gzip
import json

import pytest

from seedbed.corpora.read.assets import Store
from seedbed.corpora.settings import Cleaning, Source
from seedbed.io import UserError
from tests.whole import fetch


@pytest.fixture
def fetched(tmp_path):
    """What is fetched of a TSV, or of another file by its ending."""

    def fetching(kind, content, *, test=True, name="x.tsv", **settings):
        (tmp_path / name).write_text(content)
        store = Store(tmp_path / "downloads", tmp_path / "lock.json")
        table, record = fetch(
            Source(file=str(tmp_path / name), **settings),
            kind,
            store,
            Cleaning(min_characters=1, min_words=1),
            test=test,
        )
        return table, record["counts"]

    return fetching


TWICE = "id\ttext\n1\tina zuwa\n2\tyara\n1\truwa\n2\tdare\n"


def test_a_test_set_whose_ids_repeat_is_refused(fetched):
    with pytest.raises(UserError, match=r"x\.tsv: id '1'.*several"):
        fetched("text", TWICE)
    assert len(fetched("text", TWICE, columns={"id": ["id", "text"], "text": "text"})[0]) == 4


def test_rows_of_a_training_corpus_whose_ids_repeat_are_counted(fetched):
    table, counts = fetched("text", TWICE, test=False)
    assert list(table["text"]) == ["ina zuwa", "yara"]
    assert counts == {"read": 4, "repeated id": 2, "out of bounds": 0, "repeated": 0, "kept": 2}


@pytest.mark.parametrize("test", [True, False])
@pytest.mark.parametrize(
    ("name", "content"),
    [("x.tsv", "id\ttext\n1\ta\n \tb\n\tc\n"), ("x.jsonl", '{"id": 1, "text": "a"}\n{"id": null, "text": "b"}')],
)
def test_a_row_without_an_id_is_refused(fetched, test, name, content):
    with pytest.raises(UserError, match="row 2 has no id"):
        fetched("text", content, test=test, name=name)


def test_ids_that_an_expression_makes_equal_are_refused(fetched):
    with pytest.raises(UserError, match="id 'a' appears in several rows"):
        fetched("text", "id\ttext\na1\tb\na2\tc\n", replace={"id": {r"\d": ""}})


def test_a_join_by_ids_that_repeat_is_refused(fetched, tmp_path):
    (tmp_path / "b.tsv").write_text("id\ttext\n1\tone\n1\tuno\n")
    join = {"pivot": {"file": str(tmp_path / "b.tsv")}}
    with pytest.raises(UserError, match=r"b\.tsv:.*'1'.*several"):
        fetched("parallel", "id\ttext\n1\tdaya\n", join=join)


def test_counts_lead_from_the_rows_read_to_those_kept(fetched, tmp_path):
    (tmp_path / "b.tsv").write_text("id\ttext\n" + "".join(f"{n}\tword {n}\n" for n in range(1, 9)))
    rows = "id\ttext\n" + "".join(f"{n}\tkalma {n}\n" for n in [*range(10), 3])
    settings = {"join": {"pivot": {"file": str(tmp_path / "b.tsv")}}, "buckets": (0, 70), "rows": 3}
    table, counts = fetched("parallel", rows, test=False, **settings)
    assert (counts["read"], counts["repeated id"], counts["without a match"]) == (11, 1, 2)
    left_out = sum(count for name, count in counts.items() if name not in ("read", "kept"))
    assert counts["read"] - left_out == counts["kept"] == len(table) == 3
    assert counts["other buckets"] + counts["not drawn"] == 5


def test_a_second_reading_is_counted_too_and_has_the_columns_of_the_first(fetched, tmp_path):
    (tmp_path / "more.tsv").write_text("id\ttext\tother\n1\tc\tx\n")
    table, counts = fetched("text", "id\ttext\n1\ta\n", rows=5, top_up={"file": str(tmp_path / "more.tsv")})
    assert list(table["id"]) == ["1", "+1"] and counts == {"read": 2, "kept": 2}
    with pytest.raises(UserError, match="no column 'pivot'; map it under"):
        fetched("parallel", "id\ttext\tpivot\n1\ta\tb\n", rows=5, top_up={"file": str(tmp_path / "more.tsv")})


def test_labelled_rows_are_counted_before_they_become_triplets(fetched):
    rows = "premise\thypothesis\tlabel\np\ty\t0\np\tn\t2\nq\ty\t0\n"
    assert fetched("triplets", rows, test=False)[1]["read"] == 3
    table, _ = fetched("triplets", "anchor\tpositive\tnegative\tlabel\na\tb\tc\tx\n", test=False)
    assert len(table) == 1  # a label that is no label of pairs


@pytest.mark.parametrize("label", ["", " ", None])
def test_a_missing_label_is_no_class(fetched, label):
    rows = [{"text": "a", "label": 1}, {"text": "b", "label": label}, {"text": "c", "label": 0}]
    with pytest.raises(UserError, match=r"'2' has no label.*1 of 3.*give"):
        fetched("labelled_texts", "\n".join(map(json.dumps, rows)), name="x.jsonl")
    table, _ = fetched("labelled_texts", json.dumps(rows[::2]), name="x.json")
    assert list(table["label"]) == ["1", "0"]


@pytest.mark.parametrize(
    ("column", "cell"), [("id", "a\tb"), ("label", "good\nbad"), ("label", "a\0"), ("id", "a\x85")]
)
def test_an_id_or_a_label_of_several_lines_is_told(fetched, column, cell):
    row = {"id": "1", "text": "a", "label": "good"} | {column: cell}
    with pytest.raises(UserError, match=f"{column} .* tab, .*take it out"):
        fetched("labelled_texts", json.dumps([row]), name="x.json")


def test_the_record_of_a_test_set_says_what_is_odd_about_it(fetched):
    pairs = "text\tpivot\na\tone\nb\ttwo\na\tthree\n\tfour\n"
    assert fetched("parallel", pairs)[1] == {"read": 4, "blank, kept": 1, "repeated, kept": 2, "kept": 4}
    judged = "query\tquery_id\tdocument\trelevance\nq\tq1\td\t0\nq\tq1\te\t1\nr\tr1\td\t0\n\t\tf\t\n"
    assert fetched("retrieval", judged)[1] == {"read": 4, "queries without a relevant document": 1, "kept": 4}


def test_a_null_in_an_optional_column_is_empty(fetched):
    rows = [{"query": "q", "query_id": "1", "document": "d", "relevance": 1}, {"document": "e", "relevance": None}]
    table, _ = fetched("retrieval", json.dumps(rows), name="x.json")
    assert table.iloc[1].to_dict() == {"id": "2", "query": "", "document": "e", "query_id": "", "relevance": ""}


def test_a_file_that_is_packed_or_not_gives_the_same_corpus(tmp_path, fetched):
    plain, counts = fetched("text", TWICE, test=False)
    (tmp_path / "y.tsv.gz").write_bytes(gzip.compress(TWICE.encode()))
    store = Store(tmp_path / "downloads", tmp_path / "lock.json")
    packed, record = fetch(
        Source(file=str(tmp_path / "y.tsv.gz")), "text", store, Cleaning(min_characters=1, min_words=1)
    )
    assert packed.equals(plain) and record["counts"] == counts


def test_blanks_around_ids_and_labels_tell_nothing_apart(fetched):
    with pytest.raises(UserError, match=r"id '1 '.*several"):
        fetched("text", "id\ttext\n1\ta\n1 \tb\n")
    table, _ = fetched("labelled_texts", "id\ttext\tlabel\n1\ta\tgood\n2\tb\tgood \n")
    assert list(table["label"]) == ["good", "good"]


def test_labels_that_differ_in_case_alone_are_refused(fetched):
    with pytest.raises(UserError, match="labels 'good' and 'Good' differ in case alone; write both alike"):
        fetched("labelled_texts", "id\ttext\tlabel\n1\ta\tgood\n2\tb\tGood\n")


def test_two_encodings_of_a_label_are_one(fetched):
    rows = "id\ttext\tlabel\n1\ta\tne\u0301e\n2\tb\tnée\n3\tc\tother\n"
    for asked in (["née"], ["ne\u0301*"]):
        table, _ = fetched("labelled_texts", rows, where={"label": asked})
        assert list(table["label"]) == ["née", "née"]


def test_a_translation_that_is_dropped_for_one_side_leaves_its_other_side_to_later_rows(fetched):
    rows = "id\ttext\tpivot\n1\tina zuwa\tI come\n2\tajiye\tI come\n3\tajiye\tsave\n4\tina zuwa\tcoming\n"
    table, counts = fetched("parallel", rows, test=False)
    assert list(table["id"]) == ["1", "3"] and counts["repeated"] == 2


@pytest.mark.parametrize("passage", ["The cat sat.", ""])
def test_questions_of_one_passage_or_none_are_all_kept_and_repeated_ones_are_not(fetched, passage):
    asked = ["Who sat?", "Where did it sit?", "who sat"]
    rows = [{"passage": passage, "question": each, "answers": '["a", "b"]', "correct": 1} for each in asked]
    table, counts = fetched("choices", json.dumps(rows), name="x.json", test=False)
    assert list(table["question"]) == asked[:2] and counts["repeated"] == 1

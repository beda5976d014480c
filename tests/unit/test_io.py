"""Tables and outputs: what is written is read back, and nothing half-written is left."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedbed.io import UserError, atomic, atomic_directory, fingerprint, read_table, sha256, write_json, write_table

cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r"), min_size=1)


@given(st.lists(cells, min_size=1, max_size=5))
def test_a_table_is_read_back_unchanged(tmp_path_factory, texts):
    path = tmp_path_factory.mktemp("io") / "table.tsv"
    table = pd.DataFrame({"id": [str(n) for n in range(len(texts))], "text": texts})
    write_table(table, path)
    pd.testing.assert_frame_equal(read_table(path, ["id", "text"]), table, check_dtype=False)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "no such file"),
        (b"", "no column 'id'"),
        (b"id\ttext\n", "no rows below the header"),
        (b"id\tother\n1\ta\n", r"column 'text'.*id, other"),
        (b"id\ttext\n1\ta\tb\n", "row 2 has 3 fields"),
        (b"id\ttext\n1\ta\n1\tb\n", "id '1' appears twice"),
        (b"id\ttext\n1\t\xff\n", "byte 10 is not UTF-8"),
    ],
)
def test_bad_tables_say_what_is_wrong_and_where(tmp_path, content, message):
    path = tmp_path / "bad.tsv"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UserError, match=message) as caught:
        read_table(path, ["id", "text"])
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path):
    path = tmp_path / "file.txt"
    path.write_text("old")
    with pytest.raises(RuntimeError), atomic(path) as temporary:
        temporary.write_text("new")
        raise RuntimeError
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_directory_leaves_the_old_one_and_no_other(tmp_path):
    path = tmp_path / "model"
    for content in ("first", "second"):
        with atomic_directory(path) as temporary:
            (temporary / "weights").write_text(content)
    with pytest.raises(RuntimeError), atomic_directory(path) as temporary:
        (temporary / "weights").write_text("third")
        raise RuntimeError
    assert (path / "weights").read_text() == "second"
    assert list(tmp_path.iterdir()) == [path]


def test_a_directory_is_readable_for_all(tmp_path):
    with atomic_directory(tmp_path / "model") as temporary:
        (temporary / "part").mkdir(mode=0o700)
        for file in (temporary / "weights", temporary / "part" / "weights"):
            file.touch(mode=0o600)
    modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "model", *(tmp_path / "model").rglob("*"))}
    assert modes == {"model": 0o755, "part": 0o755, "weights": 0o644}


def test_json_refuses_nan_and_leaves_nothing(tmp_path):
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json({"score": float("nan")}, tmp_path / "x.json")
    assert not list(tmp_path.iterdir())


def test_digests_depend_on_content_and_names_alone(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "file").write_text("same")
    assert sha256(tmp_path / "a") == sha256(tmp_path / "b")
    (tmp_path / "b" / "file").rename(tmp_path / "b" / "other")
    assert sha256(tmp_path / "a") != sha256(tmp_path / "b")
    assert fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": 1})

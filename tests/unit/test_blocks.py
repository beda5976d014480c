"""Tables in blocks: what is drawn, seen and looked up does not depend on where one block ends."""

import numpy as np
import pandas as pd
import pytest

from seedbed.blocks import Lookup, Seen, SeenRows, Spool, concatenate, sample, select_rows

TABLE = pd.DataFrame(
    {"id": [f"r{n}" for n in range(1000)], "text": [f"text {n % 700}" for n in range(1000)]}, dtype=str
)


def blocks(size):
    return (TABLE[start : start + size] for start in range(0, len(TABLE), size))


@pytest.mark.parametrize("size", [1, 7, 999, 1000])
def test_a_draw_is_that_of_pandas_whatever_the_blocks(size):
    """Which drew whole tables before: the rows of a seed stay."""
    for rows, count, seed in ((1000, 10, 42), (1000, 999, 1), (1000, 1000, 7)):
        expected = TABLE.sample(count, random_state=seed).sort_index()
        drawn = concatenate(select_rows(blocks(size), sample(rows, count, seed)))
        pd.testing.assert_frame_equal(drawn, expected.reset_index(drop=True))
    assert sample(10, 20, 1).all()


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_what_came_before_is_known_across_blocks(size):
    seen = Seen()
    new = np.concatenate([seen.new(block["text"]) for block in blocks(size)])
    assert list(new) == list(~TABLE["text"].duplicated())


def test_a_key_that_is_removed_is_new_again():
    seen = Seen()
    assert [*seen.new("aba")] == [True, True, False]
    seen.remove("a")
    assert [*seen.new("ab")] == [True, False]


def test_a_row_that_is_not_kept_blocks_none_of_its_keys():
    rows = SeenRows(["a", "b"])
    assert [rows.repeated(keys) for keys in ("xy", "zy", "zw", "xw", "uv")] == ["", "b", "", "a", ""]
    assert SeenRows([]).repeated([]) == ""


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_the_first_row_of_a_key_is_found(size):
    table = Lookup(blocks(size), lambda block: list(block["text"]))
    assert table.find(["text 5", "text 699", "text 700"]) == [("r5", "text 5"), ("r699", "text 699"), None]
    assert len(table) == 1000
    pd.testing.assert_frame_equal(concatenate(table.blocks()), TABLE)


def test_a_spool_is_read_twice_and_keeps_blocks_that_differ():
    other = pd.DataFrame({"id": ["x"], "more": ["\x00 \u2028"]}, dtype=str)
    spool = Spool(iter([TABLE, TABLE[:0], other]))
    for _ in range(2):
        first, empty, last = spool
        pd.testing.assert_frame_equal(first, TABLE)
        pd.testing.assert_frame_equal(last, other)
        assert empty.empty and list(empty) == ["id", "text"]
    assert len(spool) == 1001

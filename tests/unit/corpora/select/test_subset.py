"""A part of a table: a sample, nested, the same wherever it is drawn."""

import pandas as pd

from seedbed.corpora.select import subset as subsets
from seedbed.corpora.select.subset import sentences, subset

TABLE = pd.DataFrame({"id": [f"r{number}" for number in range(1000)], "text": range(1000)})


def test_a_subset_keeps_the_order_and_is_part_of_a_larger_one():
    small, large = subset(TABLE, 50), subset(TABLE, 400)
    assert (len(small), len(large)) == (50, 400)
    assert small["text"].is_monotonic_increasing and set(small["id"]) < set(large["id"])
    for rows in (0, 1000, 2000):
        assert subset(TABLE, rows) is TABLE


def test_a_subset_is_a_sample_of_a_sorted_table():
    assert 400 < subset(TABLE, 200)["text"].mean() < 600


def test_what_an_audit_leaves_of_a_subset_is_the_subset_of_what_it_leaves():
    kept = TABLE[TABLE["text"] % 3 > 0]
    written = subset(TABLE, 600)
    assert set(subset(kept, 100)["id"]) == set(subset(written[written["text"] % 3 > 0], 100)["id"])


def test_a_language_is_told_by_the_same_sentences_whatever_the_blocks(monkeypatch):
    monkeypatch.setattr(subsets, "SENTENCES", 100)
    drawn = [sentences(TABLE[start : start + size] for start in range(0, 1000, size)) for size in (1000, 99, 7)]
    for table in [*drawn, sentences(iter([drawn[0]]))]:
        assert list(table["id"]) == list(subset(TABLE, 100)["id"])

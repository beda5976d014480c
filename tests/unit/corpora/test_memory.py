"""A corpus six times as large needs no more memory: the benchmark, in small."""

import pytest

from benchmarks.corpora_memory import CASES, measure

WORDS = 150
"""Of a sentence: a kilobyte, so that few rows are many bytes."""
FEW, MANY = 2_000, 12_000
"""Rows: some megabytes, of which all blocks are full, and six times as many."""


@pytest.mark.parametrize("case", CASES)
def test_memory_does_not_grow_with_a_corpus(case):
    few, many = (measure(case, rows, WORDS).megabytes for rows in (FEW, MANY))
    assert many < 1.2 * few + 8, f"{few:.0f} MiB, then {many:.0f}"

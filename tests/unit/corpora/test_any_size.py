"""A corpus several times as large needs no more memory: the benchmark, in small."""

import pytest

from benchmarks.corpora_memory import measure

WORDS = 150
"""Of a sentence: a kilobyte, so that few rows are many bytes."""
ROWS = {"drawn": (6_000, 60_000), "parallel": (6_000, 40_000), "anchors": (500, 2_000), "audit": (500, 2_000)}
"""In the smaller corpus all blocks and caches are full; the larger one in memory would take tens of megabytes more."""


@pytest.mark.parametrize("case", ROWS)
def test_memory_does_not_grow_with_a_corpus(case):
    few, many = (measure(case, rows, WORDS).megabytes for rows in ROWS[case])
    assert many < 1.15 * few + 15, f"{few:.0f} MiB, then {many:.0f}"

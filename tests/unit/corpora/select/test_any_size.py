"""A corpus several times as large needs no more memory, and what is drawn of it does not hang on how it is read."""

from __future__ import annotations

import gzip
import tarfile
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

from benchmarks.corpora_memory import CASES, Cost, anchors, measure
from seedbed import io
from seedbed.corpora.read.assets import Store
from seedbed.corpora.settings import Source
from seedbed.io import UserError
from tests.whole import read

WORDS = 150
"""Of a sentence: a kilobyte, so that few rows are many bytes."""
PARTS = 32
"""Blocks and caches are this many times smaller than usual."""
PLAIN = CASES | {"anchors": partial(anchors, identified=False)}
ROWS = {
    "documents": (1_500, 12_000),
    "drawn": (1_000, 8_000),
    "parallel": (300, 3_000),
    "sampled": (300, 3_000),
    "anchors": (300, 6_000),
}
"""In the smaller corpus all blocks and caches are full; the larger one in memory would take some ten megabytes more. Of
the audit, whose intervals take memory up to some ten thousand rows, the benchmark alone says it."""


@pytest.fixture(scope="module")
def costs() -> dict[tuple[str, int], Cost]:
    """Case, rows -> what it took; no process may have more than 2 GiB."""
    runs = [(case, rows) for case in ROWS for rows in ROWS[case]]
    return dict(zip(runs, measure([(PLAIN[case], rows) for case, rows in runs], WORDS, PARTS), strict=True))


@pytest.mark.parametrize("case", ROWS)
def test_memory_does_not_grow_with_a_corpus(case: str, costs: dict[tuple[str, int], Cost]) -> None:
    """The benchmark, in small."""
    few, many = (costs[case, rows].megabytes for rows in ROWS[case])
    assert many < few + 3, f"{few:.1f} MiB, then {many:.1f}"


@pytest.fixture
def sampled(tmp_path: Path):
    """Reads a hundred pairs of two compressed members of an archive, whose rows belong together by their places."""

    def reading(src: int, trg: int) -> pd.DataFrame:
        with tarfile.open(tmp_path / "eng-swa.tar", "w") as archive:
            for side, rows in (("src", src), ("trg", trg)):
                lines = "".join(f"{side} {row}\n" for row in range(1, rows + 1))
                (tmp_path / side).write_bytes(gzip.compress(lines.encode()))
                archive.add(tmp_path / side, f"data/release/eng-swa/train.{side}.gz")
        source = Source(
            file=str(tmp_path / "eng-swa.tar"),
            member="*/train.trg.gz",
            format="text",
            join={"pivot": {"member": "*/train.src.gz"}},
            rows=100,
        )
        return read(source, Store(tmp_path / "downloads", tmp_path / "lock.json"))

    return reading


def test_a_sample_is_the_same_whatever_the_blocks(sampled, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = sampled(3000, 3000)
    rows = drawn["id"].astype(int)
    assert rows.is_monotonic_increasing and rows.is_unique and len(rows) == 100 and rows.max() - rows.min() > 2000
    assert list(drawn["text"]) == [f"trg {row}" for row in rows]
    assert list(drawn["pivot"]) == [f"src {row}" for row in rows], "a sentence has its translation"
    for size in (64, 1000, 50_000):
        monkeypatch.setattr(io, "PART", size)
        pd.testing.assert_frame_equal(sampled(3000, 3000), drawn)


def test_sides_of_unequal_length_are_told_before_anything_is_drawn(sampled) -> None:
    with pytest.raises(UserError, match=r"3000 rows.*2999.*places"):
        sampled(2999, 3000)

"""Memory of what reads corpora, at two sizes: the peak must not grow with them.

Writes the corpora, runs each program in a process of its own, and prints the most resident memory that it held beyond
what its imports take, and its CPU seconds. No process may have more than LIMIT bytes of address space:

    python -m benchmarks.corpora_memory [--rows 300000 3000000] [--cases text parquet ...]
"""

from __future__ import annotations

import argparse
import gzip
import json
import lzma
import os
import random
import resource
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet

MEASURED = """
import importlib, json, os, re, sys, time
from pathlib import Path

def memory(name):
    return int(re.search(name + r":\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024

parts, *runs = sys.argv[1:]
from seedbed import blocks, io
blocks.ROWS //= int(parts)  # before whoever imports it by name
blocks.CACHE //= int(parts)
io.PART //= int(parts)
from seedbed.corpora.select import language_id
language_id.BATCH //= int(parts)
from scripts import cli
runs = list(map(json.loads, runs))
programs = {name: importlib.import_module("scripts." + name) for name, *_ in runs}
corpora = ("corpora.select.anchors", "corpora.read.fetch", "corpora.select.pairs")
for module in (*corpora, "triplets.audit", "triplets.translations"):
    importlib.import_module("seedbed." + module)  # what programs import when they run
for name, *arguments in runs:  # each after the same imports, in a process of its own
    if child := os.fork():
        if code := os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
            sys.exit(code)
        continue
    before, begun = memory("VmRSS"), time.process_time()
    programs[name].main(cli.read(programs[name].Job, arguments))
    print(json.dumps({"megabytes": memory("VmHWM") - before, "seconds": time.process_time() - begun}), flush=True)
    break
"""
WORDS = [
    "yara",
    "mata",
    "maza",
    "kasuwa",
    "gona",
    "yau",
    "jiya",
    "safe",
    "suna",
    "zuwa",
    "dawo",
    "daga",
    "cikin",
    "ruwa",
]
PIVOT = [
    "child",
    "woman",
    "man",
    "market",
    "farm",
    "today",
    "yesterday",
    "morning",
    "are",
    "going",
    "came",
    "from",
    "in",
]


LIMIT = 2**31
"""Bytes of address space that a process may have: 2 GiB."""


Case = Callable[[Path, int, int], list[str]]
"""Writes into a folder corpora of so many sentences, of so many words; gives a program and its arguments."""


class Cost(NamedTuple):
    """Of one run of a program."""

    megabytes: float
    """Peak resident memory above that of its imports."""
    seconds: float
    """Of the CPU."""


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", nargs=2, type=int, default=[300_000, 3_000_000])
    parser.add_argument("--words", type=int, default=10, help="of a sentence")
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=list(CASES))
    args = parser.parse_args(argv)
    for case in args.cases:
        few, many = measure([(CASES[case], rows) for rows in args.rows], args.words)
        print(
            f"{case:10} {few.megabytes:6.0f} MiB {few.seconds:6.0f} s   {many.megabytes:6.0f} MiB {many.seconds:6.0f} s"
            f"   {many.megabytes / few.megabytes:.2f}",
            flush=True,
        )


def measure(runs: Sequence[tuple[Case, int]], words: int, parts: int = 1) -> list[Cost]:
    """Run cases on corpora of so many sentences each, of so many words; what each run took.

    Args:
        parts: blocks and caches are this many times smaller than usual, so that a small corpus fills them.
    """
    with tempfile.TemporaryDirectory() as root:
        commands = []
        for number, (case, rows) in enumerate(runs):
            folder = Path(root, str(number))
            folder.mkdir()
            commands.append(json.dumps(case(folder, rows, words)))
        # What an allocator keeps for later is no data, and differs from run to run.
        plain = os.environ | {"ARROW_DEFAULT_MEMORY_POOL": "system", "OMP_NUM_THREADS": "1"}
        plain |= {"MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": str(2**16)}
        measured = [sys.executable, "-c", MEASURED, str(parts), *commands]
        limited = partial(resource.setrlimit, resource.RLIMIT_AS, (LIMIT, LIMIT))
        done = subprocess.run(measured, env=plain, stdout=subprocess.PIPE, text=True, check=True, preexec_fn=limited)
    return [Cost(**json.loads(line)) for line in done.stdout.splitlines() if line.startswith('{"megabytes"')]


def sentences(rows: int, words: int, known: list[str] = WORDS, seed: int = 0) -> Iterator[str]:
    """Drawn words after the row's number; a tenth repeat the one before."""
    draw, text = random.Random(seed), ""
    for row in range(rows):
        text = text if row % 10 == 9 else " ".join([str(row), *draw.choices(known, k=words - 1)])
        yield text


def fetching(folder: Path, kind: str, source: dict, words: int) -> list[str]:
    """The arguments of `fetch_corpus`, with bounds that keep long sentences."""
    return [
        *("fetch_corpus", "--kind", kind, "--source", json.dumps(source)),
        *("--cleaning", json.dumps({"max_characters": 20 * words})),
        *("--downloads", str(folder / "downloads"), "--lock", str(folder / "lock.json")),
        *("--output", str(folder / "out.tsv"), "--record", str(folder / "out.json")),
    ]


def text(folder: Path, rows: int, words: int) -> list[str]:
    """Lines, compressed (NLLB)."""
    with gzip.open(folder / "corpus.txt.gz", "wt", compresslevel=1) as file:
        file.writelines(f"{sentence}\n" for sentence in sentences(rows, words))
    return fetching(folder, "text", {"file": str(folder / "corpus.txt.gz")}, words)


def documents(folder: Path, rows: int, words: int) -> list[str]:
    """Half in documents of ten lines, as long as others' rows, of which half are read; then lines compressed by
    xz (MADLAD-400, CC100)."""
    every = sentences(rows, max(words // 10, 5))
    with gzip.open(folder / "documents.jsonl.gz", "wt", compresslevel=1) as file:
        while lines := [one for one, _ in zip(every, range(10), strict=False)]:
            file.write(json.dumps({"text": r"\n".join(lines)}) + "\n")
    with lzma.open(folder / "corpus.txt.xz", "wt", preset=0) as file:
        file.writelines(f"{sentence}\n" for sentence in sentences(rows, max(words // 10, 5), seed=1))
    more = {"file": str(folder / "corpus.txt.xz"), "first": rows, "explode": {}}
    first = {"file": str(folder / "documents.jsonl.gz"), "first": rows // 20, "explode": {"text": r"\\n"}}
    return fetching(folder, "text", {**first, "rows": rows, "top_up": more}, words)


def drawn(folder: Path, rows: int, words: int) -> list[str]:
    """Some of the rows of a table that pass a filter (Aya)."""
    names = ["id", "task", "inputs", "targets"]
    with pyarrow.parquet.ParquetWriter(
        folder / "aya.parquet", pa.schema([(name, pa.string()) for name in names])
    ) as file:
        every = enumerate(sentences(rows, words))
        while block := [(str(row), "summarization" if row % 2 else "other", one, one) for row, one in _some(every)]:
            file.write_table(pa.table(dict(zip(names, zip(*block, strict=True), strict=True))))
    columns = {"id": ["task", "id"], "prompt": "inputs", "response": "targets"}
    source = {
        "file": str(folder / "aya.parquet"),
        "where": {"task": ["summ*"]},
        "columns": columns,
        "rows": min(20_000, rows // 3),
    }
    return fetching(folder, "instructions", source, words)


def _some(every: Iterator[tuple[int, str]]) -> list[tuple[int, str]]:
    return [one for one, _ in zip(every, range(1000), strict=False)]


def parallel(folder: Path, rows: int, words: int) -> list[str]:
    """Two files of lines (NLLB)."""
    with zipfile.ZipFile(folder / "pairs.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for side, known in (("ha", WORDS), ("en", PIVOT)):
            with archive.open(f"pairs.{side}", "w", force_zip64=True) as file:
                file.writelines(f"{sentence}\n".encode() for sentence in sentences(rows, words, known))
    source = {
        "file": str(folder / "pairs.zip"),
        "member": "*.ha",
        "format": "text",
        "join": {"pivot": {"member": "*.en"}},
    }
    return fetching(folder, "parallel", source, words)


def sampled(folder: Path, rows: int, words: int) -> list[str]:
    """Some of the pairs of two compressed files, whose rows belong together by their places (Tatoeba Challenge)."""
    with tarfile.open(folder / "eng-hau.tar", "w") as archive:
        for side, known in (("trg", WORDS), ("src", PIVOT)):
            with gzip.open(folder / side, "wt", compresslevel=1) as file:
                file.writelines(f"{sentence}\n" for sentence in sentences(rows, words, known))
            archive.add(folder / side, f"data/release/eng-hau/train.{side}.gz")
    source = {
        "file": str(folder / "eng-hau.tar"),
        "member": "*/train.trg.gz",
        "format": "text",
        "join": {"pivot": {"member": "*/train.src.gz"}},
        "rows": min(20_000, rows // 3),
    }
    return fetching(folder, "parallel", source, words)


def _tsv(path: Path, columns: dict[str, Iterator[str]]) -> str:
    with path.open("w") as file:
        file.write("\t".join(["id", *columns]) + "\n")
        file.writelines(
            "\t".join([str(row), *cells]) + "\n" for row, cells in enumerate(zip(*columns.values(), strict=True))
        )
    return str(path)


def anchors(folder: Path, rows: int, words: int, *, identified: bool = True) -> list[str]:
    """All of a corpus is looked at. To tell its language takes most of the time, and memory for one batch."""
    corpus = _tsv(folder / "text.tsv", {"text": sentences(rows, words)})
    test = _tsv(folder / "test.tsv", {"text": sentences(1000, words, seed=1)})
    return [
        *(
            "select_anchors",
            "--corpus",
            corpus,
            "--tests",
            test,
            "--script",
            "Latn",
            *(["--pivot", _pivot(folder, rows, words)] if identified else []),
        ),
        *("--anchors", json.dumps({"count": 20_000}), "--output", str(folder / "o"), "--audit", str(folder / "a")),
    ]


def audited(folder: Path, rows: int, words: int) -> list[str]:
    """As many triplets as the corpus has sentences."""
    sides = {
        "anchor": sentences(rows, words),
        "positive": (f"da {sentence}" for sentence in sentences(rows, words)),
        "negative": (f"ba {sentence}" for sentence in sentences(rows, words)),
    }
    corpus = _tsv(folder / "text.tsv", {"text": sentences(min(rows, 20_000), words)})
    return [
        *("audit_triplets", "--triplets", _tsv(folder / "t.tsv", sides), "--corpus", corpus),
        *("--pivot", _pivot(folder, rows, words), "--script", "Latn", "--audit", json.dumps({"script_share": 0.5})),
        *("--output", str(folder / "kept"), "--rejected", str(folder / "rejected"), "--report", str(folder / "report")),
    ]


def _pivot(folder: Path, rows: int, words: int) -> str:
    """Sentences that the language is told from."""
    return _tsv(folder / "pivot.tsv", {"text": sentences(min(rows, 20_000), words, PIVOT)})


CASES: dict[str, Case] = {
    "text": text, "documents": documents, "drawn": drawn, "parallel": parallel, "sampled": sampled, "anchors": anchors,
    "audit": audited,
}  # fmt: skip

if __name__ == "__main__":
    main()

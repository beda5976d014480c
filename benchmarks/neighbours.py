"""Exact search: `neighbours.nearest` beside faiss's flat index, a blocked torch product, and faiss's inverted lists.

Prints CPU seconds, the least of some rounds that take turns, memory above the vectors at its peak, and in how many rows
each finds the neighbours of `nearest`, whose order is by distances in float64 and then by place. The queries are those
of a mining or a test set; an index is made anew, since the corpus of such is searched once:

    OMP_NUM_THREADS=1 python -m benchmarks.neighbours [--queries 9000 --corpus 9000 --dimension 384 --k 10]
    OMP_NUM_THREADS=1 python -m benchmarks.neighbours --queries 100 --corpus 10000000 --on-disk DIR --ways ours
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import faiss
import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.models import memory
from seedbed.vectors.neighbours import nearest

CELLS = 2**25
"""Products that torch holds at once."""
ROWS = 2**16
"""Rows of the corpus that are drawn at once."""
PROBES = 32
"""Lists that are searched for a query."""


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=9000)
    parser.add_argument("--corpus", type=int, default=9000)
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--equal", type=float, default=0.05, help="share of the corpus that is there twice")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--ways", nargs="+", choices=SEARCHES, default=["ours", "faiss", "torch"])
    parser.add_argument("--on-disk", type=Path, help="a folder for the corpus, which is then read as a memory map")
    args = parser.parse_args(argv)

    faiss.omp_set_num_threads(args.threads)
    torch.set_num_threads(args.threads)
    with tempfile.TemporaryDirectory(dir=args.on_disk) as folder:
        queries, corpus = vectors(args, Path(folder) if args.on_disk else None)
        seconds, peaks = dict.fromkeys(args.ways, np.inf), dict.fromkeys(args.ways, 0.0)
        for _ in range(args.rounds):
            found = {}
            for name in args.ways:
                Path("/proc/self/clear_refs").write_text("5")  # the peak starts here
                before, start = memory("VmRSS"), time.process_time()
                found[name] = SEARCHES[name](queries, corpus, args.k)
                seconds[name] = min(seconds[name], time.process_time() - start)
                peaks[name] = max(peaks[name], memory("VmHWM") - before)
    for name in args.ways:
        line = f"{name:6} {seconds[name]:8.2f} CPU s, peak + {peaks[name]:.0f} MiB"
        if "ours" in args.ways:
            same = (found[name] == found["ours"]).all(axis=1).mean()
            among = (found["ours"][:, :, None] == found[name][:, None]).any(axis=2).mean()
            line += f", {seconds[name] / seconds['ours']:.2f} of ours; the same rows: {same:.1%}; recall {among:.1%}"
        print(line)


def vectors(args: argparse.Namespace, folder: Path | None) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Rows of length 1; each query is a neighbour of one row of the corpus, part of which is there twice."""
    rng = np.random.default_rng(0)
    shape, twice = (args.corpus, args.dimension), int(args.equal * args.corpus)
    corpus = np.empty(shape, np.float32)
    if folder:
        corpus = np.lib.format.open_memmap(folder / "corpus.npy", "w+", np.float32, shape)
    for start in range(0, args.corpus, ROWS):
        rows = rng.standard_normal((min(ROWS, args.corpus - start), args.dimension), np.float32)
        corpus[start : start + ROWS] = _unit(rows)
    for start in range(0, twice, ROWS):
        end = min(start + ROWS, twice)
        corpus[start:end] = corpus[twice + start : twice + end]
    queries = corpus[np.sort(rng.integers(args.corpus, size=args.queries))]
    noise = rng.standard_normal(queries.shape, np.float32) / np.float32(np.sqrt(args.dimension))
    return _unit(queries + np.float32(0.5) * noise), corpus


def _unit(x: NDArray[np.float32]) -> NDArray[np.float32]:
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def by_faiss(queries: NDArray, corpus: NDArray, k: int) -> NDArray[np.int64]:
    index = faiss.IndexFlatL2(corpus.shape[1])
    index.add(corpus)
    return index.search(queries, k)[1]


def by_lists(queries: NDArray, corpus: NDArray, k: int) -> NDArray[np.int64]:
    """faiss's inverted lists, 4 sqrt(m) of them as its guidelines say, trained on 40 rows for each."""
    lists = max(1, int(4 * len(corpus) ** 0.5))
    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(corpus.shape[1]), corpus.shape[1], lists)
    sample = np.random.default_rng(0).choice(len(corpus), min(40 * lists, len(corpus)), replace=False)
    index.train(corpus[np.sort(sample)])
    index.add(corpus)
    index.nprobe = PROBES
    return index.search(queries, k)[1]


def by_torch(queries: NDArray, corpus: NDArray, k: int) -> NDArray[np.int64]:
    rows = torch.from_numpy(corpus)
    lengths = (rows * rows).sum(1)
    blocks = torch.from_numpy(queries).split(max(1, CELLS // len(corpus)))
    found = [torch.addmm(lengths, block, rows.T, alpha=-2).topk(k, largest=False).indices for block in blocks]
    return torch.cat(found).numpy()


SEARCHES: dict[str, Callable[[NDArray, NDArray, int], NDArray[np.int64]]] = {
    "ours": lambda queries, corpus, k: nearest(queries, corpus, k, metric="euclidean")[1],
    "faiss": by_faiss,
    "torch": by_torch,
    "lists": by_lists,
}


if __name__ == "__main__":
    main()

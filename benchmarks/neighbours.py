"""Exact search: `neighbours.nearest` beside faiss's flat index and a blocked torch product, on one thread.

Prints seconds of the clock, the least of some rounds that take turns, and in how many rows each finds the neighbours of
`nearest`, whose order is by distances in float64 and then by place:

    OMP_NUM_THREADS=1 python -m benchmarks.neighbours [--queries 9000 --corpus 9000 --dimension 384 --k 10]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import faiss
import numpy as np
import torch
from numpy.typing import NDArray

from seedbed.vectors.neighbours import nearest

BLOCK = 1024
"""Queries that torch compares at once."""


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=9000)
    parser.add_argument("--corpus", type=int, default=9000)
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--equal", type=float, default=0.05, help="share of the corpus that is there twice")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args(argv)

    faiss.omp_set_num_threads(1)
    torch.set_num_threads(1)
    queries, corpus = vectors(args)
    least = dict.fromkeys(SEARCHES, np.inf)
    for _ in range(args.rounds):
        found = {}
        for name, search in SEARCHES.items():
            start = time.perf_counter()
            found[name] = search(queries, corpus, args.k)
            least[name] = min(least[name], time.perf_counter() - start)
    for name, seconds in least.items():
        same = (found[name] == found["ours"]).all(axis=1).mean()
        print(f"{name:6} {seconds:7.2f} s, {seconds / least['ours']:.2f} of ours; the same rows: {same:.1%}")


def vectors(args: argparse.Namespace) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Rows of length 1; each query is a neighbour of one row of the corpus, part of which is there twice."""
    rng = np.random.default_rng(0)
    corpus = rng.standard_normal((args.corpus, args.dimension))
    twice = int(args.equal * args.corpus)
    corpus[:twice] = corpus[twice : 2 * twice]
    queries = corpus[rng.integers(args.corpus, size=args.queries)]
    queries = queries + 0.5 * rng.standard_normal(queries.shape)
    return tuple((x / np.linalg.norm(x, axis=1, keepdims=True)).astype(np.float32) for x in (queries, corpus))


def by_faiss(queries: NDArray, corpus: NDArray, k: int) -> NDArray[np.int64]:
    index = faiss.IndexFlatL2(corpus.shape[1])
    index.add(corpus)
    return index.search(queries, k)[1]


def by_torch(queries: NDArray, corpus: NDArray, k: int) -> NDArray[np.int64]:
    rows = torch.from_numpy(corpus)
    lengths = (rows * rows).sum(1)
    blocks = torch.from_numpy(queries).split(BLOCK)
    found = [torch.addmm(lengths, block, rows.T, alpha=-2).topk(k, largest=False).indices for block in blocks]
    return torch.cat(found).numpy()


SEARCHES: dict[str, Callable[[NDArray, NDArray, int], NDArray[np.int64]]] = {
    "ours": lambda queries, corpus, k: nearest(queries, corpus, k, metric="euclidean")[1],
    "faiss": by_faiss,
    "torch": by_torch,
}


if __name__ == "__main__":
    main()

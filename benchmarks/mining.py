"""Mining of neighbours: memory for pools of two sizes, and what cutting the transformer and the pool saves or costs.

Each size runs in a process of its own, whose peak above the loaded model is printed. Then, in this process: that the
neighbours are those of one `nearest` over all vectors, encoding by the first blocks beside all of them, and search by
blocks beside one `nearest`:

    OMP_NUM_THREADS=1 HF_HUB_OFFLINE=1 python -m benchmarks.mining [--weights DIR] [--sizes 50000 200000]

Without `--weights`, the backbone is a random BERT of 12 blocks: of 64 numbers for memory, to which wider ones add the
vectors of a block of the pool; of mE5-small's 384 for encoding.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.models import SMALL, WIDE, least_seconds, memory, random_texts, random_weights
from seedbed.encoders.mining import BATCH, ROWS, neighbours
from seedbed.encoders.models import loading
from seedbed.encoders.models.inference import batched
from seedbed.encoders.models.layers import first_layers, layer_means
from seedbed.encoders.settings import Mining
from seedbed.io import read_table, write_table
from seedbed.vectors.neighbours import Nearest, nearest

SEARCHED = {"queries": 2048, "rows": 60_000, "width": 384}
"""Of the comparison of searches, whose vectors are random."""


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", type=Path, help="a backbone; without it a random BERT, 12 x 64, 5,000 words")
    parser.add_argument("--sizes", type=int, nargs="+", default=[50_000, 200_000], help="sentences of the pools")
    parser.add_argument("--pairs", type=int, default=2048)
    parser.add_argument("--layer", type=int, default=9)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--alone", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    if args.alone:
        print(peak(args.weights, args.alone, args.layer))
        return

    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        weights = args.weights or random_weights(folder / "weights", **SMALL)
        peaks: list[float] = []
        texts = table(args.pairs)
        write_table(texts.assign(pivot=texts["text"]), folder / "pairs.tsv")
        for size in args.sizes:
            (folder / str(size)).mkdir()
            write_table(table(size, seed=1), folder / str(size) / "pool.tsv")
            peaks.append(peak_alone(weights, folder / str(size), args.layer))
            print(f"pool of {size}: {peaks[-1]:.0f} MiB above the model, at the peak", flush=True)
        print(f"the largest peak / the smallest: {max(peaks) / min(peaks):.2f}")
        agree(weights, args.layer)
        wide = args.weights or random_weights(folder / "wide", **WIDE)
        least = least_seconds(encodings(wide, args.layer), args.rounds)
        print(f"encoding, all blocks / the first {args.layer}: {least['all'] / least['first']:.2f}")
        least = least_seconds(searches(), args.rounds)
        print(f"search, by blocks / at once: {least['blocks'] / least['once']:.2f}")


def peak_alone(weights: Path, folder: Path, layer: int) -> float:
    """`peak`, in a process of its own."""
    words = ["--weights", str(weights), "--layer", str(layer), "--alone", str(folder)]
    # What an allocator keeps for later is no data, and differs from run to run.
    plain = os.environ | {"ARROW_DEFAULT_MEMORY_POOL": "system"}
    command = [sys.executable, "-m", "benchmarks.mining", *words]
    done = subprocess.run(command, env=plain, check=True, stdout=subprocess.PIPE, text=True)
    return float(done.stdout.split()[-1])


def peak(weights: Path, folder: Path, layer: int) -> float:
    """MiB that mining takes above the loaded model, in a process that has done nothing else."""
    loading.load(weights, pooling="mean").encode(["w0"])
    before = memory("VmRSS")
    pairs = read_table(folder.parent / "pairs.tsv", ["id", "text", "pivot"])
    neighbours(pairs, folder / "pool.tsv", weights, Mining(layer=layer), state=folder / "state")
    return memory("VmHWM") - before


def agree(weights: Path, layer: int, rows: int = 3000) -> None:
    """Neighbours of a small pool, in many blocks, are those of one search.

    Raises:
        AssertionError: they are not.
    """
    texts, pool = table(200), table(rows, seed=1)
    with tempfile.TemporaryDirectory() as scratch:
        write_table(pool, Path(scratch) / "pool.tsv")
        mining = Mining(layer=layer)
        mined, _ = neighbours(
            texts.assign(pivot=texts["text"]), Path(scratch) / "pool.tsv", weights, mining, rows=rows // 7
        )
    encoder = loading.load(weights, pooling="mean")
    left = pool[~pool["text"].isin(texts["text"])].reset_index(drop=True)
    vectors = [layer_means(encoder, column["text"].tolist())[layer] for column in (texts, left)]
    ids = left["id"].to_numpy()[nearest(*vectors, mining.count, metric="cosine")[1]]
    found = mined[[f"pool_id_{rank + 1}" for rank in range(mining.count)]].to_numpy()
    same = (found == ids).mean()
    print(f"neighbours that one search over all vectors finds in the same place: {same:.2%}")
    assert same > 0.999, "rounding may turn two that are equally near, and no more"


def encodings(weights: Path, layer: int) -> dict[str, Callable[[], object]]:
    """Encoding of the same texts by all blocks and by the first alone."""
    texts = random_texts(500)
    whole = batched(loading.load(weights, pooling="mean"), BATCH)
    first = batched(first_layers(loading.load(weights, pooling="mean"), layer), BATCH)
    return {"all": lambda: whole(texts), "first": lambda: first(texts)}


def searches() -> dict[str, Callable[[], object]]:
    """Seven nearest rows, of a corpus in one piece and in blocks."""
    random = np.random.default_rng(0)
    queries, corpus = (
        random.standard_normal((SEARCHED[name], SEARCHED["width"]), np.float32) for name in ("queries", "rows")
    )

    def blocks() -> Iterator[np.ndarray]:
        for start in range(0, len(corpus), ROWS):
            yield corpus[start : start + ROWS]

    def in_blocks() -> object:
        found = Nearest(queries, 7, metric="cosine")
        for block in blocks():
            found.add(block)
        return found.all()

    return {
        "once": lambda: nearest(queries, corpus, 7, metric="cosine"),
        "blocks": in_blocks,
    }


def table(rows: int, seed: int = 0) -> pd.DataFrame:
    """Texts with ids."""
    return pd.DataFrame({"id": [str(place) for place in range(rows)], "text": random_texts(rows, seed)})


if __name__ == "__main__":
    main()

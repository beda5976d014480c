"""Small copies of an encoder beside it: megabytes, texts a second on one core, and Spearman's rho with its interval.

    python -m benchmarks.copies WEIGHTS --texts TEXTS.tsv --pairs PAIRS.tsv

`TEXTS.tsv` has `id`, `text`: what the copies are made by. `PAIRS.tsv` has `id`, `sentence1`, `sentence2`, `score`.
"""

import argparse
import time
from functools import partial
from pathlib import Path

import numpy as np
import torch

from seedbed.encoders.compression import compress, trim
from seedbed.encoders.compression.onnx_int8 import quantized
from seedbed.encoders.compression.settings import Bfloat16, Static
from seedbed.encoders.models import loading
from seedbed.evaluation.aggregation import SPEARMAN
from seedbed.evaluation.significance import percentiles, replicates
from seedbed.io import read_table

COPIES = {
    "original": lambda encoder, texts: encoder,
    "trimmed": trim.trim,
    "bfloat16": lambda encoder, texts: Bfloat16().compress(encoder, texts, {}),
    "trimmed and int8": lambda encoder, texts: quantized(trim.trim(encoder, texts)),
}


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weights", type=Path)
    parser.add_argument("--texts", type=Path, required=True)
    parser.add_argument("--pairs", type=Path, required=True)
    parser.add_argument("--prefix", default="")
    parser.add_argument("--dimensions", type=int, default=256, help="of the static copy")
    args = parser.parse_args(argv)

    torch.set_num_threads(1)
    texts = read_table(args.texts, ["id", "text"])["text"].tolist()
    pairs = read_table(args.pairs, ["id", "sentence1", "sentence2", "score"])
    gold, both = pairs["score"].to_numpy(float), [*pairs["sentence1"], *pairs["sentence2"]]
    print("| copy | MB | texts/s | x | Spearman | interval |\n| --- | --- | --- | --- | --- | --- |")
    drawn, slow = {}, 0.0
    made = COPIES | {"static": partial(Static(dimensions=args.dimensions).compress, folders={})}
    for name, copy in made.items():
        encoder = copy(loading.load(args.weights, pooling="mean", prefix=args.prefix), texts)
        encoder.encode(both[:8])
        start = time.process_time()
        vectors = encoder.encode(both, normalize_embeddings=True)
        speed = len(both) / (time.process_time() - start)
        slow = slow or speed
        one, two = np.split(vectors, 2)
        items = np.stack([gold, (one * two).sum(axis=1)], axis=1)[None]
        drawn[name] = 100 * replicates(SPEARMAN.statistic, {name: items}, resamples=2000, seed=42)[name]
        low, high = percentiles(drawn[name], 0.95)
        rho, size = 100 * float(SPEARMAN.statistic(items)[0]), compress.size(encoder)["bytes"] / 1e6
        size /= 2 if name == "bfloat16" else 1
        print(
            f"| {name} | {size:.0f} | {speed:.0f} | {speed / slow:.1f} | {rho:.1f} | {low:.1f} to {high:.1f} |",
            flush=True,
        )
        apart = percentiles(drawn[name] - drawn["original"], 0.95)
        print(f"  less the original: {apart[0]:.1f} to {apart[1]:.1f}", flush=True)


if __name__ == "__main__":
    main()

"""Encoding texts with their English by one encoder of two paths, beside its two encoders one after the other.

Same process, weights and texts, each text and its English once. Prints CPU seconds (the least, taken by turns), their
ratio, and how far the vectors are apart:

    OMP_NUM_THREADS=1 HF_HUB_OFFLINE=1 python -m benchmarks.two_paths [--source DIR --english DIR]
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.models import WIDE, least_seconds, random_texts, random_weights
from seedbed.encoders import backbone
from seedbed.encoders.coupling import Coupling, couple
from seedbed.encoders.opening import batched

TOLERANCE = 1e-5


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=Path, help="a backbone; without it a random BERT, 12 x 384")
    parser.add_argument("--english", type=Path, help="likewise")
    parser.add_argument("--texts", type=int, default=256)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args(argv)

    texts, english = random_texts(args.texts), random_texts(args.texts, 1)
    with tempfile.TemporaryDirectory() as scratch:
        sides = [getattr(args, name) or random_weights(Path(scratch) / name, **WIDE) for name in ("source", "english")]
        source, other = (backbone.load(weights, pooling="mean") for weights in sides)
        chosen = dict(zip(texts, english, strict=True))
        both = couple(backbone.load(sides[0], pooling="mean"), sides[1], Coupling("none", chosen))
    ways = {
        "two encoders": lambda: (batched(source, args.batch_size)(texts), batched(other, args.batch_size)(english)),
        "both paths": lambda: batched(both, args.batch_size)(texts),
    }
    unit = [vectors / np.linalg.norm(vectors, axis=1, keepdims=True) for vectors in ways["two encoders"]()]
    apart = float(np.abs(np.concatenate(unit, axis=1) / np.sqrt(2) - ways["both paths"]()).max())
    least = least_seconds(ways, args.rounds)
    for name, seconds in least.items():
        print(f"{name}: {seconds:.2f} CPU seconds for {args.texts} texts and their English")
    print(f"both paths / two encoders: {least['both paths'] / least['two encoders']:.2f}")
    print(f"vectors apart: {apart:.1e}")
    assert apart <= TOLERANCE


if __name__ == "__main__":
    main()

"""Encoding texts with their English by encoders of two paths, one for each fusion, beside their two encoders one after
the other: an anchored one of the text, and one of its English.

Same process, weights and texts, each text and its English once. Prints CPU seconds (the least, taken by turns), the
ratio of each fusion, and how far vectors side by side are from those of the two encoders:

    OMP_NUM_THREADS=1 HF_HUB_OFFLINE=1 python -m benchmarks.two_paths [--source DIR --english DIR]
"""

from __future__ import annotations

import argparse
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
from sentence_transformers import SentenceTransformer

from benchmarks.models import WIDE, least_seconds, random_texts, random_weights
from seedbed.encoders.models import loading
from seedbed.encoders.models.inference import batched
from seedbed.encoders.models.two_paths_setup import EnglishPath, add_english_path
from seedbed.encoders.objectives.anchoring import Anchoring

TOLERANCE = 1e-5
BESIDE = ("none", "concat")
"""Fusions whose vectors are those of both encoders side by side; that of concat is the identity before training."""
FUSIONS = (*BESIDE, "prefix")


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=Path, help="a backbone; without it a random BERT, 12 x 384")
    parser.add_argument("--english", type=Path, help="likewise")
    parser.add_argument("--texts", type=int, default=256)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args(argv)

    texts, english = random_texts(args.texts), random_texts(args.texts, 1)
    chosen = dict(zip(texts, english, strict=True))
    with tempfile.TemporaryDirectory() as scratch:
        sides = {
            name: getattr(args, name) or random_weights(Path(scratch) / name, **WIDE) for name in ("source", "english")
        }

        def anchored() -> SentenceTransformer:
            return Anchoring().prepare(loading.load(sides["source"], pooling="mean"), sides, 1)

        source, other = anchored(), loading.load(sides["english"], pooling="own")
        both = {name: add_english_path(anchored(), sides["english"], EnglishPath(name, chosen)) for name in FUSIONS}

    def encode(encoder: SentenceTransformer, rows: list[str] = texts) -> np.ndarray:
        return batched(encoder, args.batch_size)(rows)

    ways = {"two encoders": lambda: (encode(source), encode(other, english))}
    ways |= {name: partial(encode, encoder) for name, encoder in both.items()}
    unit = [vectors / np.linalg.norm(vectors, axis=1, keepdims=True) for vectors in ways["two encoders"]()]
    expected = np.concatenate(unit, axis=1) / np.sqrt(2)
    apart = max(float(np.abs(expected - encode(both[name])).max()) for name in BESIDE)
    least = least_seconds(ways, args.rounds)
    for name, seconds in least.items():
        print(f"{name}: {seconds:.2f} CPU seconds for {args.texts} texts and their English")
    for name in FUSIONS:
        print(f"{name} / two encoders: {least[name] / least['two encoders']:.2f}")
    print(f"vectors apart: {apart:.1e}")
    assert apart <= TOLERANCE


if __name__ == "__main__":
    main()

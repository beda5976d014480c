"""Token means of all layers by one pass of each text, beside an encoding for each layer and beside a plain encoding.

All in one process, in CPU seconds, the least of some rounds that take turns. An encoding for each layer runs all
blocks, as poolings of one layer do; that its values are ours is asserted:

    OMP_NUM_THREADS=1 HF_HUB_OFFLINE=1 python -m benchmarks.layers [--weights DIR] [--rows 100]
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Pooling
from torch import Tensor

from benchmarks.models import WIDE, least_seconds, random_texts, random_weights
from seedbed.encoders.models import loading
from seedbed.encoders.models.layers import layer_means

TOLERANCE = 1e-6


class OfLayer(Pooling):
    """The mean over tokens of one of the layers that a transformer gives."""

    def __init__(self, width: int, layer: int) -> None:
        super().__init__(width, "mean")
        self.layer = layer

    def forward(self, features: dict[str, Tensor | Any], **kwargs: Any) -> dict[str, Tensor | Any]:
        return super().forward(features | {"token_embeddings": features["all_layer_embeddings"][self.layer]}, **kwargs)


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", type=Path, help="a backbone; without it a random BERT, 12 x 384, 5,000 words")
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args(argv)

    texts = random_texts(args.rows)
    with tempfile.TemporaryDirectory() as scratch:
        weights = args.weights or random_weights(Path(scratch), **WIDE)
        plain, each = loading.load(weights, pooling="mean"), encoders(weights)
    found: dict[str, np.ndarray] = {}

    def all_at_once() -> None:
        found["ours"] = layer_means(plain, texts)

    def one_by_one() -> None:
        found["theirs"] = np.stack([encoder.encode(texts, batch_size=32) for encoder in each])

    runs = {"all": all_at_once, "each": one_by_one, "plain": lambda: plain.encode(texts, batch_size=32)}
    least = least_seconds(runs, args.rounds)
    difference = float(np.abs(found["ours"][1:] - found["theirs"]).max())
    assert difference < TOLERANCE, f"the means differ by {difference}"
    for name, seconds in least.items():
        print(f"{name}: {seconds:.2f} s")
    print(f"difference of the means: {difference:.1e} (allowed: {TOLERANCE})")
    print(f"an encoding for each of {len(each)} layers / one pass: {least['each'] / least['all']:.2f}")
    print(f"one pass for all layers / one plain encoding: {least['all'] / least['plain']:.2f}")


def encoders(weights: Path) -> list[SentenceTransformer]:
    """An encoder for each block, of the same transformer."""
    one = loading.load(weights, pooling="last_average", layers=1)
    width, blocks = one.get_embedding_dimension(), one[0].auto_model.config.num_hidden_layers
    return [loading.of_modules(one, [one[0], OfLayer(width, layer + 1)]) for layer in range(blocks)]


if __name__ == "__main__":
    main()

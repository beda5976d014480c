"""A step of alignment with the pivot's vectors made once, beside one that makes them each time, as paper 004 does.

Same process, weights, batches and draws; the pivot is in evaluation mode in both. Prints CPU seconds of a step (the
least, taken by turns), their ratio, and the difference of the losses:

    OMP_NUM_THREADS=1 HF_HUB_OFFLINE=1 python -m benchmarks.alignment_step [--weights DIR]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from torch import Tensor

from benchmarks.encoder_step import texts_of_columns
from benchmarks.models import MULTILINGUAL, random_weights
from seedbed.encoders.export.save import save
from seedbed.encoders.losses.alignment import AlignmentLoss
from seedbed.encoders.models import loading
from seedbed.encoders.models.parallel_adapters import add_adapters
from seedbed.encoders.models.vector_file import Vectors, write_vectors

TOLERANCE = 1e-5


class EachTime(AlignmentLoss):
    """Each text of the pivot goes through its encoder when it is needed."""

    def __init__(
        self, encoder: SentenceTransformer, pivot: SentenceTransformer, texts: dict[str, list[str]], known: Vectors
    ):
        super().__init__(encoder, known, texts, 0.05)
        self.other, self.vectors = [pivot], self
        self.flat = [text for column in texts.values() for text in column]
        self.places = np.arange(len(self.flat)).reshape(len(texts), -1).T

    def __getitem__(self, places: np.ndarray) -> np.ndarray:
        """Vectors (n, width) of the texts in these places."""
        features = self.other[0].preprocess([self.flat[place] for place in places])
        with torch.no_grad():
            return self.other[0](features)["sentence_embedding"].numpy()


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", type=Path, help="a backbone; without it a random BERT, 12 x 384, 250,002 words")
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=4, help="timed steps of each, after one that is not timed")
    args = parser.parse_args(argv)

    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        weights = args.weights or random_weights(folder / "weights", **MULTILINGUAL)
        pivot = loading.load(weights, pooling="mean")
        pivot.max_seq_length = 128
        save(pivot, folder / "pivot", {}, {})
        own, others = list(texts_of_columns(args.batch_size).values()), texts_of_columns(args.batch_size)
        write_vectors(folder / "pivot", others, folder / "vectors")
        known, pivot = Vectors(folder / "vectors"), loading.open_encoder(folder / "pivot").eval()
        losses = {
            "made once": AlignmentLoss(aligned(folder / "pivot"), known, others, 0.05),
            "each time": EachTime(aligned(folder / "pivot"), pivot, others, known),
        }
        steps = {name: stepping(loss, own) for name, loss in losses.items()}
        seconds: dict[str, list[float]] = {name: [] for name in steps}
        apart = []
        for turn in range(args.rounds + 1):
            values = {}
            for name, step in steps.items():
                torch.manual_seed(turn)
                start = time.process_time()
                values[name] = step()
                seconds[name].append(time.process_time() - start)
            apart.append(abs(values["made once"] - values["each time"]))
    assert max(apart) <= TOLERANCE, f"losses differ by {max(apart):.1e}"
    least = {name: min(values[1:]) for name, values in seconds.items()}
    for name, value in least.items():
        print(f"{name}: {value:.3f} CPU s a step")
    print(f"difference of the losses: {max(apart):.1e} (allowed: {TOLERANCE})")
    print(f"each time / made once: {least['each time'] / least['made once']:.2f}")


def aligned(folder: Path) -> SentenceTransformer:
    """An encoder whose adapters alone are trained; without dropout, so that losses can be compared."""
    encoder = loading.open_encoder(folder)
    add_adapters(encoder, seed=1)
    encoder.requires_grad_(False)
    encoder[0].adapters.requires_grad_(True)
    return encoder.eval()


def stepping(loss: AlignmentLoss, own: list[list[str]]) -> Callable[[], float]:
    """A step of the optimiser on one batch; it returns the loss before it."""
    trained = [weight for weight in loss.model.parameters() if weight.requires_grad]
    optimiser = torch.optim.AdamW(trained, lr=1e-4, eps=1e-6, weight_decay=0.01, fused=True)
    features: list[dict[str, Any]] = [loss.model.preprocess(column) for column in own]

    def step() -> float:
        optimiser.zero_grad()
        value: Tensor = loss([dict(column) for column in features], torch.arange(len(own[0])))
        value.backward()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimiser.step()
        return value.item()

    return step


if __name__ == "__main__":
    main()

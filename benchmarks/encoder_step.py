"""A training step of ours beside one of sentence-transformers, same process, weights, texts and arguments.

Prints seconds a step (the least, taken by turns: other work on the machine only adds), their ratio, the difference of
the two losses, and the ratio of a step with frozen word embeddings to one that trains them:

    OMP_NUM_THREADS=1 HF_HUB_OFFLINE=1 python -m benchmarks.encoder_step [--weights DIR]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import torch
from datasets import Dataset
from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer
from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
from torch import nn
from transformers import TrainerCallback

from benchmarks.models import MULTILINGUAL, finish, random_texts, random_weights
from seedbed.encoders.losses.contrastive import SimCSELoss
from seedbed.encoders.models import loading
from seedbed.encoders.objectives.contrast import Contrast
from seedbed.encoders.settings import Training
from seedbed.encoders.training import train
from seedbed.precision import Precision, precision

COLUMNS = ("anchor", "positive", "negative")
TOLERANCE = 1e-5


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", type=Path, help="a backbone; without it a random BERT, 12 x 384, 250,002 words")
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--precision", default="auto", choices=get_args(Precision))
    parser.add_argument("--steps", type=int, default=3, help="timed steps of a round, after one that is not timed")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args(argv)

    with tempfile.TemporaryDirectory() as scratch:
        weights = args.weights or random_weights(Path(scratch) / "weights", **MULTILINGUAL)
        changes = {"batch_size": args.batch_size, "epochs": args.steps + 1, "precision": precision(args.precision)}
        settings = Training(pooling="mean", **changes)
        frozen = settings.updated({"freeze_word_embeddings": True})
        texts = texts_of_columns(args.batch_size)
        print(f"difference of the losses: {loss_difference(weights, texts, settings):.1e} (allowed: {TOLERANCE})")
        runs = {
            "ours": lambda: step_seconds(ours, weights, texts, settings, Path(scratch)),
            "theirs": lambda: step_seconds(theirs, weights, texts, settings, Path(scratch)),
            "ours, frozen": lambda: step_seconds(ours, weights, texts, frozen, Path(scratch)),
            "theirs, frozen": lambda: step_seconds(theirs, weights, texts, frozen, Path(scratch)),
        }
        seconds: dict[str, list[float]] = {name: [] for name in runs}
        for _ in range(args.rounds):
            for name, run in runs.items():
                seconds[name] += run()
    least = {name: min(values) for name, values in seconds.items()}
    for name, value in least.items():
        print(f"{name}: {value:.3f} s a step")
    print(f"ours / theirs: {least['ours'] / least['theirs']:.2f}")
    print(f"ours / theirs, frozen: {least['ours, frozen'] / least['theirs, frozen']:.2f}")
    print(f"ours, frozen / trained: {least['ours, frozen'] / least['ours']:.2f}")


def ours(
    encoder: SentenceTransformer, temperature: float, texts: dict[str, list[str]], **options: Any
) -> SentenceTransformerTrainer:
    return train._Trainer(texts, model=encoder, loss=SimCSELoss(encoder, temperature), shuffled=True, **options)


def theirs(
    encoder: SentenceTransformer, temperature: float, texts: dict[str, list[str]], **options: Any
) -> SentenceTransformerTrainer:
    loss = MultipleNegativesRankingLoss(encoder, scale=1 / temperature)
    return SentenceTransformerTrainer(model=encoder, train_dataset=Dataset.from_dict(texts), loss=loss, **options)


def step_seconds(
    make: Callable[..., SentenceTransformerTrainer],
    weights: Path,
    texts: dict[str, list[str]],
    settings: Training,
    scratch: Path,
) -> list[float]:
    """Seconds of every step but the first, each on the same batch."""
    encoder = loading.load(weights, pooling=settings.pooling)
    encoder.max_seq_length = settings.max_length
    word_embeddings = encoder[0].auto_model.get_input_embeddings()
    word_embeddings.requires_grad_(not settings.freeze_word_embeddings)
    arguments = train._arguments(Contrast(), settings, settings.batch_size, {}, 1, scratch)
    arguments.save_strategy, arguments.disable_tqdm = "no", True
    clock = Clock()
    make(encoder, settings.temperature, texts, args=arguments, callbacks=[clock]).train()
    return clock.seconds[1:]


class Clock(TrainerCallback):
    """Seconds from the beginning to the end of every step."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def on_step_begin(self, *args: Any, **kwargs: Any) -> None:
        finish()
        self.start = time.perf_counter()

    def on_step_end(self, *args: Any, **kwargs: Any) -> None:
        finish()
        self.seconds.append(time.perf_counter() - self.start)


def loss_difference(weights: Path, texts: dict[str, list[str]], settings: Training) -> float:
    """Of our loss and theirs on one batch, in float32 and without dropout.

    Raises:
        AssertionError: it is more than `TOLERANCE`.
    """
    encoder = loading.load(weights, pooling=settings.pooling).eval()
    encoder.max_seq_length = settings.max_length

    def value(loss: nn.Module) -> float:
        with torch.inference_mode():
            features = [encoder.preprocess(column) for column in texts.values()]
            return loss([{k: v.to(encoder.device) for k, v in f.items() if torch.is_tensor(v)} for f in features], None)

    reference = MultipleNegativesRankingLoss(encoder, scale=1 / settings.temperature)
    difference = abs(value(SimCSELoss(encoder, settings.temperature)) - value(reference)).item()
    assert difference < TOLERANCE, f"the losses differ by {difference}"
    return difference


def texts_of_columns(rows: int, words: int = MULTILINGUAL["vocabulary"] - 2) -> dict[str, list[str]]:
    """Texts of 8 to 40 words, by column, out of so many known ones."""
    return {name: random_texts(rows, place, lengths=(8, 40), words=words) for place, name in enumerate(COLUMNS)}


if __name__ == "__main__":
    main()

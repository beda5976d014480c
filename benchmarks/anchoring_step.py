"""A step of anchoring with states made once, beside one that reads text and candidates each time.

Same process, weights, batch and draws. Prints CPU seconds of a step with backpropagation (the least, taken by turns),
their ratio, the difference of the losses, and what the kept states take:

    OMP_NUM_THREADS=1 HF_HUB_OFFLINE=1 python -m benchmarks.anchoring_step [--source DIR --english DIR]
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

import pandas as pd
import torch
from torch import Tensor

from benchmarks.models import WIDE, least_seconds, random_texts, random_weights
from seedbed.encoders.losses.anchoring import AnchoringLoss
from seedbed.encoders.models import loading
from seedbed.encoders.objectives.anchoring import Anchoring
from seedbed.encoders.translations.candidates import Candidates, unpack_candidates
from seedbed.encoders.translations.policy import pooled_inputs, pooled_states, unit_vectors

TOLERANCE = 1e-5


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=Path, help="a backbone; without it a random BERT, 12 x 384")
    parser.add_argument("--english", type=Path, help="likewise")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--translators", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=4)
    args = parser.parse_args(argv)

    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        weights = {name: getattr(args, name) or random_weights(folder / name, **WIDE) for name in ("source", "english")}
        settings, candidates = Anchoring(), drawn(args.batch_size, args.translators)
        english = loading.load(weights["english"], pooling="own")
        encoder = settings.prepare(loading.load(weights["source"], pooling="mean"), weights, 1)
        loss = AnchoringLoss(encoder, candidates, english, **settings.options)
        rows = torch.arange(args.batch_size)
        kept = [loss.states, loss.values, loss.documents]

        def step(*, again: bool) -> Tensor:
            if again:
                distinct = candidates.distinct()[0]
                loss.states = pooled_states(encoder, candidates.texts, settings.pool_size)
                loss.values = pooled_inputs(english, distinct, settings.pool_size)
                loss.documents = unit_vectors(english, distinct)
            torch.manual_seed(1)
            loss.zero_grad()
            value = loss([{}], rows)
            value.backward()
            return value.detach()

        apart = abs(float(step(again=False)) - float(step(again=True)))
        ways = {"kept": lambda: step(again=False), "each time": lambda: step(again=True)}
        least = least_seconds(ways, args.rounds)
    for name, seconds in least.items():
        print(f"{name}: {seconds:.4f} CPU seconds a step of {args.batch_size} texts")
    print(f"each time / kept: {least['each time'] / least['kept']:.1f}")
    print(f"kept states: {sum(state.numel() * state.element_size() for state in kept) / 2**20:.2f} MiB")
    print(f"losses apart: {apart:.1e}")
    assert apart <= TOLERANCE


def drawn(rows: int, translators: int) -> Candidates:
    """Random texts with random translations and scores."""
    texts = random_texts(rows)
    english = [random_texts(rows, seed) for seed in range(1, translators + 1)]
    scores = (1 + 9 * torch.rand(rows, translators, 3, generator=torch.Generator().manual_seed(0))).tolist()
    cells = [
        [
            {"translator": str(k), "english": own[row], "usable": True, "scores": scores[row][k]}
            for k, own in enumerate(english)
        ]
        for row in range(rows)
    ]
    table = {"id": [str(row) for row in range(rows)], "text": texts, "candidates": [json.dumps(cell) for cell in cells]}
    return unpack_candidates(pd.DataFrame(table))


if __name__ == "__main__":
    main()

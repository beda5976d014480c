r"""A step of training after the vocabulary's swap beside one before it, on the same sentences.

Same process and sentences; each encoder tokenises them as it does. Prints CPU seconds of a step (the least, taken by
turns), their ratio, and how many tokens each makes of a sentence. Both folders are made by a study, `weights` of its
backbone and `vocabulary/{lang}`; sentences are the first column but `id` of one of its corpora. A backbone's prefix
ends with its vocabulary, so that only the step before has it:

    OMP_NUM_THREADS=1 HF_HUB_OFFLINE=1 python -m benchmarks.swapped_step BEFORE AFTER --texts TSV [--batch-size 32] \
        [--prefix "query: "]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import torch

from benchmarks.models import least_seconds
from seedbed.encoders.losses.contrastive import SimCSELoss
from seedbed.encoders.models import loading
from seedbed.io import read_table


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--texts", required=True, type=Path)
    parser.add_argument("--prefix", default="", help="what the backbone reads before each text")
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args(argv)

    table = read_table(args.texts, ["id"])
    texts = table[table.columns.drop("id")[0]].tolist()[: args.batch_size]
    steps, tokens = {}, {}
    for name, weights, prefix in (("before", args.before, args.prefix), ("after", args.after, "")):
        steps[name], tokens[name] = stepping(weights, [prefix + text for text in texts])
        steps[name]()  # AdamW makes its moments
    least = least_seconds(steps, args.rounds)
    for name, seconds in least.items():
        print(f"{name}: {seconds:.3f} CPU s a step, {tokens[name] / len(texts):.1f} tokens a sentence")
    print(f"before / after: {least['before'] / least['after']:.2f}")


def stepping(weights: Path, texts: list[str]) -> tuple[Callable[[], None], int]:
    """A step of unsupervised SimCSE and AdamW on all weights, clipped as in training; and the tokens of the texts."""
    encoder = loading.load(weights, pooling="mean").train()
    encoder.max_seq_length = 128
    features = encoder.preprocess(texts)
    loss = SimCSELoss(encoder, 0.05)
    optimiser = torch.optim.AdamW(encoder.parameters(), lr=1e-5, fused=True)

    def step() -> None:
        optimiser.zero_grad()
        loss([dict(features), dict(features)]).backward()
        torch.nn.utils.clip_grad_norm_(encoder.parameters(), 1.0)
        optimiser.step()

    return step, int(features["attention_mask"].sum())


if __name__ == "__main__":
    main()

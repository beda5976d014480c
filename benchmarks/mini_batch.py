"""A training step whose texts are encoded in parts beside one that encodes the whole batch: time, and memory.

Prints CPU seconds a step (the least of some rounds, taken by turns), what a step adds to the memory of a process of its
own, and both as ratios to the whole batch:

    OMP_NUM_THREADS=1 HF_HUB_OFFLINE=1 python -m benchmarks.mini_batch [--batch-size 512] [--mini-batch 32]
"""

import argparse
import multiprocessing
import tempfile
import time
from pathlib import Path

from benchmarks.models import WIDE, memory, random_texts, random_weights

MODEL = WIDE | {"vocabulary": 30_000}


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", type=Path, help="a backbone; without it a random BERT, 12 x 384, 30,000 words")
    parser.add_argument("--batch-size", type=int, default=512, help="pairs of texts")
    parser.add_argument("--mini-batch", type=int, default=32, help="texts that are encoded at once")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as scratch:
        weights = args.weights or random_weights(Path(scratch) / "weights", **MODEL)
        ways = {"whole batch": 0, f"{args.mini_batch} texts at once": args.mini_batch}
        fresh = multiprocessing.get_context("spawn")
        seconds: dict[str, list[float]] = {name: [] for name in ways}
        grown: dict[str, float] = {}
        for _ in range(args.rounds):
            for name, texts in ways.items():
                with fresh.Pool(1) as pool:
                    took, grown[name] = pool.apply(step, (weights, args.batch_size, texts))
                seconds[name].append(took)
        whole = next(iter(ways))
        print("| | CPU s | x | MiB of a step | x |\n| --- | --- | --- | --- | --- |")
        for name in ways:
            took, mib = min(seconds[name]), grown[name]
            print(f"| {name} | {took:.1f} | {took / min(seconds[whole]):.2f} | {mib:.0f} | {mib / grown[whole]:.2f} |")


def step(weights: Path, rows: int, texts: int) -> tuple[float, float]:
    """CPU seconds of loss and gradients of one batch of pairs, and MiB by which they raise the process's peak."""
    from seedbed.encoders.losses.contrastive import SimCSELoss
    from seedbed.encoders.models import loading
    from seedbed.encoders.training.chunks import in_chunks

    encoder = loading.load(weights, pooling="mean").train()
    encoder.max_seq_length = 32
    loss = SimCSELoss(encoder, 0.05)
    columns = [encoder.tokenize(random_texts(rows, seed)) for seed in (0, 1)]
    encoder.encode(random_texts(2, 2))
    before, start = memory("VmHWM"), time.process_time()
    with in_chunks(encoder, texts):
        loss(columns).backward()
    return time.process_time() - start, memory("VmHWM") - before


if __name__ == "__main__":
    main()

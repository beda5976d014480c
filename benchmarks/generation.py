"""The transformers back end against one-by-one `generate`: same rows, same greedy output, how much faster?

python -m benchmarks.generation --base DIR --dtype float32 --batch-sizes 32 64
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import torch

from seedbed.generators.settings import Generator
from seedbed.generators.writing.backends import Completion, Request
from seedbed.generators.writing.backends.hf import HfBackend
from seedbed.generators.writing.prompts import encode, zero_shot
from seedbed.io import read_table
from seedbed.resources import resource


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", required=True, type=Path, help="directory of a base model")
    parser.add_argument("--anchors", type=Path, default=resource("demo/nli.eng.tsv"))
    parser.add_argument("--rows", type=int, default=64)
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16"])
    parser.add_argument("--temperature", type=float, default=0.0, help="above 0: no comparison, only speed")
    parser.add_argument("--max-new-tokens", type=int, default=32)
    parser.add_argument("--lines", action="store_true", help="newlines do not stop: nearly every row reaches the limit")
    parser.add_argument("--clock", default="wall", choices=["wall", "cpu"], help="cpu: for a machine that is shared")
    parser.add_argument("--batch-sizes", type=int, nargs="+", default=[32, 64])
    args = parser.parse_args(argv)

    clock = time.process_time if args.clock == "cpu" else time.perf_counter
    backend = HfBackend(settings(args, 1), args.base)
    if args.lines:
        backend.stops = torch.tensor([backend.tokenizer.eos_token_id], device=backend.model.device)
    premises = read_table(args.anchors, ["anchor"])["anchor"].iloc[: args.rows]
    requests = [
        Request(str(row), encode(backend.tokenizer, zero_shot(text, "positive", "English", "plain"), "plain"))
        for row, text in enumerate(premises)
    ]
    print(f"{len(requests)} rows, {args.dtype}, {torch.get_num_threads()} threads, {backend.model.device}")

    expected, alone = one_by_one(backend, requests, clock) if args.temperature == 0 else ([], float("nan"))
    for size in args.batch_sizes:
        backend.batch_size = size
        backend.sampling = settings(args, size).sampling
        start = clock()
        completions = list(backend.write(requests, None))
        seconds = clock() - start
        same = len(set(expected) & set(completions))
        tokens = sum(len(backend.tokenizer(completion.text)["input_ids"]) for completion in completions)
        speed = f"{seconds:.1f} s, {len(completions) / seconds:.2f} rows/s, {tokens / seconds:.0f} tokens/s"
        gain = f", {alone / seconds:.1f} x one by one, {same} of {len(expected)} outputs the same" if expected else ""
        print(f"batch {size}: {speed}{gain}", flush=True)


def settings(args: argparse.Namespace, batch_size: int) -> Generator:
    return Generator.model_validate({
        "source": {"file": str(args.base)},
        "prompts": "plain",
        "dtype": args.dtype,
        "batch_size": batch_size,
        "sampling": {"temperature": args.temperature, "max_new_tokens": args.max_new_tokens},
    })  # fmt: skip


def one_by_one(
    backend: HfBackend, requests: list[Request], clock: Callable[[], float]
) -> tuple[list[Completion], float]:
    """What `generate` writes, and the seconds that it takes."""
    backend.model.requires_grad_(True)  # as loaded: a frozen bfloat16 head makes its prefill 20 times slower on a CPU
    completions, start = [], clock()
    stops = backend.stops.tolist()
    for request in requests:
        prompt = torch.tensor([request.prompt], device=backend.model.device)
        options = {"do_sample": False, "max_new_tokens": backend.sampling.max_new_tokens, "eos_token_id": stops}
        new = backend.model.generate(prompt, pad_token_id=stops[0], **options)[0, prompt.shape[1] :]
        completions.append(Completion(request.id, backend.text(new), finished=int(new[-1]) in stops))
    seconds = clock() - start
    backend.model.requires_grad_(False)
    print(f"one by one: {seconds:.1f} s, {len(requests) / seconds:.2f} rows/s", flush=True)
    return completions, seconds


if __name__ == "__main__":
    main()

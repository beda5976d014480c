"""One LoRA step: the head on completion tokens and batches by length, against the common way with the same examples.

The common way is peft's and transformers' default: labels, logits for every position, examples in random order. Both
run forward and backward in one process on one set of weights, in turns, and each batch counts with its fastest round.
Lengths are drawn as they are in paper 000's published XL-LoRA positives with plain prompts and Gemma 3's tokenizer.

    OMP_NUM_THREADS=1 python -m benchmarks.lora_step --base DIRECTORY --dtype bfloat16
"""

from __future__ import annotations

import argparse
import ctypes
import math
import random
import re
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from torch import Tensor
from transformers import AutoModelForCausalLM, Gemma3ForCausalLM, Gemma3TextConfig, PreTrainedModel

from benchmarks.models import finish
from seedbed.generators.lora.data import Example
from seedbed.generators.lora.loss import IGNORED, ByLength, collate, completion_loss
from seedbed.generators.settings import Lora

PROMPT, COMPLETION = (32, 0.44), (11, 0.40)
"""Median and log standard deviation of lengths in tokens; the means are 35 and 12."""
Batch = dict[str, Tensor]
Loss = Callable[[PeftModel, Batch], Tensor]


def default_loss(model: PeftModel, batch: Batch) -> Tensor:
    """Summed loss of the completion tokens as transformers computes it."""
    return model(**batch, num_items_in_batch=torch.tensor(1, device=model.device)).loss


def draw_examples(count: int, vocabulary: int) -> list[Example]:
    draw = random.Random(0)

    def tokens(median: float, spread: float) -> list[int]:
        length = min(max(round(median * math.exp(draw.gauss(0, spread))), 2), 128)
        return [draw.randrange(vocabulary) for _ in range(length)]

    return [Example(tokens(*PROMPT), tokens(*COMPLETION)) for _ in range(count)]


def load(base: Path | None, dtype: torch.dtype) -> PeftModel:
    if base:
        model = AutoModelForCausalLM.from_pretrained(base, dtype=dtype, local_files_only=True)
    else:
        size = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "head_dim": 32}
        heads = {"num_attention_heads": 2, "num_key_value_heads": 1}
        model = Gemma3ForCausalLM(Gemma3TextConfig(vocab_size=32_768, **size, **heads)).to(dtype)
    return with_adapter(model)


def with_adapter(model: PreTrainedModel) -> PeftModel:
    """A language model with the default adapter of every linear layer."""
    lora = Lora()
    options = {"r": lora.rank, "lora_alpha": lora.alpha, "lora_dropout": lora.dropout}
    return get_peft_model(model, LoraConfig(task_type="CAUSAL_LM", target_modules="all-linear", **options))


def step(model: PeftModel, loss: Loss, batch: Batch) -> float:
    """Seconds of one forward and backward pass."""
    finish()
    started = time.perf_counter()
    with torch.autocast(model.device.type, torch.bfloat16, enabled=model.dtype == torch.bfloat16):
        value = loss(model, batch)
    value.backward()
    finish()
    elapsed = time.perf_counter() - started
    model.zero_grad()
    return elapsed


def mean_loss(model: PeftModel, loss: Loss, batches: list[Batch]) -> float:
    """Nats per completion token, without dropout."""
    model.eval()
    with torch.no_grad():
        total = sum(loss(model, batch).item() for batch in batches)
    model.train()
    return total / sum(int((batch["labels"] != IGNORED).sum()) for batch in batches)


def peak_memory(model: PeftModel, loss: Loss, batch: Batch) -> float:
    """Peak resident memory of one step, GiB (Linux)."""
    ctypes.CDLL(None).malloc_trim(0)  # what was used before
    Path("/proc/self/clear_refs").write_text("5")
    step(model, loss, batch)
    return int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1]) / 2**20


def in_batches(examples: list[Example], order: Iterable[int], size: int) -> list[Batch]:
    ordered = [examples[index] for index in order]
    return [collate(ordered[start : start + size]) for start in range(0, len(ordered), size)]


def size(batch: Batch) -> int:
    return batch["input_ids"].numel()


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", type=Path, help="language model; without it a tiny random one")
    parser.add_argument("--dtype", choices=["float32", "bfloat16"], default="float32")
    parser.add_argument("--batches", type=int, default=24)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=1)
    args = parser.parse_args(argv)

    torch.manual_seed(0)
    model = load(args.base, getattr(torch, args.dtype))
    examples = draw_examples(args.batches * args.batch_size, model.config.vocab_size)
    by_length = ByLength([len(one) for one in examples], args.batch_size, seed=0)
    ways = {
        "default": (default_loss, in_batches(examples, range(len(examples)), args.batch_size)),
        "seedbed": (completion_loss, in_batches(examples, by_length, args.batch_size)),
    }
    for loss, batches in ways.values():
        step(model, loss, batches[0])  # warm up
    seconds = dict.fromkeys(ways, 0.0)
    for number in range(args.batches):  # in turns, so that a busy machine is busy for both
        for name, (loss, batches) in ways.items():
            seconds[name] += min(step(model, loss, batches[number]) for _ in range(args.rounds)) / args.batches
    print(f"{args.dtype}, {torch.get_num_threads()} threads, {args.batches} batches of {args.batch_size}")
    losses = {name: mean_loss(model, loss, batches) for name, (loss, batches) in ways.items()}
    for name, (loss, batches) in ways.items():
        peak = peak_memory(model, loss, max(batches, key=size))
        width = sum(map(size, batches)) / len(batches)
        measured = f"{seconds[name]:.3f} s per step of {width:.0f} tokens, peak {peak:.2f} GiB"
        print(f"{name}: {measured}, loss {losses[name]:.6f}")
    difference = abs(losses["seedbed"] - losses["default"]) / losses["default"]
    print(f"ratio {seconds['default'] / seconds['seedbed']:.2f}, relative loss difference {difference:.1e}")


if __name__ == "__main__":
    main()

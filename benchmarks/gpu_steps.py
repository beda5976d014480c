"""Training steps on a GPU: milliseconds, and the share of the card's speed that they reach.

The card's speed is that of a large bfloat16 product in the same process. A step has six operations for each weight of
the blocks and token that is no padding, four where an adapter alone is trained, and four for the head's weights and
tokens with a loss. Models have the shape of real ones and random weights. A step of the encoder is compared with
one of sentence-transformers, a step of the adapter with transformers' and peft's own loss:

    python -m benchmarks.gpu_steps [--encoders base large] [--generators 270M 4B]
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import torch
from peft import PeftModel
from torch import nn
from transformers import Gemma3ForCausalLM, Gemma3TextConfig

from benchmarks import encoder_step, lora_step
from benchmarks.models import MULTILINGUAL, SMALL, finish, random_weights
from seedbed.encoders.models import loading
from seedbed.encoders.settings import Training
from seedbed.generators.lora.loss import IGNORED, collate, completion_loss

ENCODERS = {
    "tiny": SMALL | {"blocks": 2},
    "small": MULTILINGUAL,
    "base": MULTILINGUAL | {"width": 768},
    "large": MULTILINGUAL | {"width": 1024, "heads": 16, "blocks": 24},
}
"""mE5-small and XLM-R."""
GENERATORS = {
    "tiny": (32, 64, 2, 2, 1, 32, 5000),
    "270M": (640, 2048, 18, 4, 1, 256, 262_144),
    "4B": (2560, 10_240, 34, 8, 4, 256, 262_208),
    "12B": (3840, 15_360, 48, 16, 8, 256, 262_208),
}
"""Gemma 3: width, width within a block, blocks, heads, heads of keys, width of a head, vocabulary."""
NAMES = ("hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads")


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoders", nargs="*", choices=ENCODERS, default=["base", "large"])
    parser.add_argument("--generators", nargs="*", choices=GENERATORS, default=["270M", "4B"])
    parser.add_argument("--batch-size", type=int, default=512, help="triplets of a step of the encoder")
    parser.add_argument("--examples", type=int, default=16, help="examples of a step of the adapter")
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--product", type=int, default=8192, help="rows and columns of the product")
    args = parser.parse_args(argv)

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    card = torch.cuda.get_device_name() if device.type == "cuda" else "CPU"
    peak = product_speed(args.product, device)
    print(f"{card}: {peak / 1e12:.1f} TFLOP/s in a bfloat16 product of {args.product} x {args.product}")
    for name in args.encoders:
        found = encoder(name, args.batch_size, args.steps)
        report(f"encoder {name}, {args.batch_size} triplets", found, peak)
    for name in args.generators:
        report(f"adapter {name}, {args.examples} examples", adapter(name, args.examples, args.steps, device), peak)


def product_speed(size: int, device: torch.device) -> float:
    """Floating-point operations in a second of a product of two random matrices: the median of ten."""
    one, other = (torch.randn(size, size, dtype=torch.bfloat16, device=device) for _ in range(2))
    seconds = []
    for _ in range(11):
        finish()
        start = time.perf_counter()
        one @ other
        finish()
        seconds.append(time.perf_counter() - start)
    return 2 * size**3 / statistics.median(seconds[1:])


Ways = dict[str, tuple[float, int]]
"""Of ours and theirs: seconds and operations of a step."""


def encoder(name: str, rows: int, steps: int) -> Ways:
    """A step of contrastive training in bfloat16, forward, backward and AdamW."""
    training = Training(pooling="mean", batch_size=rows, epochs=steps + 1, precision="bfloat16")
    texts = encoder_step.texts_of_columns(rows, ENCODERS[name]["vocabulary"] - 2)
    with tempfile.TemporaryDirectory() as scratch:
        weights = random_weights(Path(scratch, "weights"), **ENCODERS[name])
        model = loading.load(weights, pooling="mean")
        model.max_seq_length = training.max_length
        tokens = sum(int(model.preprocess(column)["attention_mask"].sum()) for column in texts.values())
        count = 6 * tokens * blocks(model[0].auto_model)
        del model
        makers = {"ours": encoder_step.ours, "theirs": encoder_step.theirs}
        return {
            kind: (statistics.median(encoder_step.step_seconds(make, weights, texts, training, Path(scratch))), count)
            for kind, make in makers.items()
        }


def adapter(name: str, examples: int, steps: int, device: torch.device) -> Ways:
    """Forward and backward of LoRA in bfloat16: the loss of completions alone, and transformers' of all positions."""
    model = generator(name, device)
    batch = {
        key: value.to(device)
        for key, value in collate(lora_step.draw_examples(examples, model.config.vocab_size)).items()
    }
    base = model.get_base_model()
    tokens, learnt = int(batch["attention_mask"].sum()), int((batch["labels"] != IGNORED).sum())
    count = 4 * (tokens * blocks(base.get_decoder()) + learnt * base.get_output_embeddings().weight.numel())
    found = {}
    for kind, loss in {"ours": completion_loss, "theirs": lora_step.default_loss}.items():
        seconds = [lora_step.step(model, loss, batch) for _ in range(steps + 1)]
        found[kind] = (statistics.median(seconds[1:]), count)
    return found


def blocks(model: nn.Module) -> int:
    """Number of weights without word embeddings."""
    return sum(weight.numel() for weight in model.parameters()) - model.get_input_embeddings().weight.numel()


def generator(name: str, device: torch.device) -> PeftModel:
    """A Gemma 3 with random weights in bfloat16 and an adapter of every linear layer."""
    *sizes, head, vocabulary = GENERATORS[name]
    config = Gemma3TextConfig(
        **dict(zip(NAMES, sizes, strict=True)), head_dim=head, vocab_size=vocabulary, dtype=torch.bfloat16
    )
    torch.manual_seed(1)
    with device:
        model = Gemma3ForCausalLM._from_config(config, dtype=torch.bfloat16)
    return lora_step.with_adapter(model)


def report(what: str, ways: Ways, peak: float) -> None:
    """A line for each way, and their ratio."""
    for kind, (seconds, count) in ways.items():
        print(f"{what}: {kind} {1000 * seconds:.1f} ms a step, {count / seconds / peak:.0%} of the card's speed")
    print(f"{what}: ours / theirs {ways['ours'][0] / ways['theirs'][0]:.2f}")


if __name__ == "__main__":
    main()

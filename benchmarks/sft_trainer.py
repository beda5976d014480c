"""An adapter of a language model: this project's trainer against trl's SFTTrainer, with the same examples and batches.

Both train the same LoRA matrices in float32, `--steps` steps of eight examples, each in a process of its own: CPU
seconds of the steps after the first, the peak of memory, the mean loss. trl is not in requirements.lock: `pip install
--no-deps --target FOLDER trl`, and FOLDER on PYTHONPATH. Its trainer, too, computes the head only where a token has a
label, and a part of these positions at a time.

    OMP_NUM_THREADS=1 python -m benchmarks.sft_trainer --base DIRECTORY
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch
from transformers import TrainerCallback, TrainingArguments

from benchmarks.lora_step import draw_examples, load
from seedbed.generators.lora.loss import IGNORED
from seedbed.generators.lora.training import CompletionTrainer

VOCABULARY = 30_000
"""Tokens that examples are drawn of; all models that are tried have more."""


class Clock(TrainerCallback):
    """CPU seconds from the end of the first step on: that one allocates."""

    began = ended = 0.0

    def on_step_end(self, args: TrainingArguments, state: object, control: object, **more: object) -> None:
        self.ended = time.process_time()
        self.began = self.began or self.ended


def trained(kind: str, base: Path | None, steps: int) -> dict[str, float]:
    """Train one adapter, and say what it took."""
    examples, clock = draw_examples(steps * 8, VOCABULARY), Clock()
    model = load(base, torch.float32)
    options = {
        "per_device_train_batch_size": 8, "max_steps": steps, "learning_rate": 1e-4, "logging_steps": 1, "seed": 1,
        "save_strategy": "no", "report_to": "none", "use_cpu": True, "disable_tqdm": True,
        "lr_scheduler_type": "constant",
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as place:
        if kind == "ours":
            trainer = CompletionTrainer(model, TrainingArguments(place, **options), examples)
        else:
            trainer = _of_trl(model, place, options, examples)
        trainer.add_callback(clock)
        trainer.train()
    losses = [one["loss"] for one in trainer.state.log_history if "loss" in one]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": clock.ended - clock.began, "MiB": memory, "loss": sum(losses) / len(losses)}


def _of_trl(model: object, place: str, options: dict, examples: list) -> object:
    """trl's trainer of the same model and examples, in batches of similar lengths too."""
    from datasets import Dataset
    from tokenizers import Tokenizer, models
    from transformers import PreTrainedTokenizerFast
    from trl import SFTConfig, SFTTrainer

    rows = [
        {"input_ids": one.prompt + one.completion, "labels": [IGNORED] * len(one.prompt) + one.completion}
        for one in examples
    ]
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(models.WordLevel({"<pad>": 0, "</s>": 1}, unk_token="<pad>")),
        pad_token="<pad>",
        eos_token="</s>",
    )
    arguments = SFTConfig(
        place, **options, max_length=None, gradient_checkpointing=False, bf16=False,
        train_sampling_strategy="group_by_length", dataset_kwargs={"skip_prepare_dataset": True},
        remove_unused_columns=False,
    )  # fmt: skip
    return SFTTrainer(model, arguments, train_dataset=Dataset.from_list(rows), processing_class=tokenizer)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--base", type=Path, help="directory of a language model; left out: a tiny one with random weights"
    )
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--only", choices=["ours", "trl"], help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.only:
        return print(json.dumps(trained(args.only, args.base, args.steps)))
    base = ["--base", str(args.base)] if args.base else []
    for kind in ("ours", "trl"):
        command = [sys.executable, "-m", "benchmarks.sft_trainer", "--only", kind, "--steps", str(args.steps), *base]
        found = json.loads(
            subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()[-1]
        )
        print(f"{kind}: {found['seconds']:.1f} CPU s, peak {found['MiB']:,.0f} MiB, mean loss {found['loss']:.4f}")


if __name__ == "__main__":
    main()

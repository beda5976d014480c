"""What benchmarks share: random models and texts, and seconds of ways that take turns."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

SMALL = {"width": 64, "heads": 4, "vocabulary": 5000}
"""A backbone for what does not depend on its size."""
WIDE = SMALL | {"width": 384, "heads": 12}
"""Blocks of a real size."""
MULTILINGUAL = WIDE | {"vocabulary": 250_002}
"""The shape of mE5-small."""


def random_weights(directory: Path, *, width: int, heads: int, vocabulary: int, blocks: int = 12) -> Path:
    """A BERT with random weights, and a tokenizer whose words are w0, w1, ..."""
    torch.manual_seed(1)
    shape = {"hidden_size": width, "num_hidden_layers": blocks, "num_attention_heads": heads}
    config = BertConfig(vocab_size=vocabulary, intermediate_size=4 * width, **shape)
    BertModel(config, add_pooling_layer=False).save_pretrained(directory)
    special = ["[PAD]", "[UNK]"]
    words = special + [f"w{number}" for number in range(vocabulary - len(special))]
    tokenizer = Tokenizer(models.WordLevel({word: place for place, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]").save_pretrained(directory)
    return directory


def random_texts(rows: int, seed: int = 0, *, lengths: tuple[int, int] = (4, 40), words: int = 4998) -> list[str]:
    """Texts of so many words, the first and the last number included, out of so many known ones."""
    random = np.random.default_rng(seed)
    counts = random.integers(lengths[0], lengths[1] + 1, rows)
    return [" ".join(f"w{word}" for word in random.integers(words, size=count)) for count in counts]


def least_seconds(runs: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Seconds of the CPU that each way takes: the least of some rounds in which they take turns."""
    least = dict.fromkeys(runs, np.inf)
    for _ in range(rounds):
        for name, run in runs.items():
            start = time.process_time()
            run()
            least[name] = min(least[name], time.process_time() - start)
    return least


def finish() -> None:
    """Wait for the GPU, if there is one."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def memory(name: str) -> float:
    """MiB of this process: VmRSS now, VmHWM at its peak (`resource` counts what its parent had, too)."""
    return int(re.search(rf"{name}:\s+(\d+)", Path("/proc/self/status").read_text())[1]) / 2**10

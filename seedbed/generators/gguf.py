"""A quantised GGUF file becomes a directory of bfloat16 safetensors that transformers loads and trains."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from pathlib import Path

import gguf
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

from seedbed.weights import LOCAL


def convert(file: Path, output: Path) -> None:
    """Dequantise a GGUF model and its tokenizer into `output`.

    transformers must be told to dequantise: a model it merely loaded from GGUF refuses to be saved.
    """
    where = {"pretrained_model_name_or_path": str(file.parent), "gguf_file": file.name}
    with _read_once():
        options = {"dtype": torch.float32, "quantization_config": GgufConfig(dequantize=True)}
        model = AutoModelForCausalLM.from_pretrained(**where, **LOCAL, **options)
        model.to(torch.bfloat16).save_pretrained(output)
        AutoTokenizer.from_pretrained(**where, **LOCAL).save_pretrained(output)


@contextlib.contextmanager
def _read_once() -> Iterator[None]:
    """transformers opens the file for configuration, weights and tokenizer, 17 s each time: keep the first."""
    reader = gguf.GGUFReader
    gguf.GGUFReader = functools.cache(reader)
    try:
        yield
    finally:
        gguf.GGUFReader = reader

"""A quantised GGUF file becomes a directory of bfloat16 safetensors that transformers loads and trains."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from pathlib import Path

import gguf
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

from seedbed.io import UserError
from seedbed.weights import LOCAL


def convert(file: Path, output: Path) -> None:
    """Dequantise a GGUF model and its tokenizer into `output`.

    transformers cannot save a model that it has loaded from GGUF without dequantising.

    Raises:
        UserError: the file lacks a tensor of its architecture, which transformers would initialise at random.
    """
    where = {"pretrained_model_name_or_path": str(file.parent), "gguf_file": file.name}
    with _read_once():
        options = {"dtype": torch.float32, "quantization_config": GgufConfig(dequantize=True)}
        model, report = AutoModelForCausalLM.from_pretrained(**where, **LOCAL, **options, output_loading_info=True)
        if missing := sorted(report["missing_keys"]):
            raise UserError(f"{file}: has no {missing[0]}; take a GGUF file with all tensors of its architecture")
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
